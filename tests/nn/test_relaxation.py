"""Relaxations: gates on the corners, the axioms of T-norms, the paper's formulas, finite values and gradients."""

import gc
import math
from collections.abc import Callable

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from support.tools import require_module

from gatewise import gates

torch = require_module("torch", "pip install -c constraints.txt torch")

from gatewise.nn.relaxation import (
    AczelAlsina,
    Dombi,
    Einstein,
    Family,
    Frank,
    Hamacher,
    Minimum,
    Probabilistic,
    Relaxation,
    SchweizerSklar,
    Yager,
)

FAMILIES = [Hamacher, Frank, Yager, AczelAlsina, Dombi, SchweizerSklar]
DEFAULTS = [Minimum(), Probabilistic(), Einstein(), *(family() for family in FAMILIES)]
VARIED = [
    *DEFAULTS,
    *(Hamacher(p) for p in (0.5, 1, 2, 10)),
    *(Frank(p) for p in (0.01, 0.99, 1, 1.01, 2, 1000)),
    *(family(p) for family in (Yager, AczelAlsina, Dombi) for p in (0.5, 1, 5)),
    *(SchweizerSklar(p) for p in (-10, -1, -0.01, 0, 0.01, 0.5, 1)),
]
EXTREME = [family(bound) for family in FAMILIES for bound in family.bounds]
EVERYWHERE = [*VARIED, *EXTREME, Frank(1 + 1e-15), SchweizerSklar(1e-15), SchweizerSklar(5e-324)]

every_varied = pytest.mark.parametrize("relaxation", VARIED, ids=repr)
everywhere = pytest.mark.parametrize("relaxation", EVERYWHERE, ids=repr)
unit = st.floats(0, 1)
points = st.lists(st.tuples(unit, unit, unit, unit), min_size=1, max_size=20).map(
    lambda rows: torch.tensor(rows, dtype=torch.float64).T
)


