"""The bytes that kernels request, counted by the interpreter: those of the formulas that estimates are made of."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from support.processes import call_interpreted
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")
require_module("triton", "pip install -c constraints.txt triton==3.7.1")

import torch
from support.networks import seeded

from benchmarks.train import traffic

N_ROWS, WIDTHS = 144, [64] * 3  # two tiles, the second of which is ragged


@contextmanager
def count_bytes() -> Iterator[list[int]]:
    """A list that gets the bytes of every load and store."""
    from triton.runtime import interpreter

    builder, found = interpreter.interpreter_builder, []
    load, store = builder.create_masked_load, builder.create_masked_store

    def count_load(pointers: Any, mask: Any, *rest: Any) -> Any:
        value = load(pointers, mask, *rest)
        found.append(int(mask.data.sum()) * value.data.itemsize)
        return value

    def count_store(pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        found.append(int(mask.data.sum()) * value.data.itemsize)
        return store(pointers, value, mask, *rest)

    with mock.patch.multiple(builder, create_masked_load=count_load, create_masked_store=count_store):
        yield found


def count_step() -> tuple[int, int]:
    """What the kernels of layers request in a step of a network that is as wide as its input, and those of mixtures."""
    from gatewise.nn.kernels.triton import layers, mixtures, plan

    a, b = ([torch.randperm(64, generator=seeded(i + shift)).int() for i in range(3)] for shift in (0, 3))
    logits, moments = ([torch.zeros(16, 64) for _ in WIDTHS] for _ in range(2))
    mixture = mixtures.Mixture(logits, range(16), torch.ones((), dtype=torch.float64))
    adam = mixtures.Adam(logits, moments, [z.clone() for z in moments], torch.ones(2).double(), (0.9, 0.999), 1e-8)
    with count_bytes() as of_mixtures:
        coefficients, _ = mixtures.mix(mixture, hard=False)
    plans = plan.plan_layers(64, a, b)
    with count_bytes() as of_layers:
        kept = layers.forward(plans, plan.fill_rows(torch.rand(N_ROWS, 64), torch.float32), coefficients)
        grad = torch.ones_like(kept[-1])
        parts, _ = layers.backward(plans, kept, coefficients, grad, grad_factors=[1.0] * 3, needs_x=False)
    with count_bytes() as of_adam:
        mixtures.update(mixture, parts, adam)
    return sum(of_layers), sum(of_mixtures) + sum(of_adam)


def test_kernels_request_what_the_formulas_say() -> None:
    of_layers, of_mixtures = call_interpreted(count_step)
    assert of_layers == traffic.count_layers(WIDTHS, rows=N_ROWS)
    # Tables of operators and of addresses are read once for many gates.
    expected = traffic.count_mixtures(WIDTHS, rows=N_ROWS)
    assert expected <= of_mixtures < 1.1 * expected


def test_a_gate_requests_at_most_44_bytes_for_a_row() -> None:
    deep = [traffic.count_layers([1] * n, rows=128) for n in (100, 101)]
    assert (deep[1] - deep[0]) / 128 <= 44
    assert deep[0] / (100 * 128) <= 44
