"""LearnedWiring: wires that were chosen among candidates from a seed, as training leaves them.

In: candidates that follow from a seed, and the place of the chosen one for each pin. Out: the operands of every gate.
Invariant: a wire takes the bits of its place among the candidates only, and memory does not grow with their number.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gatewise.wiring.candidates import MAX_CANDIDATES, Places, SeededCandidates
from gatewise.wiring.layers import Operands


@dataclass(frozen=True, eq=False)
class LearnedWiring:
    """Candidates from a seed, and which of them every pin has chosen; called as `random_wiring` is.

    Parameters
    ----------
    candidates : RandomCandidates, NearbyCandidates or AllInputs
        Those of all layers.
    choices : sequence of integer arrays, shape (2, n_gates_of_layer) each
        The place of the chosen candidate, from 0: pin a of all gates, then pin b.

    Examples
    --------
    >>> from gatewise.wiring import RandomCandidates
    >>> wiring = LearnedWiring(RandomCandidates(3), choices=[[[0, 2], [1, 1]]])
    >>> a, b = wiring(7, 0, in_features=6, out_features=2)
    >>> found = wiring.candidates(7, 0, in_features=6, out_features=2)
    >>> a.tolist() == [found[0, 0, 0], found[0, 1, 2]], b.tolist() == found[1, :, 1].tolist()
    (True, True)
    """

    candidates: SeededCandidates
    choices: Sequence[Places]

    def __post_init__(self) -> None:
        if not isinstance(self.candidates, SeededCandidates):
            kinds = "RandomCandidates, NearbyCandidates or AllInputs"
            raise TypeError(f"candidates must be {kinds}, got {type(self.candidates).__name__}")
        choices = tuple(_as_choices(f"choices[{i}]", layer) for i, layer in enumerate(self.choices))
        object.__setattr__(self, "choices", choices)

    def __call__(self, seed: int, layer: int, *, in_features: int, out_features: int) -> Operands:
        """Operands of a layer's gates, int32 arrays of shape (out_features,); see `random_wiring`."""
        self.check_layer(layer, in_features, out_features)
        a, b = self.candidates.choose(seed, layer, self.choices[layer], in_features=in_features)
        return a, b

    def check(self, n_inputs: int, widths: Sequence[int]) -> None:
        """Raise ValueError unless layers of these widths, the first of which reads the inputs, have these choices.

        Examples
        --------
        >>> from gatewise.wiring import RandomCandidates
        >>> LearnedWiring(RandomCandidates(3), choices=[[[0, 2], [1, 1]]]).check(6, [2])
        """
        if len(self.choices) != len(widths):
            raise ValueError(f"choices must be those of {len(widths)} layers, got {len(self.choices)}")
        for layer, (n_wires, n_gates) in enumerate(zip([n_inputs, *widths], widths, strict=False)):
            self.check_layer(layer, n_wires, n_gates)

    def check_layer(self, layer: int, in_features: int, out_features: int) -> None:
        """Raise ValueError unless the choices of one layer fit its widths."""
        if not 0 <= layer < len(self.choices):
            raise ValueError(f"layer must be one of the {len(self.choices)} that have choices, got {layer}")
        choices = self.choices[layer]
        if choices.shape[1] != out_features:
            raise ValueError(f"choices[{layer}] must be those of {out_features} gates, got {choices.shape[1]}")
        k = self.candidates.count(layer, in_features)
        if choices.size and choices.max() >= k:
            raise ValueError(f"choices[{layer}] must be below {k}, the number of candidates, got {choices.max()}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LearnedWiring):
            return NotImplemented
        is_like = (self.candidates, len(self.choices)) == (other.candidates, len(other.choices))
        return is_like and all(map(np.array_equal, self.choices, other.choices))

    def __hash__(self) -> int:
        return hash((self.candidates, *(layer.tobytes() for layer in self.choices)))

    def __repr__(self) -> str:
        return f"LearnedWiring({self.candidates})"

    def __reduce__(self) -> tuple[type["LearnedWiring"], tuple[object, ...]]:
        # Through the constructor, so that the arrays of copies are as frozen as the original's.
        return LearnedWiring, (self.candidates, self.choices)


def _as_choices(name: str, values: NDArray[np.int32]) -> Places:
    """A read-only copy of one layer's choices."""
    array = np.asarray(values)
    if array.ndim != 2 or len(array) != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers of shape (2, n_gates), got shape {array.shape} of {array.dtype}")
    if array.size and not (array.min() >= 0 and array.max() < MAX_CANDIDATES):
        raise ValueError(f"{name} must be in 0..{MAX_CANDIDATES - 1}, got {array.min()}..{array.max()}")
    frozen = array.astype(np.int32)
    frozen.flags.writeable = False
    return frozen