def pairs(values: list[float], dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Both operands of all pairs of `values`, ready for gradients."""
    axis = torch.tensor(values, dtype=dtype)
    grid = torch.cartesian_prod(axis, axis)
    return grid[:, 0].clone().requires_grad_(), grid[:, 1].clone().requires_grad_()


def closed_grid(dtype: torch.dtype) -> list[float]:
    """Values on, next to and between the ends of [0, 1]."""
    info = torch.finfo(dtype)
    small = [info.smallest_normal * info.eps, info.tiny, math.sqrt(info.tiny), info.eps]
    return [0, *small, 0.01, 0.25, 0.5, 0.75, 0.99, 1 - info.eps, 1 - info.eps / 2, 1]


def scalar(norm: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], a: float, b: float) -> float:
    return norm(torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64)).item()


@everywhere
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_corners_are_the_gates(relaxation: Relaxation, dtype: torch.dtype) -> None:
    a, b = pairs([0, 1], dtype)
    relaxed = relaxation.gates(a, b)
    assert relaxed.dtype == dtype
    bits = np.array([(0, 0), (0, 1), (1, 0), (1, 1)])
    exact = gates.evaluate(np.arange(16), bits[:, :1], bits[:, 1:])
    assert (relaxed.detach().double().numpy() == exact).all()


@everywhere
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_values_and_gradients_are_finite_on_the_closed_square(relaxation: Relaxation, dtype: torch.dtype) -> None:
    a, b = pairs(closed_grid(dtype), dtype)
    norm = relaxation.and_(a, b)
    assert ((norm >= 0) & (norm <= 1)).all()
    relaxed = relaxation.gates(a, b)
    assert (relaxed >= -2 * torch.finfo(dtype).eps).all()
    assert (relaxed <= 1 + 2 * torch.finfo(dtype).eps).all()
    for gate in range(gates.N_GATES):
        for gradient in torch.autograd.grad(relaxed[:, gate].sum(), (a, b), retain_graph=True, materialize_grads=True):
            assert gradient.isfinite().all(), gates.NAMES[gate]


@everywhere
def test_single_precision_agrees_with_double(relaxation: Relaxation) -> None:
    a, b = pairs(closed_grid(torch.float32), torch.float32)
    torch.testing.assert_close(
        relaxation.and_(a, b).double(), relaxation.and_(a.double(), b.double()), rtol=0, atol=1e-5
    )


@everywhere
@settings(max_examples=15)
@given(points)
def test_commutative_monotone_neutral(relaxation: Relaxation, points: torch.Tensor) -> None:
    a, b, c, d = points
    for norm, neutral in ((relaxation.and_, torch.ones_like(a)), (relaxation.or_, torch.zeros_like(a))):
        value = norm(a, b)
        assert ((value >= -1e-15) & (value <= 1 + 1e-15)).all()
        torch.testing.assert_close(norm(b, a), value, rtol=0, atol=1e-14)
        assert (norm(torch.minimum(a, c), torch.minimum(b, d)) <= value + 1e-13).all()
        torch.testing.assert_close(norm(a, neutral), a, rtol=0, atol=1e-15)
    assert torch.equal(relaxation.and_(a, torch.ones_like(a)), a)
    assert (relaxation.and_(a, torch.zeros_like(a)) == 0).all()


@every_varied
@settings(max_examples=15)
@given(points)
def test_associative(relaxation: Relaxation, points: torch.Tensor) -> None:
    a, b, c, _ = points
    # Below p = 1 some slopes are unbounded at the edge, and turn a rounding error e into e^p.
    steep = isinstance(relaxation, Yager | AczelAlsina | Dombi) and relaxation.p < 1
    for norm in (relaxation.and_, relaxation.or_):
        torch.testing.assert_close(norm(norm(a, b), c), norm(a, norm(b, c)), rtol=0, atol=1e-6 if steep else 1e-12)


# The paper's tables of T-norms and T-conorms.
PAPER = {
    "Minimum": (lambda a, b, p: min(a, b), lambda a, b, p: max(a, b)),
    "Probabilistic": (lambda a, b, p: a * b, lambda a, b, p: a + b - a * b),
    "Einstein": (lambda a, b, p: a * b / (2 - a - b + a * b), lambda a, b, p: (a + b) / (1 + a * b)),
    "Hamacher": (
        lambda a, b, p: a * b / (p + (1 - p) * (a + b - a * b)),
        lambda a, b, p: (a + b + (p - 2) * a * b) / (1 + (p - 1) * a * b),
    ),
    "Frank": (
        lambda a, b, p: math.log(1 + (p**a - 1) * (p**b - 1) / (p - 1), p),
        lambda a, b, p: 1 - math.log(1 + (p ** (1 - a) - 1) * (p ** (1 - b) - 1) / (p - 1), p),
    ),
    "Yager": (
        lambda a, b, p: max(0, 1 - ((1 - a) ** p + (1 - b) ** p) ** (1 / p)),
        lambda a, b, p: min(1, (a**p + b**p) ** (1 / p)),
    ),
    "AczelAlsina": (
        lambda a, b, p: math.exp(-((abs(math.log(a)) ** p + abs(math.log(b)) ** p) ** (1 / p))),
        lambda a, b, p: 1 - math.exp(-((abs(math.log(1 - a)) ** p + abs(math.log(1 - b)) ** p) ** (1 / p))),
    ),
    "Dombi": (
        lambda a, b, p: 1 / (1 + (((1 - a) / a) ** p + ((1 - b) / b) ** p) ** (1 / p)),
        # Printed with p for the two -p, which is not the dual: 0 would not be neutral.
        lambda a, b, p: 1 / (1 + (((1 - a) / a) ** -p + ((1 - b) / b) ** -p) ** (-1 / p)),
    ),
    "SchweizerSklar": (  # with the maximum that p > 0 needs
        lambda a, b, p: max(0, a**p + b**p - 1) ** (1 / p),
        lambda a, b, p: 1 - max(0, (1 - a) ** p + (1 - b) ** p - 1) ** (1 / p),
    ),
}


@every_varied
def test_values_are_the_papers(relaxation: Relaxation) -> None:
    p = getattr(relaxation, "p", None)
    name = type(relaxation).__name__
    if (name, p) in {("Frank", 1), ("SchweizerSklar", 0)}:  # limits that the printed formulas do not reach
        name = "Probabilistic"
    norm, conorm = PAPER[name]
    for a in (0.03, 0.2, 0.5, 0.7, 0.96):
        for b in (0.01, 0.4, 0.5, 0.8, 0.99):
            assert scalar(relaxation.and_, a, b) == pytest.approx(norm(a, b, p), abs=1e-12)
            assert scalar(relaxation.or_, a, b) == pytest.approx(conorm(a, b, p), abs=1e-12)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Hamacher(1), Probabilistic()),
        (Hamacher(2), Einstein()),
        (Frank(1), Probabilistic()),
        (Frank(1 + 1e-12), Probabilistic()),
        (Frank(1 - 1e-12), Probabilistic()),
        (AczelAlsina(1), Probabilistic()),
        (SchweizerSklar(0), Probabilistic()),
        (SchweizerSklar(1e-12), Probabilistic()),
        (SchweizerSklar(-1e-12), Probabilistic()),
        (Dombi(1), Hamacher(0)),
        (SchweizerSklar(-1), Hamacher(0)),
        (SchweizerSklar(1), Yager(1)),
    ],
    ids=repr,
)
def test_families_meet(one: Relaxation, other: Relaxation) -> None:
    """Two formulas of one T-norm agree in value and gradient, on the edge too; at (0, 0) slopes may jump."""
    a, b = pairs([0, 0.15, 0.4, 0.7, 0.95, 1], torch.float64)
    results = []
    for relaxation in (one, other):
        value = relaxation.and_(a, b)
        results.append(torch.stack([value, *torch.autograd.grad(value.sum(), (a, b))])[:, 1:])
    torch.testing.assert_close(*results, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "relaxation", [Yager(1000), AczelAlsina(1000), Dombi(1000), SchweizerSklar(-1000), Frank(1e-30)], ids=repr
)
def test_families_tend_to_the_minimum(relaxation: Relaxation) -> None:
    a, b = pairs(closed_grid(torch.float64), torch.float64)
    torch.testing.assert_close(relaxation.and_(a, b), torch.minimum(a, b), rtol=0, atol=0.02)


@every_varied
def test_gradients_of_all_gates(relaxation: Relaxation) -> None:
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.rand(5, dtype=torch.float64, generator=generator) * 0.8 + 0.1 for _ in range(2))
    assert torch.autograd.gradcheck(relaxation.gates, (a.requires_grad_(), b.requires_grad_()))


@every_varied
def test_gates_follow_from_the_triplet(relaxation: Relaxation) -> None:
    a, b = pairs([0.1, 0.35, 0.5, 0.8], torch.float64)
    value = dict(zip(gates.NAMES, relaxation.gates(a, b).unbind(-1), strict=True))
    and_, or_ = relaxation.and_, relaxation.or_
    expected = {
        "FALSE": 0 * a, "A": a, "B": b, "AND": and_(a, b), "OR": or_(a, b),
        "A_AND_NOT_B": and_(a, 1 - b), "NOT_A_AND_B": and_(1 - a, b),
        "A_OR_NOT_B": or_(a, 1 - b), "NOT_A_OR_B": or_(1 - a, b), "NOR": and_(1 - a, 1 - b),
    }  # fmt: skip
    if relaxation != Probabilistic():
        expected["XOR"] = or_(and_(a, 1 - b), and_(1 - a, b))
    for name, formula in expected.items():
        torch.testing.assert_close(value[name], formula)
    for gate, name in enumerate(gates.NAMES):
        torch.testing.assert_close(value[gates.NAMES[gates.negate(gate)]], 1 - value[name])
        torch.testing.assert_close(relaxation.gates(a, b, (gate,))[:, 0], value[name])


def test_probabilistic_gates_are_the_papers_table() -> None:
    a, b = (x.detach() for x in pairs([0, 0.1, 0.35, 0.5, 0.8, 1], torch.float64))
    one, ab = torch.ones_like(a), a * b
    table = [
        0 * one, ab, a - ab, a, b - ab, b, a + b - 2 * ab, a + b - ab,
        1 - (a + b - ab), 1 - (a + b - 2 * ab), 1 - b, 1 - b + ab, 1 - a, 1 - a + ab, 1 - ab, one,
    ]  # fmt: skip
    torch.testing.assert_close(Probabilistic().gates(a, b), torch.stack(table, dim=-1))
    assert gates.coefficients().shape == (16, 4)
    assert gates.coefficients().dtype == np.float64


def test_composed_xor_is_not_the_expected_value() -> None:
    a, b = (x.detach() for x in pairs([0.1, 0.35, 0.5, 0.8], torch.float64))
    composed = Relaxation.gates(Probabilistic(), a, b)
    extra = composed - Probabilistic().gates(a, b)
    torch.testing.assert_close(extra[:, gates.XOR], -a * b * (1 - a) * (1 - b))
    others = [gate for gate in range(16) if gate not in (gates.XOR, gates.XNOR)]
    torch.testing.assert_close(extra[:, others], torch.zeros(len(a), len(others), dtype=torch.float64))


def test_lukasiewicz_xor_is_the_distance() -> None:
    a, b = (x.detach() for x in pairs([0, 0.1, 0.35, 0.5, 0.8, 1], torch.float64))
    torch.testing.assert_close(Yager(1).gates(a, b, (gates.XOR,))[:, 0], (a - b).abs())


@pytest.mark.parametrize("relaxation", DEFAULTS, ids=repr)
def test_graph_is_freed_with_the_result(relaxation: Relaxation) -> None:
    """No reference cycle: the memory of a training step must not wait for the garbage collector."""
    a, b = pairs([0.2, 0.7], torch.float64)
    gc.collect()
    gc.disable()
    try:
        relaxation.gates(a, b)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_any_shape() -> None:
    a = torch.rand(2, 0, 3)
    for relaxation in DEFAULTS:
        assert relaxation.gates(a, a).shape == (2, 0, 3, 16)
        assert relaxation.gates(torch.tensor(0.5), torch.tensor(0.5), (7, 1)).shape == (2,)


@pytest.mark.parametrize("family", FAMILIES)
def test_p_is_checked(family: type[Family]) -> None:
    low, high = family.bounds
    for p in (math.nan, math.inf, -math.inf, low - 1, high * 1.01):
        with pytest.raises(ValueError, match=f"^p must be between {low:g} and .*, got {p}$".replace("+", r"\+")):
            family(p)


@pytest.mark.parametrize("relaxation", [Minimum(), Probabilistic()], ids=repr)
def test_ids_are_checked(relaxation: Relaxation) -> None:
    half = torch.tensor(0.5)
    for ids in ((16,), (1, -1)):
        with pytest.raises(ValueError, match="ids must be gate ids between 0 and 15, got"):
            relaxation.gates(half, half, ids)


def test_relaxations_are_values() -> None:
    assert Yager(2) == Yager()
    assert len({Yager(2), Yager(), Dombi(2)}) == 2
    assert repr(Frank(0.5)) == "Frank(p=0.5)"
