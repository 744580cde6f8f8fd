"""The circuits and rows that the benchmarks run: layer arrays from a size, a kind and a seed.

In: a `Size` and "random" or "biased". Out: a `Net`, which saves to and loads from .npz. Numpy only, because
the peers' runners import this file in environments of their own.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PASS_THROUGH = (3, 5)  # the gates A and B
PASS_THROUGH_SHARE = 0.35  # what training leaves, about
KINDS = ("random", "biased")


@dataclass(frozen=True)
class Size:
    """Shape of a net, and how many rows it is timed with at most."""

    n_inputs: int
    n_layers: int
    width: int
    n_groups: int
    max_rows: int = 2**20

    @property
    def n_gates(self) -> int:
        return self.n_layers * self.width


# The paper's architectures; the large CIFAR nets read 31 thresholds per channel, the others 3.
SIZES = {
    "adult": Size(116, 5, 256, 2),
    "mnist-small": Size(784, 6, 8_000, 10),
    "cifar-small": Size(9_216, 4, 12_000, 10),
    "mnist-normal": Size(784, 6, 64_000, 10),
    "cifar-medium": Size(9_216, 4, 128_000, 10, max_rows=16_384),
    "cifar-large": Size(95_232, 5, 256_000, 10, max_rows=4_096),
    "cifar-large-x4": Size(95_232, 5, 1_024_000, 10, max_rows=4_096),
}


@dataclass(frozen=True, eq=False)
class Net:
    """Straight layers of gates as arrays of shape (n_layers, width); operands index the layer before."""

    n_inputs: int
    n_groups: int
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    gate: NDArray[np.uint8]

    @property
    def n_gates(self) -> int:
        return self.gate.size

    @property
    def key(self) -> str:
        """Hash of the content: names the net's compiled libraries."""
        digest = hashlib.sha256(f"{self.n_inputs} {self.n_groups} {self.gate.shape}".encode())
        for array in (self.a, self.b, self.gate):
            digest.update(array.tobytes())
        return digest.hexdigest()[:16]

    def layers(self) -> list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]]:
        """The layers as (a, b, gate)."""
        return list(zip(self.a, self.b, self.gate, strict=True))

    def save(self, path: Path) -> None:
        """Write the net as .npz."""
        np.savez(path, shape=[self.n_inputs, self.n_groups], a=self.a, b=self.b, gate=self.gate)

    @classmethod
    def load(cls, path: Path) -> "Net":
        """Read what `save` wrote."""
        with np.load(path) as data:
            n_inputs, n_groups = data["shape"].tolist()
            return cls(n_inputs, n_groups, data["a"], data["b"], data["gate"])


def make_net(size: Size, kind: str, *, seed: int = 0) -> Net:
    """A net with random wiring, every wire of a layer read about equally often."""
    rng = np.random.default_rng(seed)
    shape = (size.n_layers, size.width)
    pins = np.empty((2, *shape), np.int32)
    for layer_idx in range(size.n_layers):
        n_wires = size.width if layer_idx else size.n_inputs
        pins[:, layer_idx] = (rng.permutation(2 * size.width) % n_wires).reshape(2, -1)
    return Net(size.n_inputs, size.n_groups, pins[0], pins[1], _draw_gates(rng, shape, kind))


def make_rows(net: Net, n_rows: int, *, seed: int = 1) -> NDArray[np.bool_]:
    """Uniformly random input rows, shape (n_rows, n_inputs)."""
    packed = np.random.default_rng(seed).bytes(n_rows * -(-net.n_inputs // 8))
    bits = np.frombuffer(packed, np.uint8).reshape(n_rows, -1)
    return np.unpackbits(bits, axis=1, count=net.n_inputs).view(np.bool_)


def _draw_gates(rng: np.random.Generator, shape: tuple[int, int], kind: str) -> NDArray[np.uint8]:
    if kind == "random":
        return rng.integers(16, size=shape, dtype=np.uint8)
    if kind == "biased":
        others = np.setdiff1d(np.arange(16), PASS_THROUGH)
        passing = rng.random(shape) < PASS_THROUGH_SHARE
        gates = np.where(passing, rng.choice(PASS_THROUGH, shape), rng.choice(others, shape))
        return gates.astype(np.uint8)
    raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
