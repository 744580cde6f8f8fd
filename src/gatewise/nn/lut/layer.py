"""LutLayer: lookup tables of k inputs that learn their entries, and which wires they read.

In: bits, 0 or 1, any leading dimensions. Out: bits. Training sees the tables as `functional.read_tables` tells, and a
pin of learned wiring reads its most probable candidate, straight through. `eval()` computes the same bits, and exactly
the circuit that `discretize` gives.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from gatewise.checks import as_integer
from gatewise.circuit import N_CONSTANTS
from gatewise.lookup import Expansion, expand_tables
from gatewise.nn import functional
from gatewise.nn.base import check_bits, check_input, make_parameter, settle_seed, without_autocast
from gatewise.nn.learned import replace_losers
from gatewise.nn.lut import wires as wirings
from gatewise.nn.lut.functional import read_tables
from gatewise.nn.sampling import Bitwise
from gatewise.wiring import Candidates

MIN_INPUTS, MAX_INPUTS = 3, 6


class LutLayer(nn.Module):
    """A layer of lookup tables with k inputs each.

    It is trained on bits. The gradient of an output goes to the entry that was read; to the inputs goes the derivative
    of the multilinear interpolation of the table at 0.25 + 0.5 x (arXiv:2410.11112). Entries begin in U(-1, 1) and stay
    there; the output is 1 where the entry is positive.

    Parameters
    ----------
    in_features, out_features : int
        At least k inputs.
    k : int
        Inputs of a table, 3..6.
    candidates : RandomCandidates, NearbyCandidates, AllInputs, a function like them, or an array, optional
        What the pins choose from. An array holds integers in 0..in_features - 1, (k, out_features, n_candidates).
    wiring : array, optional
        Instead of candidates, the fixed inputs of every table: integers in 0..in_features - 1, (k, out_features).
        Without either the wires are drawn evenly from all, and fixed.
    sampling : Bitwise, optional
        Its temperature is that of the softmax over candidates; layers share one.
    seed, position, grad_factor, generator
        As for `LogicLayer`.

    Attributes
    ----------
    weight : Parameter, (out_features, 2**k)
        The entries of the tables; the first pin is the highest digit of an entry's number.
    fixed : int32 tensor, (k, out_features), or None
    candidates : int32 tensor, (k, out_features, n_candidates), or None
    pins : Parameter, of the shape of the candidates, or None
        Their logits, from N(0, 1).

    Examples
    --------
    >>> from gatewise.wiring import RandomCandidates
    >>> layer = LutLayer(20, 8, k=4, candidates=RandomCandidates(5), seed=0)
    >>> layer(torch.rand(3, 20) > 0.5).shape, layer.weight.shape, layer.pins.shape
    (torch.Size([3, 8]), torch.Size([8, 16]), torch.Size([4, 8, 5]))
    """

    seed: Tensor
    sampling: Bitwise
    fixed: Tensor | None
    candidates: Tensor | None
    pins: nn.Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        k: int = 6,
        *,
        candidates: Candidates | ArrayLike | None = None,
        wiring: ArrayLike | None = None,
        sampling: Bitwise | None = None,
        seed: int | None = None,
        position: int = 0,
        grad_factor: float = 1.0,
        generator: torch.Generator | None = None,
    ) -> None:
        seed, generator = settle_seed(seed, position, generator)
        sampling = Bitwise() if sampling is None else sampling
        if not isinstance(sampling, Bitwise):
            raise TypeError(f"sampling must be Bitwise for a LutLayer, got {sampling}")
        super().__init__()
        self.k = as_integer("k", k, MIN_INPUTS, MAX_INPUTS)
        if out_features < 1:
            raise ValueError(f"out_features must be at least 1, got {out_features}")
        if in_features < self.k:
            raise ValueError(f"in_features must be at least k = {self.k}, the inputs of a table, got {in_features}")
        if candidates is not None and wiring is not None:
            raise ValueError("wiring must be None for pins that choose among candidates, got both")
        self.in_features, self.out_features = in_features, out_features
        self.sampling, self.grad_factor = sampling, grad_factor
        # The 64 bits of the seed as int64, which every version of torch can save.
        self.register_buffer("seed", torch.as_tensor(np.array([seed, position], np.uint64).view(np.int64)))
        place = generator.device
        self.weight = make_parameter(2 * torch.rand(out_features, 2**self.k, generator=generator, device=place) - 1)
        self.draw: Candidates | None = None  # where exchanged candidates come from
        self._wire(candidates, wiring, generator)

    def _wire(self, candidates: Any, wiring: Any, generator: torch.Generator) -> None:
        """Wires that are fixed, or candidates and their logits."""
        shape = self.in_features, self.out_features
        if candidates is None:
            fixed = wirings.fix_wires(wiring, self.k, *self.seed_and_position(), *shape)
            self.register_buffer("fixed", torch.as_tensor(fixed))
            self.register_buffer("candidates", None)
            self.pins = None
            return
        self.register_buffer("fixed", None)
        self.draw = candidates if callable(candidates) else None
        drawn = wirings.check_candidates(self._draw(0) if callable(candidates) else candidates, self.k, *shape)
        self.register_buffer("candidates", torch.as_tensor(drawn))
        self.pins = make_parameter(torch.randn(*drawn.shape, generator=generator, device=generator.device))

    @without_autocast
    def forward(self, x: Tensor) -> Tensor:
        """x: 0 or 1, (..., in_features) -> 0 or 1, (..., out_features)."""
        x = check_bits(check_input(self, x), self)
        if self.training:
            self._clamp()
        values = functional.scale_gradient(x.to(self.weight.dtype) if x.dtype == torch.bool else x, self.grad_factor)
        return read_tables(self._read(values), self.weight)

    def _clamp(self) -> None:
        """Keep the entries where they are, in [-1, 1], whatever the optimizer did; the outputs do not change."""
        with torch.no_grad():
            # Without a new version for autograd: a second forward before the backward pass finds nothing to clamp.
            self.weight.data.clamp_(-1.0, 1.0)

    def _read(self, x: Tensor) -> Tensor:
        """What the pins of every table read, (..., k, out_features)."""
        wires = self.wires()
        if self.pins is None or self.candidates is None or not self.training:
            return functional.read_wires(x, wires.reshape(-1)).unflatten(-1, wires.shape)
        _, temperature, _ = self.sampling.prepare([])
        each = zip(wires, self.candidates, self.pins, strict=True)
        return torch.stack([functional.choose_wires(x, *pin, temperature) for pin in each], -2)

    def wires(self) -> Tensor:
        """The inputs of every table, int32 (k, out_features).

        Of learned wiring the most probable candidates, the first on ties. A pin leaves out the wires of the pins before
        it, unless it has no other.
        """
        if self.pins is None or self.candidates is None:
            assert self.fixed is not None
            return self.fixed
        return wirings.pick_wires(self.candidates, self.pins)

    def tables(self) -> NDArray[np.bool_]:
        """The truth tables that the entries stand for, (out_features, 2**k)."""
        tables: NDArray[np.bool_] = (self.weight.detach() > 0).cpu().numpy()
        return tables

    def gates(self) -> NDArray[np.uint8]:
        """The ids of the two-input gates that the tables take, one after the other."""
        wires = np.arange(N_CONSTANTS, N_CONSTANTS + self.in_features, dtype=np.int32)
        return self.expand(wires, n_wires=N_CONSTANTS + self.in_features).gate

    def expand(self, wires: NDArray[np.int32], *, n_wires: int) -> Expansion:
        """Two-input gates that compute the layer: see `gatewise.lookup.expand_tables`.

        Parameters
        ----------
        wires : int32, (in_features,)
            Of the circuit that the gates are put into, those that the layer reads.
        n_wires : int
            Of that circuit.

        Examples
        --------
        >>> layer = LutLayer(4, 2, k=3, seed=0)
        >>> len(layer.expand(np.arange(2, 6, dtype=np.int32), n_wires=6).outputs)
        2
        """
        return expand_tables(self.tables(), wires[self.wires().cpu().numpy()], n_wires=n_wires)

    def exchange(self, share: float, draw: int) -> Tensor:
        """Replace the least probable candidates of every pin by new ones: see `LearnedLayer.exchange`.

        Examples
        --------
        >>> from gatewise.wiring import RandomCandidates
        >>> layer = LutLayer(100, 6, k=3, candidates=RandomCandidates(4), seed=0)
        >>> int(layer.exchange(0.5, draw=1).sum())
        36
        """
        if self.draw is None or self.pins is None or self.candidates is None:
            got = "fixed wires" if self.pins is None else "an array"
            raise ValueError(f"candidates must be an object such as RandomCandidates to be exchanged, got {got}")
        return replace_losers(self.pins, self.candidates, torch.from_numpy(self._draw(draw)), share)

    def _draw(self, draw: int) -> NDArray[np.int32]:
        """Candidates of all pins."""
        assert self.draw is not None
        return wirings.draw_candidates(
            self.draw, self.k, *self.seed_and_position(), self.in_features, self.out_features, draw
        )

    def seed_and_position(self) -> tuple[int, int]:
        """The seed of wires and weights, and the position of the layer in its network."""
        seed, position = self.seed.cpu().numpy().view(np.uint64).tolist()
        return seed, position

    def extra_repr(self) -> str:
        """The shape, and the settings that are not the default."""
        shown: dict[str, float] = {"in_features": self.in_features, "out_features": self.out_features, "k": self.k}
        if self.candidates is not None:
            shown["candidates"] = self.candidates.shape[-1]
        if self.grad_factor != 1.0:
            shown["grad_factor"] = self.grad_factor
        return ", ".join(f"{name}={value}" for name, value in shown.items())
