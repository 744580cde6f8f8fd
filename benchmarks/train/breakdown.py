"""Where a native training step of gatewise spends its time.

In: a network, its `TrainStep` and a batch. Out: milliseconds of the parts, which add up to the step.
Every part is a native call of its own, timed alone; gathering is what the gates take longer with the network's wiring
than with one that reads rows in order, and the optimizer is what is left of the native step.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np
import torch

from gatewise import _native, nn
from gatewise.nn.functional import current_pool

SECONDS = 1.0
MIN_CALLS = 5


def explain(net: nn.LogicNetwork, step: nn.TrainStep, x: torch.Tensor, y: torch.Tensor) -> dict[str, float]:
    """Milliseconds a step of every part."""
    *layers, head = net
    pool, rows = current_pool(), x.numpy()
    whole = _time(lambda: step(x, y))
    scale = 1 / head.temperature(layers[-1].out_features)
    adam = (step.lr, *step.betas, step.eps, step.n_steps + 1)
    arguments = (rows, y.numpy(), None, 0.0, (scale, head.beta), None, 1.0, False, adam, pool)
    run = step._native_step([layer.weight for layer in layers]).run_classes
    native = _time(lambda: run(*arguments))
    coefficients = np.empty((sum(layer.out_features for layer in layers), 4), np.float32)
    logits = [layer.weight.detach().numpy() for layer in layers]
    operators = np.array(layers[0].parametrization.operators, np.uint8)
    mix = _time(lambda: _native.mix(logits, operators, 1.0, False, coefficients, pool))
    grad_y, grads = np.full((len(x), head.groups), 1e-3, np.float32), np.empty_like(coefficients)

    def time_gates(wiring: list[tuple[np.ndarray, np.ndarray]]) -> float:
        stack = _native.RelaxedStack(net[0].in_features, wiring, head.groups)
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
    laps: list[float] = []
    start = time.perf_counter()
    while len(laps) < MIN_CALLS or time.perf_counter() - start < SECONDS:
        lap = time.perf_counter()
        call()
        laps.append(time.perf_counter() - lap)
    return 1e3 * statistics.median(laps)
