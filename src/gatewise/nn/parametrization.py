"""How a gate's parameters become its coefficients of (1, a, b, ab): small values that a layer is built with.

In: the number of gates, then a weight tensor. Out: the initial weight, coefficients with gradients, and the gate ids
that the weight stands for. Weights are stored operator by operator, shape (n_parameters, n_gates), so that kernels read
neighboring gates side by side. Parametrizations with the same settings are equal.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from gatewise.gates import NAMES, A
from gatewise.nn import functional
from gatewise.nn.functional import Number
from gatewise.nn.kernels import cuda, native, ops
from gatewise.nn.kernels.ops import Way, choose_way
from gatewise.nn.sampling import Sampling

ALL_OPERATORS = tuple(range(len(NAMES)))
NO_CONSTANTS = ALL_OPERATORS[1:-1]
"""The operators without false and true, which no gate needs to become."""

Initialization = Callable[[tuple[int, ...], int, torch.Generator | None], Tensor]


def place_of(generator: torch.Generator | None) -> torch.device:
    """Where a generator draws: weights that follow from a seed are the same ones on every device.

    Examples
    --------
    >>> place_of(torch.Generator())
    device(type='cpu')
    """
    return torch.get_default_device() if generator is None else generator.device


def normal(operators: tuple[int, ...], n_gates: int, generator: torch.Generator | None = None) -> Tensor:
    """The paper's initialization: logits from the standard normal distribution, (n_operators, n_gates).

    Examples
    --------
    >>> normal((1, 7), 3).shape
    torch.Size([2, 3])
    """
    return torch.randn(len(operators), n_gates, generator=generator, device=place_of(generator))


@dataclass(frozen=True)
class Residual:
    """Logits 0, but for `strength` on the gate A: a layer starts by passing most of its input through.

    Examples
    --------
    >>> Residual(5.0)((1, 3, 6), 2).tolist()
    [[0.0, 0.0], [5.0, 5.0], [0.0, 0.0]]
    """

    strength: float = 5.0

    def __call__(self, operators: tuple[int, ...], n_gates: int, generator: torch.Generator | None = None) -> Tensor:
        if A not in operators:
            raise ValueError(f"operators must contain {A} (the gate A) for a residual initialization, got {operators}")
        logits = torch.zeros(len(operators), n_gates)
        logits[operators.index(A)] = self.strength
        return logits


@dataclass(frozen=True)
class Softmax:
    """A softmax over operators, as in the paper: all 16, or any subset.

    Parameters
    ----------
    operators : sequence of gate ids
        Which gates a gate may become.
    initialization : `normal`, `Residual`, or a function like them

    Examples
    --------
    >>> Softmax(operators=[1, 7, 8, 14]).n_parameters
    4
    >>> Softmax([6, 9]) == Softmax((6, 9))
    True
    """

    operators: Sequence[int] = ALL_OPERATORS
    initialization: Initialization = field(default=normal, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        operators = tuple(int(gate) for gate in self.operators)
        if not operators or len(set(operators)) < len(operators):
            raise ValueError(f"operators must be distinct gate ids, at least one, got {list(operators)}")
        if not set(operators) <= set(ALL_OPERATORS):
            raise ValueError(f"operators must be gate ids in 0..15, got {list(operators)}")
        object.__setattr__(self, "operators", operators)

    @property
    def n_parameters(self) -> int:
        """Parameters per gate."""
        return len(self.operators)

    @property
    def kind(self) -> tuple[object, ...]:
        """Equal for parametrizations whose weights can be mixed together."""
        return Softmax, self.operators

    def initialize(self, n_gates: int, generator: torch.Generator | None = None) -> Tensor:
        """The initial weight, (n_parameters, n_gates)."""
        return self.initialization(tuple(self.operators), n_gates, generator)

    def coefficients(self, weights: Sequence[Tensor], sampling: Sampling, training: bool) -> Tensor:
        """Coefficients of the gates of all `weights`, one after the other, (n_gates, 4)."""
        logits, temperature, hard = sampling.prepare(weights) if training else (weights, 1.0, True)
        way = choose_way(logits)
        confidence: Number
        if way is Way.NATIVE:
            contiguous = [z.contiguous() for z in logits]
            coefficients, confidence = native.MixStack.apply(self.operators, temperature, hard, *contiguous)
        elif way is Way.TRITON:
            coefficients, confidence = cuda.mix(logits, self.operators, temperature, hard)
        elif way is Way.OPERATOR:
            degree = torch.as_tensor(temperature, dtype=torch.float64)
            coefficients, seen = ops.mix_gates(list(logits), list(self.operators), degree, hard)
            confidence = seen.detach()
        else:
            parts = [functional.mix_gates(z, self.operators, temperature, hard=hard) for z in logits]
            coefficients = torch.cat(parts)
            with torch.no_grad():
                confidence = torch.cat([z.softmax(0).amax(0) for z in logits]).mean()
        if training:
            sampling.observe(confidence, self.n_parameters)
        return coefficients

    def relax(self, weight: Tensor, temperature: Number) -> tuple[Tensor, Tensor]:
        """Coefficients of the mixtures at a temperature, and of the most probable operators, (n_gates, 4) each."""
        mixed = functional.mix_gates(weight, self.operators, temperature)
        return mixed, functional.mix_gates(weight.detach(), self.operators, temperature, hard=True)

    def probabilities(self, weight: Tensor, sampling: Sampling, training: bool) -> Tensor:
        """Weights of the operators of every gate, (n_parameters, n_gates), for relaxations without coefficients."""
        (logits,), temperature, hard = sampling.prepare([weight]) if training else ([weight], 1.0, True)
        if training:
            sampling.observe(logits.detach().softmax(0).amax(0).mean(), self.n_parameters)
        return functional.choose(logits, temperature, hard=hard)

    def gates(self, weight: Tensor) -> np.ndarray:
        """The operator with the largest logit of every gate, uint8 (n_gates,)."""
        chosen = weight.detach().argmax(0).cpu().numpy()
        return np.array(self.operators, np.uint8)[chosen]


@dataclass(frozen=True)
class Light:
    """Four parameters per gate, the entries of its truth table: w = (1 + sin theta) / 2 (input-wise parametrization).

    Starts near the gate A: theta is normal with deviation 0.25 around -1.2 for 00 and 01, around 1.2 for 10 and 11.

    Examples
    --------
    >>> Light().gates(torch.tensor([[-1.0], [1.0], [1.0], [-1.0]])).tolist()  # 00, 01, 10, 11: XOR
    [6]
    """

    n_parameters: ClassVar[int] = 4

    @property
    def kind(self) -> tuple[object, ...]:
        """Equal for parametrizations whose weights can be mixed together."""
        return (Light,)

    def initialize(self, n_gates: int, generator: torch.Generator | None = None) -> Tensor:
        """The initial angles, (4, n_gates), for operands 00, 01, 10, 11."""
        place = place_of(generator)
        toward = torch.tensor([-1.2, -1.2, 1.2, 1.2], device=place)[:, None]
        return toward + 0.25 * torch.randn(4, n_gates, generator=generator, device=place)

    def coefficients(self, weights: Sequence[Tensor], sampling: Sampling, training: bool) -> Tensor:
        """Coefficients of the gates of all `weights`, one after the other, (n_gates, 4)."""
        soft, hard = self.relax(torch.cat(list(weights), 1))
        if not training:
            return hard
        return hard + soft - soft.detach() if sampling.is_hard else soft

    def relax(self, weight: Tensor, temperature: Number = 1.0) -> tuple[Tensor, Tensor]:
        """Coefficients of the soft truth tables and of the rounded ones, (n_gates, 4) each; there is no temperature."""
        soft = 0.5 + 0.5 * weight.sin()
        hard = (soft.detach() >= 0.5).to(weight.dtype)
        return functional.table_coefficients(soft), functional.table_coefficients(hard)

    def gates(self, weight: Tensor) -> np.ndarray:
        """The gate whose truth table the rounded entries are, uint8 (n_gates,)."""
        bits = (0.5 + 0.5 * weight.detach().sin() >= 0.5).cpu().numpy()
        return (np.array([8, 4, 2, 1]) @ bits).astype(np.uint8)


Parametrization = Softmax | Light
