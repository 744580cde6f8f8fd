"""Values of the kernels against plain torch in float64, on any device that runs them: in tests, and on users' GPUs.

In: a device. Out: how far each value is from the exact one, relative to the largest of its tensor. Rows are of ragged
numbers, gates read one wire twice, wires have no reader or many, and logits are tied.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from gatewise.nn import functional
from gatewise.nn.kernels.triton import autograd, mixtures, passes
from gatewise.nn.learned import LearnedLayer
from gatewise.nn.native_steps import make_moments
from gatewise.nn.parametrization import NO_CONSTANTS, Softmax
from gatewise.nn.sampling import Bitwise
from gatewise.wiring import RandomCandidates

TOLERANCE = 2e-5  # float32 sums of some hundred terms
N_ROWS = 1, 16, 37, 130  # below, on and off the multiple that is filled up to; more than a tile
OPERATORS = 0, 2, 6, 7, 13  # some of them with operands that cannot be swapped
GRAD_FACTORS = [1.0, 1.5]
N_FEATURES, WIDTHS, GROUPS = 4, [11, 6], 2

Check = Callable[[torch.device], Iterator[float]]


class Case(NamedTuple):
    """Rows, logits, wires and the gradient of the sums, in float32 on the CPU."""

    x: Tensor
    logits: list[Tensor]
    wires: tuple[list[Tensor], list[Tensor]]
    grad: Tensor

    def to(self, device: torch.device) -> "Case":
        """The same on a device."""
        a, b = ([each.to(device) for each in wires] for wires in self.wires)
        return Case(self.x.to(device), [z.to(device) for z in self.logits], (a, b), self.grad.to(device))


def make_case(n_rows: int) -> Case:
    """A network whose gate 0 reads one wire twice, gates 1 to 4 the same wire, and where nothing reads wire 3.

    Examples
    --------
    >>> make_case(5).x.shape
    torch.Size([5, 4])
    """
    generator = torch.Generator().manual_seed(n_rows)
    shapes = list(zip((3, WIDTHS[0]), WIDTHS, strict=True))  # nothing reads the last input
    wires = [[torch.randint(n, (m,), generator=generator, dtype=torch.int32) for n, m in shapes] for _ in "ab"]
    wires[0][0][:5] = 1
    wires[1][0][0] = 1
    logits = [torch.randn(len(OPERATORS), width, generator=generator) for width in WIDTHS]
    logits[0][:, 0] = 0.5  # all are tied
    logits[1][1:3, 1] = 3.0
    x = torch.rand(n_rows, N_FEATURES, generator=generator)
    return Case(x, logits, (wires[0], wires[1]), torch.randn(n_rows, GROUPS, generator=generator))


def check_soft_layers(device: torch.device) -> Iterator[float]:
    """Sums of mixed gates, and the gradients of rows and logits."""
    for n_rows in N_ROWS:
        yield from _compare_layers(make_case(n_rows), device, hard=False)


def check_hard_layers(device: torch.device) -> Iterator[float]:
    """The same where forward takes the most probable gate of 0 and 1: values must be exact."""
    case = make_case(37)
    case = case._replace(x=case.x.round())
    sums, *grads = _compare_layers(case, device, hard=True)
    yield 1.0 if sums else 0.0
    yield from grads


def check_adam(device: torch.device) -> Iterator[float]:
    """Three steps of Adam with the gradients of mixtures."""
    case = make_case(16)
    weights = [z.to(device) for z in case.logits]
    exact = [z.double().requires_grad_() for z in case.logits]
    optimizer = torch.optim.Adam(exact, lr=0.1, betas=(0.8, 0.9), eps=1e-4)
    first, second = ([torch.zeros_like(z) for z in weights] for _ in range(2))
    temperature = torch.tensor(0.7, dtype=torch.float64, device=device)
    for step in range(1, 4):
        parts = torch.randn(3, sum(WIDTHS), 4, generator=torch.Generator().manual_seed(step))
        rates = torch.tensor([0.1 / (1 - 0.8**step), (1 - 0.9**step) ** 0.5], dtype=torch.float64)
        adam = mixtures.Adam(weights, first, second, rates.to(device), (0.8, 0.9), 1e-4)
        mixtures.update(mixtures.Mixture(weights, OPERATORS, temperature), parts.to(device), adam)
        mixed = torch.cat([functional.mix_gates(z, OPERATORS, 0.7) for z in exact])
        for z, grad in zip(exact, torch.autograd.grad(mixed, exact, parts.double().sum(0)), strict=True):
            z.grad = grad
        optimizer.step()
        yield from (deviate(*pair) for pair in zip(weights, exact, strict=True))


def check_bits(device: torch.device) -> Iterator[float]:
    """Counts of learned layers on packed bits, which must be exact, and gates and pins after a step."""
    sampling = Bitwise(2.0)
    options: dict[str, Any] = {"candidates": RandomCandidates(3), "sampling": sampling, "seed": 0, "grad_factor": 1.5}
    options["parametrization"] = Softmax(NO_CONSTANTS)
    net = torch.nn.Sequential(LearnedLayer(6, 9, **options), LearnedLayer(9, 6, position=1, **options))
    exact = copy.deepcopy(net).double()
    net.to(device)
    bits = torch.rand(37, 6, generator=torch.Generator().manual_seed(0)) > 0.5
    grad = torch.randn(37, GROUPS, generator=torch.Generator().manual_seed(1))
    counts: list[Tensor] = []

    def differentiate(sums: Tensor) -> Tensor:
        counts.append(sums)
        padded = torch.zeros_like(sums)
        padded[:, : len(grad)] = grad.T.to(device)
        return padded

    settings = passes.AdamSettings((0.9, 0.999), 1e-2)
    learned = cast(Sequence[LearnedLayer], list(net))
    step = passes.BitPass(learned, GROUPS, make_moments(learned), adam=settings)
    values = step.make_values(len(bits))
    step.fill(values, bits.to(device))
    step.step(values, differentiate, torch.tensor([1.0, 0.001**0.5], dtype=torch.float64, device=device))
    y = exact(bits.double()).unflatten(1, (GROUPS, -1)).sum(-1)
    yield 1.0 if deviate(counts[0][:, : len(bits)].T, y) else 0.0
    optimizer = torch.optim.Adam(exact.parameters(), lr=0.1, eps=1e-2)
    y.backward(grad.double())
    optimizer.step()
    yield from (deviate(*pair) for pair in zip(net.parameters(), exact.parameters(), strict=True))


CHECKS: dict[str, Check] = {
    "layers of mixtures": check_soft_layers,
    "layers of chosen gates": check_hard_layers,
    "steps of Adam": check_adam,
    "steps on bits": check_bits,
}


def run_checks(device: torch.device | str) -> dict[str, float]:
    """The largest deviation of each check on a device, which should be below TOLERANCE.

    Parameters
    ----------
    device : torch.device or str
        CUDA, or the CPU under Triton's interpreter.
    """
    return {name: max(check(torch.device(device))) for name, check in CHECKS.items()}


def deviate(found: Tensor, exact: Tensor) -> float:
    """The largest difference, relative to the largest exact value; infinite for NaN.

    Examples
    --------
    >>> deviate(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]))
    0.2
    """
    exact = exact.detach()
    error = float((found.detach().cpu().double() - exact).abs().max() / exact.abs().max())
    return error if error == error else float("inf")


def _compare_layers(case: Case, device: torch.device, *, hard: bool) -> Iterator[float]:
    """Deviations of the sums, the largest probability, and the gradients of rows and logits."""
    wiring = list(zip(*case.wires, strict=True))
    exact = [each.double().requires_grad_() for each in (case.x, *case.logits)]
    mixed = torch.cat([functional.mix_gates(z, OPERATORS, 0.7, hard=hard) for z in exact[1:]])
    y = functional.evaluate_layers(exact[0], mixed, wiring, groups=GROUPS, grad_factors=GRAD_FACTORS)
    largest = torch.cat([z.softmax(0).amax(0) for z in exact[1:]]).mean()
    expected = y, largest, *torch.autograd.grad(y, exact, case.grad.double())
    yield from (deviate(*pair) for pair in zip(_run_layers(case.to(device), hard), expected, strict=True))


def _run_layers(case: Case, hard: bool) -> Sequence[Tensor]:
    given = [each.requires_grad_() for each in (case.x, *case.logits)]
    coefficients, largest = autograd.MixLayers.apply(OPERATORS, 0.7, hard, *given[1:])
    y = autograd.RunLayers.apply(case.x, coefficients, case.wires, GROUPS, tuple(GRAD_FACTORS))
    return y, largest, *torch.autograd.grad(y, given, case.grad)
