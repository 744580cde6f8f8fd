"""Networks that the default compiler of torch compiles: trained in a process of their own."""

import copy
import os
from collections.abc import Callable

import torch
from support.networks import seeded
from torch import Tensor, nn

from gatewise.nn import HardStraightThrough, logic_network


def take_steps(net: nn.Module, forward: Callable[[Tensor], Tensor], x: Tensor) -> list[Tensor]:
    """Outputs of three steps, and all weights and buffers after them."""
    outputs = []
    for _ in range(3):
        y = forward(x)
        outputs.append(y.detach().clone())
        y.square().sum().backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= 3.0 * p.grad
        net.zero_grad()
    return [*outputs, *net.state_dict().values()]


def train_compiled(cache: str) -> tuple[list[object], list[object]]:
    """What `take_steps` gives with and without the compiler, which writes its code to `cache`, as lists of numbers."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
    net = logic_network(12, [20, 18], 3, seed=0, sampling=HardStraightThrough())
    twin = copy.deepcopy(net)
    x = torch.rand(10, 12, generator=seeded()) > 0.5
    compiled = take_steps(net, torch.compile(net, fullgraph=True), x)
    return [y.tolist() for y in compiled], [y.tolist() for y in take_steps(twin, twin, x)]
