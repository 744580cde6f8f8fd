"""Relaxed gates: what the 16 gates mean for operands between 0 and 1.

In: two float tensors of equal shape with values in [0, 1]. Out: the relaxed values of the gates, also in [0, 1]. A
relaxation is a dual triplet: a T-norm T for "and", N(x) = 1 - x for "not", and S(a, b) = N(T(N(a), N(b))) for "or".
The invariant: on {0, 1}² every relaxed gate equals the gate, and on the whole closed unit square values and gradients
are finite. Formulas: Petersen et al. 2022, supplement "Differentiable Logics: T-Norms and T-Conorms".
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from gatewise.gates import (
    A_AND_NOT_B,
    FALSE,
    N_GATES,
    NOT_A,
    NOT_A_AND_B,
    NOT_B,
    XOR,
    A,
    B,
    evaluate,
    negate,
)
from gatewise.nn.functional import coefficient_table

ALL_GATES = tuple(range(N_GATES))


class Relaxation(ABC):
    """A dual triplet, and the 16 gates that follow from it."""

    @abstractmethod
    def and_(self, a: Tensor, b: Tensor) -> Tensor:
        """T(a, b): associative, commutative, monotone, and T(a, 1) = a."""

    def or_(self, a: Tensor, b: Tensor) -> Tensor:
        """S(a, b), the T-conorm that is dual to T."""
        return 1 - self.and_(1 - a, 1 - b)

    def gates(self, a: Tensor, b: Tensor, ids: Sequence[int] = ALL_GATES) -> Tensor:
        """Relaxed values of the gates `ids`: shape (*a.shape, len(ids)), dtype of `a`.

        A gate that is true in one row of its truth table is T of that row's literals; constants and operands are
        themselves; the complement of a gate g is 1 - g, which makes OR = S. XOR needs a choice, since
        S(T(a, N(b)), T(N(a), b)) and T(S(a, b), N(T(a, b))) differ inside the square. It is the first, "row 10 or row
        01": it shares both terms with gates 2 and 4, and in Łukasiewicz's logic, `Yager(1)`, it is |a - b|, zero for
        equal operands, where the second is one at a = b = 1/2. XNOR is 1 - XOR.

        Examples
        --------
        >>> from gatewise.gates import OR, XOR
        >>> a, b = torch.tensor([0.0, 0.2]), torch.tensor([1.0, 0.7])
        >>> Minimum().gates(a, b, (OR, XOR))
        tensor([[1.0000, 1.0000],
                [0.7000, 0.7000]])
        """
        _check_ids(ids)
        known = {FALSE: torch.zeros_like(a), A: a, B: b, NOT_A: 1 - a, NOT_B: 1 - b}
        return torch.stack([self._gate(gate, known) for gate in ids], dim=-1)

    def _gate(self, gate: int, known: dict[int, Tensor]) -> Tensor:
        """The value of `gate`, from the values in `known`, to which it is added."""
        if gate not in known:
            rows = [(i, j) for i in (0, 1) for j in (0, 1) if evaluate(gate, i, j)]
            if len(rows) == 1:
                ((i, j),) = rows
                known[gate] = self.and_(known[A if i else NOT_A], known[B if j else NOT_B])
            elif gate == XOR:
                known[gate] = self.or_(self._gate(A_AND_NOT_B, known), self._gate(NOT_A_AND_B, known))
            else:
                known[gate] = 1 - self._gate(negate(gate), known)
        return known[gate]


@dataclass(frozen=True)
class Minimum(Relaxation):
    """T = min(a, b), the largest T-norm; equal operands share the gradient."""

    def and_(self, a: Tensor, b: Tensor) -> Tensor:
        return torch.minimum(a, b)


@dataclass(frozen=True)
class Probabilistic(Relaxation):
    """T = ab, and the paper's operator table: the default.

    Every gate is its multilinear extension (`gatewise.gates.coefficients`), the probability that it is true for
    independent operands. Composing XOR from T and S would lose that, because rows 10 and 01 exclude each other while S
    takes them for independent: S(a(1-b), (1-a)b) = a + b - 2ab - ab(1-a)(1-b). The table's a + b - 2ab is kept.
    All gates but XOR and XNOR are equal either way.

    Examples
    --------
    >>> Probabilistic().gates(torch.tensor(0.5), torch.tensor(0.5), (1, 6, 7))
    tensor([0.2500, 0.5000, 0.7500])
    """

    def and_(self, a: Tensor, b: Tensor) -> Tensor:
        return a * b

    def gates(self, a: Tensor, b: Tensor, ids: Sequence[int] = ALL_GATES) -> Tensor:
        _check_ids(ids)
        monomials = torch.stack([torch.ones_like(a), a, b, a * b], dim=-1)
        return torch.nn.functional.linear(monomials, coefficient_table(ids, a))


@dataclass(frozen=True)
class Einstein(Relaxation):
    """T = ab / (2 - a - b + ab), which is `Hamacher(2)`."""

    def and_(self, a: Tensor, b: Tensor) -> Tensor:
        return a * b / (1 + (1 - a) * (1 - b))


@dataclass(frozen=True)
class Family(Relaxation):
    """T-norms with a parameter p, whose formulas may be singular on the edge of the square.

    The technique is the same for all. By the axioms every T-norm is min(a, b) on the edge, so the value there needs no
    formula. The formula is evaluated at the nearest point inside the square, and the edge takes its gradient from that
    point: the limit where it exists, and finite where it does not. Operands so small that their squares underflow count
    as edge. Half precision is computed in float32.
    """

    p: float
    bounds: ClassVar[tuple[float, float]]

    def __post_init__(self) -> None:
        low, high = self.bounds
        if not low <= self.p <= high:
            raise ValueError(f"p must be between {low:g} and {high:g}, got {self.p}")

    def and_(self, a: Tensor, b: Tensor) -> Tensor:
        wide = torch.promote_types(a.dtype, torch.float32)
        low, high = math.sqrt(torch.finfo(wide).tiny), 1 - torch.finfo(a.dtype).eps / 2
        a_in, b_in = (_replace_value(x, x.clamp(low, high)) for x in (a.to(wide), b.to(wide)))
        inner = self._inside(a_in, b_in)
        edge = (a_in != a) | (b_in != b)
        return _replace_value(inner, torch.where(edge, torch.minimum(a, b).to(wide), inner)).to(a.dtype)

    @abstractmethod
    def _inside(self, a: Tensor, b: Tensor) -> Tensor:
        """T(a, b) for 0 < a, b < 1."""


@dataclass(frozen=True)
class Hamacher(Family):
    """T = ab / (p + (1-p)(a + b - ab)), 0 ≤ p ≤ 100; p = 1 is probabilistic, p = 2 Einstein's, 0 Hamacher's product.

    Its slope reaches p/4: hence the upper bound.
    """

    p: float = 0.0
    bounds = (0, 100)

    def _inside(self, a: Tensor, b: Tensor) -> Tensor:
        return a * b / (a + b * (1 - a) + self.p * (1 - a) * (1 - b))  # a sum of terms ≥ 0: nothing cancels


@dataclass(frozen=True)
class Frank(Family):
    """T = log_p(1 + (p^a - 1)(p^b - 1) / (p - 1)), 1e-30 ≤ p ≤ 1e30; p = 1 is the probabilistic limit.

    Toward p = 0 it is the minimum, toward infinity max(0, a + b - 1). Outside the bounds p^a overflows float32.
    """

    p: float = 0.1
    bounds = (1e-30, 1e30)

    def _inside(self, a: Tensor, b: Tensor) -> Tensor:
        if self.p == 1:
            return a * b
        if self.p > 1:
            return _frank_above_one(a, b, math.log(self.p))
        # Below 1 the logarithm's argument cancels; T_p(a, b) = a - T_{1/p}(a, 1 - b) does not.
        low, high = torch.minimum(a, b), torch.maximum(a, b)
        return torch.relu(low - _frank_above_one(low, 1 - high, -math.log(self.p)))


@dataclass(frozen=True)
class Yager(Family):
    """T = max(0, 1 - ((1-a)^p + (1-b)^p)^(1/p)), 0.001 ≤ p ≤ 1000; p = 1 is Łukasiewicz's max(0, a + b - 1).

    For p < 1 the slope is unbounded toward the edges a = 1 and b = 1.
    """

    p: float = 2.0
    bounds = (1e-3, 1e3)

    def _inside(self, a: Tensor, b: Tensor) -> Tensor:
        log_norm = _log_p_norm(torch.log1p(-a), torch.log1p(-b), self.p)
        return -torch.expm1(log_norm.clamp(max=0))


@dataclass(frozen=True)
class AczelAlsina(Family):
    """T = exp(-(|log a|^p + |log b|^p)^(1/p)), 0.001 ≤ p ≤ 1000; p = 1 is probabilistic.

    For p < 1 the slope is unbounded toward the edges a = 1 and b = 1.
    """

    p: float = 2.0
    bounds = (1e-3, 1e3)

    def _inside(self, a: Tensor, b: Tensor) -> Tensor:
        log_norm = _log_p_norm(torch.log(-torch.log(a)), torch.log(-torch.log(b)), self.p)
        return torch.exp(-torch.exp(log_norm.clamp(max=7)))  # exp(-exp(7)) is 0 even in float64


@dataclass(frozen=True)
class Dombi(Family):
    """T = 1 / (1 + (((1-a)/a)^p + ((1-b)/b)^p)^(1/p)), 0.001 ≤ p ≤ 1000; p = 1 is Hamacher's product.

    For p < 1 the slope is unbounded toward the edges a = 1 and b = 1. The paper prints another T-conorm, for which 0 is
    not neutral: a sign is lost in its inner exponents. Here it is the dual, as for every family.
    """

    p: float = 2.0
    bounds = (1e-3, 1e3)

    def _inside(self, a: Tensor, b: Tensor) -> Tensor:
        return torch.sigmoid(-_log_p_norm(-torch.logit(a), -torch.logit(b), self.p))


@dataclass(frozen=True)
class SchweizerSklar(Family):
    """T = max(0, a^p + b^p - 1)^(1/p), -1000 ≤ p ≤ 1; p = 0 is the probabilistic limit.

    p = -1 is Hamacher's product and p = 1 Łukasiewicz's T-norm; the maximum with 0 matters for p > 0 only. Beyond p = 1
    it remains a T-norm, but its slope is infinite where a^p + b^p = 1, inside the square: hence the upper bound.
    """

    p: float = -2.0
    bounds = (-1e3, 1)

    def _inside(self, a: Tensor, b: Tensor) -> Tensor:
        if abs(self.p) < 1e-20:  # differs from the limit by less than rounding
            return a * b
        # T = m (1 + z)^(1/p), z = (M/m)^p (1 - M^-p), m = min(a, b), M = max(a, b): no power overflows.
        log_m, log_M = torch.log(torch.minimum(a, b)), torch.log(torch.maximum(a, b))
        z = -torch.exp(self.p * (log_M - log_m)) * torch.expm1(-self.p * log_M)
        positive = z > -1
        log_t = log_m + torch.log1p(torch.where(positive, z, 0)) / self.p
        return torch.where(positive, torch.exp(log_t), 0)


def _check_ids(ids: Sequence[int]) -> None:
    if not all(0 <= gate < N_GATES for gate in ids):
        raise ValueError(f"ids must be gate ids between 0 and {N_GATES - 1}, got {tuple(ids)}")


def _replace_value(x: Tensor, value: Tensor) -> Tensor:
    """`value`, with the gradient of `x`."""
    return value.detach() + (x - x.detach())


def _frank_above_one(a: Tensor, b: Tensor, log_p: float) -> Tensor:
    power = torch.expm1(log_p * a) * (torch.expm1(log_p * b) / math.expm1(log_p))
    return torch.log1p(power) / log_p


def _log_p_norm(log_x: Tensor, log_y: Tensor, p: float) -> Tensor:
    """log((x^p + y^p)^(1/p)); powers of x and y would over- and underflow."""
    return torch.logaddexp(p * log_x, p * log_y) / p
