"""How training draws a gate from its distribution: what the forward pass sees, and what gradients see.

In: logits. Out: logits, the temperature of their softmax, and whether the forward pass takes the largest. Evaluation
always takes the largest. On a device temperatures stay there, as tensors of one number: to read one would wait for it.
`Soft` and `Gumbel` are values: two with the same settings are equal. `HardStraightThrough`
and `Bitwise` have a temperature that changes, so they are modules with a state, and layers share one object.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor, nn

from gatewise.nn.functional import Number
from gatewise.nn.kernels.ops import is_transforming, read_number, write_number


@dataclass(frozen=True)
class Soft:
    """The mixture itself, as in the paper.

    Examples
    --------
    >>> Soft() == Soft()
    True
    """

    is_hard: ClassVar[bool] = False

    def prepare(self, logits: Sequence[Tensor]) -> tuple[Sequence[Tensor], Number, bool]:
        """Logits, temperature, and whether to take the largest."""
        return logits, 1.0, False

    def observe(self, confidence: Number, n_operators: int) -> None:
        """Nothing to adapt."""


class HardStraightThrough(nn.Module):
    """Forward the most probable gate, backward a softmax whose temperature falls as gates become sure (CAGE).

    The temperature is 3 - 2.5 (c - 1/k) / (1 - 1/k), with c the running mean, at rate 0.99, of the largest probability
    of a gate, and k the number of operators. c is part of the state.

    Examples
    --------
    >>> sampling = HardStraightThrough()
    >>> sampling.observe(1.0, n_operators=16)
    >>> sampling.temperature.item()
    0.5
    """

    is_hard = True
    confidence: Tensor
    temperature: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("confidence", torch.tensor(-1.0, dtype=torch.float64))  # negative: nothing seen yet
        self.register_buffer("temperature", torch.tensor(3.0, dtype=torch.float64))

    def prepare(self, logits: Sequence[Tensor]) -> tuple[Sequence[Tensor], Number, bool]:
        """Logits, temperature, and whether to take the largest."""
        return logits, _read_number(self.temperature), True

    def observe(self, confidence: Number, n_operators: int) -> None:
        """Take the mean largest probability of a step into account."""
        if is_transforming():
            rule = "sampling must keep no state within transforms of torch.func"
            raise RuntimeError(f"{rule}, got {self}; put the network into eval() or use Soft() or Gumbel()")
        seen = _read_number(self.confidence)
        confidence = confidence.to(self.confidence) if isinstance(confidence, Tensor) else confidence
        is_first = (seen < 0) + 0.0 * seen
        mean = 0.99 * (1 - is_first) * seen + (0.01 * (1 - is_first) + is_first) * confidence
        share = (mean - 1 / n_operators) / (1 - 1 / n_operators) if n_operators > 1 else 1.0
        _write_number(self.confidence, mean)
        _write_number(self.temperature, 3.0 - 2.5 * share)


@dataclass(frozen=True)
class Gumbel:
    """A gate drawn at random: Gumbel noise on the logits, forward the largest, backward a softmax at `tau`.

    Parameters
    ----------
    tau : float
        Positive.
    generator : torch.Generator, optional
        Of the noise; torch's global one by default.

    Examples
    --------
    >>> Gumbel(0.5) == Gumbel(0.5), Gumbel(0.5) == Gumbel(0.3)
    (True, False)
    """

    tau: float = 0.3
    generator: torch.Generator | None = field(default=None, kw_only=True, repr=False)
    is_hard: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.tau > 0:
            raise ValueError(f"tau must be positive, got {self.tau}")

    def prepare(self, logits: Sequence[Tensor]) -> tuple[Sequence[Tensor], Number, bool]:
        """Logits, temperature, and whether to take the largest."""
        return [z + self._noise(z) for z in logits], self.tau, True

    def observe(self, confidence: Number, n_operators: int) -> None:
        """Nothing to adapt."""

    def _noise(self, like: Tensor) -> Tensor:
        place = like.device if self.generator is None else self.generator.device
        exponential = torch.empty_like(like, device=place).exponential_(generator=self.generator)
        return -exponential.to(like.device, non_blocking=True).log()


class Bitwise(nn.Module):
    """Training on bits: forward the most probable gate and wire, so that every activation is 0 or 1.

    Gradients see softmaxes at `temperature`: over a gate's operators, over a pin's candidates. The derivative of a gate
    by an operand is that of the mixture, not of the gate that was taken. Native steps run 64 rows to a word, and what
    they train has no gap to its circuit.

    Parameters
    ----------
    temperature : float
        Positive; part of the state, so that a schedule can lower it.

    Examples
    --------
    >>> Bitwise(4.0).prepare([])[1:]
    (4.0, True)
    """

    is_hard = True
    temperature: Tensor

    def __init__(self, temperature: float = 4.0) -> None:
        super().__init__()
        if not 0 < temperature < float("inf"):
            raise ValueError(f"temperature must be positive and finite, got {temperature}")
        self.register_buffer("temperature", torch.tensor(float(temperature), dtype=torch.float64))

    def prepare(self, logits: Sequence[Tensor]) -> tuple[Sequence[Tensor], Number, bool]:
        """Logits, temperature, and whether to take the largest."""
        return logits, _read_number(self.temperature), True

    def observe(self, confidence: Number, n_operators: int) -> None:
        """Nothing to adapt."""


def _read_number(tensor: Tensor) -> Number:
    """A number that is on the CPU, or a tensor that will have it, whatever is written into this one meanwhile."""
    if torch.compiler.is_compiling():
        return read_number(tensor)
    return float(tensor) if tensor.device.type == "cpu" else tensor.clone()


def _write_number(tensor: Tensor, value: Number) -> None:
    """Write a number into a tensor of one number."""
    if torch.compiler.is_compiling():
        write_number(tensor, torch.as_tensor(value, dtype=tensor.dtype))
    else:
        tensor.fill_(value)


Sampling = Soft | HardStraightThrough | Gumbel | Bitwise
