"""SeededCircuit: straight layers of gates whose wiring is computed from a seed.

In: gate ids per layer, and a seed. Out: the same circuit with its wiring written out, on demand.
Invariant: a ``SeededCircuit`` that exists can be expanded, and always expands to the same `Circuit`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gatewise.checks import MAX_SEED, as_integer
from gatewise.circuit import MAX_WIRES, N_CONSTANTS, Circuit
from gatewise.gates import FALSE, N_GATES, find_read_operands
from gatewise.wiring.butterfly import ButterflyWiring
from gatewise.wiring.layers import Wiring
from gatewise.wiring.learned import LearnedWiring
from gatewise.wiring.local import local_wiring
from gatewise.wiring.nearby import NearbyWiring
from gatewise.wiring.random import random_wiring
from gatewise.wiring.unique import unique_wiring

WIRINGS: dict[str, Wiring] = {"random": random_wiring, "unique": unique_wiring, "local": local_wiring}
"""The wirings that a `SeededCircuit`, and its file, calls by a name."""

ImageWiring = NearbyWiring | ButterflyWiring
"""Those that depend on the geometry of an image, too."""

AnyWiring: TypeAlias = str | ImageWiring | LearnedWiring
"""What a `SeededCircuit` can be wired by: a name among `WIRINGS`, or an object."""


@dataclass(frozen=True, eq=False)
class SeededCircuit:
    """A layered circuit in its smallest form: half a byte per gate, and one seed for all wires.

    If the wires were learned, then the seed gives the candidates, and each pin says which of them it reads.

    Layer ``i`` reads the layer before it, the first one the inputs, as one of the algorithms of `gatewise.wiring` says.
    The outputs are the last layer, in equal consecutive groups.

    Parameters
    ----------
    n_inputs : int
        At least 1.
    gates : sequence of uint8 arrays, shape (n_gates_of_layer,) each
        Gate ids 0..15; at least one layer, no layer empty.
    n_groups : int
        Must divide the width of the last layer.
    seed : int
        0..2**64 - 1.
    wiring : {"random", "unique", "local"}, NearbyWiring, ButterflyWiring or LearnedWiring
        The algorithm that turns the seed into wires; those of images fit images of `n_inputs` bits, the choices of a
        learned one fit the layers.

    Examples
    --------
    >>> seeded = SeededCircuit(4, gates=[[6, 6, 1], [7, 14]], n_groups=2, seed=1)
    >>> seeded
    SeededCircuit(n_inputs=4, layers=(3, 2), n_groups=2, seed=1, wiring='random')
    >>> seeded.expand()
    Circuit(n_inputs=4, n_gates=5, n_outputs=2, n_groups=2)
    """

    n_inputs: int
    gates: Sequence[NDArray[np.uint8]]
    n_groups: int
    seed: int
    wiring: AnyWiring = "random"

    def __post_init__(self) -> None:
        n_inputs = as_integer("n_inputs", self.n_inputs, 1, MAX_WIRES)
        gates = tuple(_as_gates(f"gates[{i}]", layer) for i, layer in enumerate(self.gates))
        if not gates:
            raise ValueError("gates must have at least one layer, got none")
        n_wires = N_CONSTANTS + n_inputs + sum(len(layer) for layer in gates)
        if n_wires > MAX_WIRES:
            raise ValueError(f"wires must number at most {MAX_WIRES}, got {n_wires}")
        n_groups = as_integer("n_groups", self.n_groups, 1, len(gates[-1]))
        if len(gates[-1]) % n_groups:
            raise ValueError(f"n_groups must divide the last layer's {len(gates[-1])} gates, got {n_groups}")
        _check_wiring(self.wiring, n_inputs, [len(layer) for layer in gates])
        object.__setattr__(self, "n_inputs", n_inputs)
        object.__setattr__(self, "gates", gates)
        object.__setattr__(self, "n_groups", n_groups)
        object.__setattr__(self, "seed", as_integer("seed", self.seed, 0, MAX_SEED))

    @property
    def n_gates(self) -> int:
        """Number of gates, all layers together."""
        return sum(len(layer) for layer in self.gates)

    def expand(self) -> Circuit:
        """The same circuit with every wire written out.

        Examples
        --------
        >>> print(SeededCircuit(2, gates=[[6]], n_groups=1, seed=0).expand().to_text())
        circuit 2 inputs, 1 gates, 1 outputs, 1 groups
        w4 = XOR w2 w3
        group 0: w4
        <BLANKLINE>
        """
        return Circuit.from_layers(self.n_inputs, self._wire_layers(), self.n_groups)

    def clear_unread(self) -> "SeededCircuit":
        """The same function, with nothing to store for what no output depends on, if the wires were learned.

        Gates that are not read become FALSE, and pins that their gate does not depend on choose their first candidate.
        A circuit whose wires all follow from the seed is returned as it is.

        Examples
        --------
        >>> from gatewise.wiring import AllInputs, LearnedWiring
        >>> wiring = LearnedWiring(AllInputs(), choices=[[[0, 1], [2, 2]], [[1], [1]]])
        >>> cleared = SeededCircuit(3, [[6, 12], [5]], n_groups=1, seed=0, wiring=wiring).clear_unread()
        >>> [gate.tolist() for gate in cleared.gates], [each.tolist() for each in cleared.wiring.choices]
        ([[0, 12], [5]], [[[0, 1], [0, 0]], [[0], [1]]])
        """
        if not isinstance(self.wiring, LearnedWiring):
            return self
        layers, gates, choices = self._wire_layers(), [], []
        is_read = np.ones(len(self.gates[-1]), np.bool_)
        for i in reversed(range(len(layers))):
            a, b, gate = layers[i]
            gates.append(np.where(is_read, gate, np.uint8(FALSE)))
            pins = find_read_operands(gates[-1])
            choices.append(np.where(pins, self.wiring.choices[i], 0))
            if i:  # whether an input is read does not matter
                is_read = np.zeros(len(self.gates[i - 1]), np.bool_)
                is_read[a[pins[0]]] = is_read[b[pins[1]]] = True
        wiring = LearnedWiring(self.wiring.candidates, choices[::-1])
        return SeededCircuit(self.n_inputs, gates[::-1], self.n_groups, self.seed, wiring)

    def _wire_layers(self) -> list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]]:
        """Operands a and b, and ids, of the gates of each layer."""
        wire: Wiring = WIRINGS[self.wiring] if isinstance(self.wiring, str) else self.wiring
        layers, width = [], self.n_inputs
        for i, gate in enumerate(self.gates):
            layers.append((*wire(self.seed, i, in_features=width, out_features=len(gate)), gate))
            width = len(gate)
        return layers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SeededCircuit):
            return NotImplemented
        return self._scalars() == other._scalars() and all(map(np.array_equal, self.gates, other.gates))

    def __hash__(self) -> int:
        return hash((self._scalars(), *(layer.tobytes() for layer in self.gates)))

    def __repr__(self) -> str:
        widths = tuple(len(layer) for layer in self.gates)
        shown = widths if len(widths) <= 8 else f"{len(widths)} layers, {self.n_gates} gates"
        size = f"n_inputs={self.n_inputs}, layers={shown}, n_groups={self.n_groups}"
        return f"SeededCircuit({size}, seed={self.seed}, wiring={self.wiring!r})"

    def __reduce__(self) -> tuple[type["SeededCircuit"], tuple[object, ...]]:
        # Through the constructor, so that copies are as valid, and their arrays as frozen, as the original's.
        return SeededCircuit, (self.n_inputs, self.gates, self.n_groups, self.seed, self.wiring)

    def _scalars(self) -> tuple[int, int, int, int, AnyWiring]:
        return self.n_inputs, len(self.gates), self.n_groups, self.seed, self.wiring


def _check_wiring(wiring: object, n_inputs: int, widths: Sequence[int]) -> None:
    if isinstance(wiring, ImageWiring):
        if wiring.n_inputs != n_inputs:
            raise ValueError(f"n_inputs must be {wiring.n_inputs} for {wiring}, got {n_inputs}")
    elif isinstance(wiring, LearnedWiring):
        wiring.check(n_inputs, widths)
    elif not isinstance(wiring, str) or wiring not in WIRINGS:
        kinds = f"{', '.join(WIRINGS)}, a wiring of images or a learned one"
        raise ValueError(f"wiring must be one of {kinds}, got {wiring!r:.60}")


def _as_gates(name: str, values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A read-only copy of one layer's gate ids."""
    array = np.asarray(values)
    if array.ndim != 1 or not array.size or array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold at least one gate id, got shape {array.shape} of {array.dtype}")
    if array.min() < 0 or array.max() >= N_GATES:
        at = int(np.argmax((array < 0) | (array >= N_GATES)))
        raise ValueError(f"{name}[{at}] must be in 0..{N_GATES - 1}, got {array[at]}")
    frozen = array.astype(np.uint8)
    frozen.flags.writeable = False
    return frozen
