"""LearnedLayer: gates that learn which wires they read.

In: values in [0, 1], any leading dimensions. Out: values in [0, 1]. Each pin of a gate has k candidates and a logit for
each of them. With `Soft` sampling a pin reads their mixture (as LILogicNet trains it); with hard ones it reads the most
probable candidate, straight through. `eval()` is always hard, and exactly the circuit that `discretize` gives.
"""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from gatewise.nn import functional
from gatewise.nn.base import (
    GateLayer,
    apply_on_bits,
    as_bits,
    check_input,
    make_parameter,
    settle_seed,
    without_autocast,
)
from gatewise.nn.functional import Number
from gatewise.nn.parametrization import NO_CONSTANTS, Parametrization, Residual, Softmax
from gatewise.nn.sampling import Bitwise, Sampling
from gatewise.wiring.candidates import Candidates, RandomCandidates

RESIDUAL = 3.0  # of the gate A at the beginning


class LearnedLayer(GateLayer):
    """A layer of gates that learn their operators and their two inputs.

    Parameters
    ----------
    in_features, out_features : int
    candidates : RandomCandidates, NearbyCandidates, AllInputs, a function like them, or an array
        What the pins choose from. An array holds integers in 0..in_features - 1, (2, out_features, k).
    parametrization : Softmax or Light, optional
        By default a softmax over all gates but the constants that begins near the gate A.
    sampling : Bitwise, Soft, HardStraightThrough or Gumbel, optional
        `Bitwise` by default; layers share one to have one temperature.
    seed, position, grad_factor, generator
        As for `LogicLayer`.

    Attributes
    ----------
    candidates : int32 tensor, (2, out_features, k)
    pins : Parameter, (2, out_features, k)
        Logits of the candidates, from N(0, 1).

    Examples
    --------
    >>> layer = LearnedLayer(8, 6, candidates=RandomCandidates(4), seed=0)
    >>> layer(torch.rand(5, 8) > 0.5).shape, layer.pins.shape
    (torch.Size([5, 6]), torch.Size([2, 6, 4]))
    """

    candidates: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        candidates: Candidates | ArrayLike | None = None,
        parametrization: Parametrization | None = None,
        sampling: Sampling | None = None,
        seed: int | None = None,
        position: int = 0,
        grad_factor: float = 1.0,
        generator: torch.Generator | None = None,
    ) -> None:
        seed, generator = settle_seed(seed, position, generator)
        super().__init__(
            in_features,
            out_features,
            parametrization=parametrization or Softmax(NO_CONSTANTS, initialization=Residual(RESIDUAL)),
            sampling=sampling or Bitwise(),
            grad_factor=grad_factor,
            seed=seed,
            position=position,
            generator=generator,
        )
        self.draw: Candidates | None = None  # where exchanged candidates come from
        if candidates is None:
            candidates = RandomCandidates(min(32, in_features))
        if callable(candidates):
            self.draw = candidates
            candidates = candidates(seed, position, in_features=in_features, out_features=out_features)
        wires = _check_candidates(candidates, in_features, out_features)
        self.register_buffer("candidates", torch.as_tensor(wires))
        self.pins = make_parameter(torch.randn(*wires.shape, generator=generator, device=generator.device))

    @property
    def k(self) -> int:
        """Candidates per pin."""
        return self.candidates.shape[-1]

    @without_autocast
    def forward(self, x: Tensor) -> Tensor:
        """x: (..., in_features) -> (..., out_features)."""
        if self.training and isinstance(self.sampling, Bitwise):
            _, temperature, _ = self.sampling.prepare([])
            return apply_on_bits(self, *self._read_chosen(as_bits(self, x), temperature))
        x = check_input(self, x)
        values = functional.scale_gradient(x.to(self.weight.dtype) if x.dtype == torch.bool else x, self.grad_factor)
        coefficients = self.parametrization.coefficients([self.weight], self.sampling, self.training)
        return functional.apply_gates(*self._read(values), coefficients.to(values.dtype))

    def _read(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """What both pins of each gate read, (..., out_features) each."""
        if not self.training:
            a, b = (functional.read_wires(x, wires) for wires in self.wires())
            return a, b
        (logits,), temperature, hard = self.sampling.prepare([self.pins])
        if hard:
            return self._read_chosen(x, temperature, logits)
        a, b = (functional.mix_wires(x, *each, temperature) for each in zip(self.candidates, logits, strict=True))
        return a, b

    def _read_chosen(self, x: Tensor, temperature: Number, logits: Tensor | None = None) -> tuple[Tensor, Tensor]:
        logits = self.pins if logits is None else logits
        each = zip(_pick_wires(self.candidates, logits), self.candidates, logits, strict=True)
        a, b = (functional.choose_wires(x, *pin, temperature) for pin in each)
        return a, b

    def wires(self) -> tuple[Tensor, Tensor]:
        """The operands a and b of every gate, int32 (out_features,) each.

        The most probable candidates, the first on ties. Pin b leaves out the wire of pin a, unless it has no other.
        """
        return _pick_wires(self.candidates, self.pins)

    def choices(self) -> Tensor:
        """The places of `wires` among the candidates: int64 (2, out_features), pin a of all gates, then pin b.

        Examples
        --------
        >>> layer = LearnedLayer(8, 6, candidates=RandomCandidates(4), seed=0)
        >>> a, b = layer.candidates.gather(-1, layer.choices()[..., None])[..., 0]
        >>> torch.equal(a, layer.wires()[0]), torch.equal(b, layer.wires()[1])
        (True, True)
        """
        return pick_places(self.candidates, self.pins)

    def exchange(self, share: float, draw: int) -> Tensor:
        """Replace the least probable candidates of every pin by new ones, so that few candidates search all wires.

        Those that come in get the mean logit of those that stay but for the chosen one; the chosen one never goes.

        Parameters
        ----------
        share : float
            Of the candidates to replace, in [0, 1).
        draw : int
            From 1; another number brings other candidates.

        Returns
        -------
        bool tensor, (2, out_features, k)
            Which were replaced; their moments in an optimizer mean nothing any more.

        Examples
        --------
        >>> layer = LearnedLayer(100, 6, candidates=RandomCandidates(4), seed=0)
        >>> int(layer.exchange(0.5, draw=1).sum())
        24
        """
        if self.draw is None:
            raise ValueError("candidates must be an object such as RandomCandidates to be exchanged, got an array")
        seed, position = self.seed_and_position()
        shape = {"in_features": self.in_features, "out_features": self.out_features}
        fresh = self.draw(seed, position, **shape, draw=draw)
        return replace_losers(self.pins, self.candidates, torch.from_numpy(fresh), share)

    def _settings(self) -> Iterator[str]:
        yield f"k={self.k}"
        if self.parametrization.kind != Softmax(NO_CONSTANTS).kind:
            yield f"parametrization={self.parametrization}"
        yield from super()._settings()


def replace_losers(pins: Tensor, candidates: Tensor, fresh: Tensor, share: float) -> Tensor:
    """Put fresh candidates in the place of the least probable ones of every pin, in place; see `LearnedLayer.exchange`.

    Parameters
    ----------
    pins, candidates, fresh : (..., k)
        Logits, and the candidates that there are and that may come in.
    share : float
        In [0, 1).

    Returns
    -------
    bool tensor, (..., k)
        Which were replaced.

    Examples
    --------
    >>> candidates = torch.tensor([[3, 4, 5]])
    >>> replace_losers(torch.tensor([[0.0, 1.0, 2.0]]), candidates, torch.tensor([[6, 7, 8]]), 0.5).tolist()
    [[True, False, False]]
    >>> candidates.tolist()
    [[6, 4, 5]]
    """
    if not 0 <= share < 1:
        raise ValueError(f"share must be in [0, 1), got {share}")
    k = pins.shape[-1]
    n_lost = min(int(share * k), k - 1)
    with torch.no_grad():
        order = pins.argsort(dim=-1, stable=True)
        lost = torch.zeros_like(pins, dtype=torch.bool).scatter_(-1, order[..., :n_lost], True)
        kept = order[..., n_lost : max(n_lost + 1, k - 1)]
        mean = pins.gather(-1, kept).mean(-1, keepdim=True)
        pins.copy_(torch.where(lost, mean, pins))
        candidates.copy_(torch.where(lost, fresh.to(candidates.device), candidates))
    return lost


def pick_places(candidates: Tensor, logits: Tensor) -> Tensor:
    """Where the most probable candidates are, int64 (2, n_gates); see `LearnedLayer.wires`.

    Parameters
    ----------
    candidates : integer tensor, (2, n_gates, k)
    logits : (2, n_gates, k)

    Examples
    --------
    >>> pick_places(torch.tensor([[[4, 7]], [[4, 9]]]), torch.tensor([[[1.0, 0.0]], [[1.0, 0.0]]])).tolist()
    [[0], [1]]
    """
    logits = logits.detach()
    place = logits[0].argmax(-1, keepdim=True)
    is_other = candidates[1] != candidates[0].gather(-1, place)
    open_to_b = torch.where(is_other | ~is_other.any(-1, keepdim=True), logits[1], -torch.inf)
    return torch.stack([place[:, 0], open_to_b.argmax(-1)])


def _pick_wires(candidates: Tensor, logits: Tensor) -> tuple[Tensor, Tensor]:
    """The most probable candidate of each pin; see `pick_places`."""
    a, b = candidates.gather(-1, pick_places(candidates, logits)[..., None])[..., 0]
    return a, b


def _check_candidates(candidates: ArrayLike, in_features: int, out_features: int) -> NDArray[np.int32]:
    """A copy of the candidates of both pins."""
    array = np.asarray(candidates)
    if array.dtype.kind not in "iu" or array.ndim != 3 or array.shape[:2] != (2, out_features) or not array.shape[2]:
        got = f"{array.dtype} of shape {array.shape}"
        raise ValueError(f"candidates must be integers of shape (2, {out_features}, k), k at least 1, got {got}")
    wrong = np.argwhere((array < 0) | (array >= in_features))
    if len(wrong):
        pin, gate, place = wrong[0]
        got = f"{array[pin, gate, place]} at pin {'ab'[pin]} of gate {gate}"
        raise ValueError(f"candidates must be in 0..{in_features - 1}, the inputs of the layer, got {got}")
    return np.array(array, np.int32)
