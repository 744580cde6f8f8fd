"""Checkpoints: the whole state of a run in one file, replaced all or nothing.

In: tensors and a JSON document. Out: the same, or None before the first checkpoint. The file is a sealed container as
`.gw` files are: nothing in it is executed, and damage is noticed. Invariant: whenever the process is killed, the
folder holds the last complete checkpoint.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gatewise.store.container import FileError, read_container, write_container
from gatewise.store.files import replace_file

FILE_NAME = "training.gwt"
KIND = "training"
VERSION = 2
TYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.uint8)
}


class CheckpointError(OSError):
    """A checkpoint that cannot be written."""


@dataclass(frozen=True)
class Checkpoint:
    """Where a run keeps its state, and how often it writes it.

    Parameters
    ----------
    folder : path
        One folder per run. A run that finds its own state there goes on from it.
    every : int
        Steps between two checkpoints; at most so many are lost. The last state is always written.
    """

    folder: str | os.PathLike[str]
    every: int = 1000

    def __post_init__(self) -> None:
        if self.every < 1:
            raise ValueError(f"every must be at least 1, got {self.every}")

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self.folder) / FILE_NAME

    def probe(self, n_bytes: int) -> None:
        """Raise CheckpointError unless the folder takes another `n_bytes`; removes what killed runs have left."""
        folder = Path(self.folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for leftover in folder.glob(".gatewise-*.tmp"):
                leftover.unlink()
            with tempfile.TemporaryFile(dir=folder) as file:
                os.posix_fallocate(file.fileno(), 0, n_bytes)
        except OSError as error:
            room = f"be writable and have {n_bytes / 1e6:.1f} MB free"
            raise CheckpointError(f"checkpoint folder {folder} must {room}, got {error}") from error

    def write(self, data: bytes) -> None:
        """Replace the checkpoint; on failure the one before it stays."""
        try:
            replace_file(self.path, data)
        except OSError as error:
            raise CheckpointError(
                f"checkpoint folder {self.folder} must stay writable, got {error}; the last checkpoint in it is whole: "
                "make room and start again to go on from there"
            ) from error

    def read(self) -> bytes | None:
        """The content of the file, or None without one."""
        return self.path.read_bytes() if self.path.exists() else None


def store_state(tensors: dict[str, Tensor], document: dict[str, Any]) -> bytes:
    """Tensors and a JSON document as bytes.

    Examples
    --------
    >>> tensors, document = restore_state(store_state({"x": torch.ones(1, 2)}, {"step": 3}), "here")
    >>> tensors["x"].tolist(), document
    ([[1.0, 1.0]], {'step': 3})
    """
    arrays, kinds = {}, {}
    for name, tensor in tensors.items():
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        arrays[name] = flat.view(torch.uint8).numpy() if flat.numel() else np.zeros(0, np.uint8)
        kinds[name] = [str(tensor.dtype).removeprefix("torch."), list(tensor.shape)]
    return write_container(arrays, {"kind": KIND, "version": VERSION, "tensors": kinds, "state": document})


def restore_state(data: bytes, source: object) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Inverse of `store_state`; raises FileError for anything else."""
    try:
        arrays, document = read_container(data)
        if document.get("kind") != KIND:
            raise FileError(f"kind must be {KIND!r}, got {document.get('kind')!r:.60}")
        if document.get("version", 1) != VERSION:
            rule = f"version must be {VERSION}, the one that this gatewise writes"
            raise FileError(f"{rule}, got {document.get('version', 1)!r:.60}")
        tensors = {}
        for name, (dtype, shape) in document["tensors"].items():
            tensors[name] = torch.from_numpy(arrays[name].copy()).view(TYPES[dtype]).reshape(shape)
        return tensors, document["state"]
    except (ValueError, KeyError, TypeError, RuntimeError) as error:
        raise FileError(f"{source} is not a loadable checkpoint: {error}; delete it to start over") from error
