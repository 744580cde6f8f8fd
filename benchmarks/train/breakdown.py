"""Where a native training step of gatewise spends its time.

In: a network, its `TrainStep` and a batch. Out: milliseconds of the parts, which add up to the step.
Every part is a native call of its own, timed alone; gathering is what the gates take longer with the network's wiring
than with one that reads rows in order, and the optimizer is what is left of the native step.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from gatewise import _native, nn
from gatewise.nn.kernels.native import current_pool
from gatewise.run.timing import time_call


def explain(net: nn.LogicNetwork, step: nn.TrainStep, x: torch.Tensor, y: torch.Tensor) -> dict[str, float]:
    """Milliseconds per step of every part."""
    layers: list[Any] = list(net)[:-1]
    head: Any = net[-1]
    pool, rows = current_pool(), x.numpy()
    whole = _time(lambda: step(x, y))
    scale = 1 / head.temperature(layers[-1].out_features)
    adam = (step.learning_rate, *step.betas, step.eps, step.n_steps + 1)
    steps: Any = step._steps
    twin = steps._twin([layer.weight for layer in layers])
    options: dict[str, Any] = {"logits": None, "temperature": 1.0, "hard": False, "adam": adam, "pool": pool}

    def take_step() -> None:
        twin.run(rows, _native.Loss.cross_entropy(y.numpy(), 0.0, head=(scale, head.beta), weight=None), **options)

    native = _time(take_step)
    coefficients = np.empty((sum(layer.out_features for layer in layers), 4), np.float32)
    logits = [layer.weight.detach().numpy() for layer in layers]
    operators = np.array(layers[0].parametrization.operators, np.uint8)
    mix = _time(lambda: _native.mix(logits, operators, 1.0, False, coefficients, pool))
    grad_y, grads = np.full((len(x), head.groups), 1e-3, np.float32), np.empty_like(coefficients)

    def time_gates(wiring: list[tuple[np.ndarray, np.ndarray]]) -> float:
        stack = _native.RelaxedStack(layers[0].in_features, [(a, b, len(a)) for a, b in wiring], head.groups)
        return _time(lambda: stack.backward(rows, coefficients, grad_y, grads, None, pool))

    gates = time_gates([(layer.a.numpy(), layer.b.numpy()) for layer in layers])
    in_order = time_gates([_in_order(layer) for layer in layers])
    return {
        "softmax and coefficients": mix,
        "gates, forward and backward: arithmetic": in_order,
        "gates, forward and backward: gathering operands": gates - in_order,
        "gradients of logits and Adam": native - mix - gates,
        "Python": whole - native,
    }


def _in_order(layer: nn.LogicLayer) -> tuple[np.ndarray, np.ndarray]:
    """A wiring of the layer's size whose gates read neighboring rows, one after the other."""
    a = np.arange(layer.out_features, dtype=np.int32) % layer.in_features
    return a, (a + 1) % layer.in_features


def _time(call: Callable[[], object]) -> float:
    """Median milliseconds."""
    return 1e3 * time_call(call, seconds=1.0).median
