"""Studies on MNIST: what depth, operators, relaxations and precision do, all else being equal.

In: the images. Out: records of validation accuracy, a tenth of the training images; the test images are not touched.
Every network of a study takes the same number of steps of the paper's recipe.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from experiments.data import Dataset
from gatewise import Encoder, nn
from gatewise.gates import AND, NAND, NOR, NOT_A, OR, XNOR, XOR, A
from gatewise.nn import relaxation
from gatewise.train import Bits, Classification, Recipe, fit, split

TASK = Classification(10)
TAU_AT = (10.0, 8000)  # the paper's temperature of its small network, and its width
EPOCHS = {"depth": 10, "operators": 3, "precision": 3, "fixed": 12}
DEPTH_WIDTH = 2000
WIDTHS = (250, 500, 1000)
N_LAYERS = 4
BATCH_SIZE = 100


@dataclass(frozen=True)
class Case:
    """One network of a study: the curve that it belongs to, its size, and its options."""

    label: str
    widths: list[int]
    options: dict[str, Any] = field(default_factory=dict)
    dtype: torch.dtype = torch.float32

    @property
    def tau(self) -> float:
        """Proportional to the square root of the outputs, as the sum of so many random bits spreads."""
        return TAU_AT[0] * (self.widths[-1] / TAU_AT[1]) ** 0.5


def depth_cases() -> Iterator[Case]:
    """From 2 to 10 layers, from normal and from residual weights."""
    for n_layers in range(2, 11):
        widths = [DEPTH_WIDTH] * n_layers
        yield Case("normal", widths)
        yield Case("residual", widths, {"parametrization": nn.Softmax(initialization=nn.Residual())})


def operator_cases() -> Iterator[Case]:
    """All operators, some of them, other parametrizations, and every family of T-norms."""
    variants: dict[str, dict[str, Any]] = {
        "all 16": {},
        "and nand or nor": {"parametrization": nn.Softmax((AND, NAND, OR, NOR))},
        "and or xor xnor": {"parametrization": nn.Softmax((AND, OR, XOR, XNOR))},
        "and xor a not-a": {"parametrization": nn.Softmax((AND, XOR, A, NOT_A))},
        "light": {"parametrization": nn.Light()},
    }
    families = ("Minimum", "Einstein", "Hamacher", "Frank", "Yager", "AczelAlsina", "Dombi", "SchweizerSklar")
    variants |= {name: {"relaxation": getattr(relaxation, name)()} for name in families}
    for label, options in variants.items():
        for width in WIDTHS:
            yield Case(label, [width] * N_LAYERS, options)


def precision_cases() -> Iterator[Case]:
    """Weights and activations in 32 and in 16 bits."""
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        for width in WIDTHS:
            yield Case(str(dtype).removeprefix("torch."), [width] * N_LAYERS, dtype=dtype)


STUDIES = {"depth": depth_cases, "operators": operator_cases, "precision": precision_cases}


def run_case(case: Case, data: Dataset, *, seed: int, epochs: int) -> dict[str, Any]:
    """Train, and score the circuit on the images held out."""
    assert data.shape is not None
    bits = Bits(Encoder.images(data.shape, 1).encode_rows(data.X), data.y)
    training, validation = split(bits, 0.1, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    net = TASK.network(bits.n_features, case.widths, tau=case.tau, seed=seed, generator=generator, **case.options)
    recipe = Recipe(epochs=epochs, seed=seed, evaluate_every=epochs)
    if case.dtype == torch.float32:
        last = fit(net, TASK, training, validation=validation, recipe=recipe).history[-1]
        scores = {"accuracy": 100 * last.score, "soft_accuracy": 100 * last.soft_score, "seconds": last.seconds}
    else:
        scores = _train_in(case.dtype, net, training, validation, epochs)
    return {"label": case.label, "widths": case.widths, "seed": seed, "epochs": epochs} | scores


def _train_in(
    dtype: torch.dtype, net: torch.nn.Module, training: Bits, validation: Bits, epochs: int
) -> dict[str, Any]:
    """The paper's steps by torch, with weights, activations and moments of another precision."""
    net = net.to(dtype).train()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01, eps=1e-8 if dtype == torch.bfloat16 else 1e-4)
    start = time.perf_counter()
    for epoch in range(epochs):
        order = torch.randperm(len(training), generator=torch.Generator().manual_seed(epoch))
        for batch in order.split(BATCH_SIZE):
            x, y = training.read(batch.numpy()), torch.from_numpy(training.targets[batch.numpy()])
            loss = cross_entropy(net(x.to(dtype)).float(), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    seconds = time.perf_counter() - start
    scores = [_score(part, validation, dtype) for part in (net.eval(), net.train())]
    return {"accuracy": scores[0], "soft_accuracy": scores[1], "seconds": seconds}


def _score(net: torch.nn.Module, data: Bits, dtype: torch.dtype) -> float:
    """Percent of the rows that are right."""
    with torch.no_grad():
        parts = data.read(np.arange(len(data))).to(dtype).split(1000)
        predicted: Tensor = torch.cat([net(part).argmax(1) for part in parts])
    return 100 * float((predicted.numpy() == data.targets).mean())
