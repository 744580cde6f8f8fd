"""The container of a `.gw` file: byte arrays and a JSON document in a safetensors file, sealed by a checksum.

In: tensors and a document. Out: bytes, and back again. Nothing in a file is ever executed or unpickled.
Invariant: what is read back has this version, a matching checksum and strict JSON; its meaning is unchecked.
`docs/format.md` specifies the container.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as read_tensors

FORMAT = "gatewise"
VERSION = "1"
RECOPY = "copy it again from where it was saved"

Tensors = dict[str, NDArray[np.uint8]]
Document = dict[str, Any]
Stored = tuple[Tensors, Document]
"""What stands for a thing in a file: its arrays, one-dimensional uint8, and what JSON can express of the rest."""

Restored = TypeVar("Restored")


class FileError(ValueError):
    """A file, or bytes, that gatewise cannot load."""


def write_container(tensors: Tensors, document: Document) -> bytes:
    """Seal tensors and a document into bytes that every safetensors reader opens.

    Parameters
    ----------
    tensors : dict of uint8 arrays, one-dimensional
    document : dict that JSON can express

    Examples
    --------
    >>> data = write_container({"x": np.array([1, 2], np.uint8)}, {"kind": "example"})
    >>> tensors, document = read_container(data)
    >>> tensors["x"].tolist(), document
    ([1, 2], {'kind': 'example'})
    """
    text = json.dumps(document, separators=(",", ":"))
    # The safetensors package writes metadata in random order, but equal circuits must give equal bytes.
    header: dict[str, object] = {
        "__metadata__": {
            "format": FORMAT,
            "version": VERSION,
            "document": text,
            "sha256": _checksum(tensors, text),
        }
    }
    at = 0
    for name, tensor in sorted(tensors.items()):
        header[name] = {"dtype": "U8", "shape": [len(tensor)], "data_offsets": [at, at + len(tensor)]}
        at += len(tensor)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    body = b"".join(tensors[name].tobytes() for name in sorted(tensors))
    return len(head).to_bytes(8, "little") + head + body


def read_container(data: bytes) -> Stored:
    """Inverse of `write_container`; raises ValueError unless the container is whole and of this version."""
    try:
        tensors = read_tensors(data)
    except (SafetensorError, ValueError, KeyError) as error:
        raise FileError(f"it has no safetensors container ({error!s:.200}); {RECOPY}, or pick another file") from error
    header = _parse_json(data[8 : 8 + int.from_bytes(data[:8], "little")].decode())
    metadata = header.get("__metadata__") or {}
    if metadata.get("format") != FORMAT:
        raise FileError("it is a safetensors file of another program; pick a file written by gatewise.save")
    if metadata.get("version") != VERSION:
        raise FileError(f"version must be {VERSION}, got {metadata.get('version')!r:.60}; upgrade gatewise to load it")
    check_names("metadata", metadata, {"format", "version", "document", "sha256"})
    for name, tensor in sorted(tensors.items()):
        if tensor.dtype != np.uint8 or tensor.ndim != 1:
            raise ValueError(f"tensor {name!r:.60} must be uint8 of one dimension, got {tensor.dtype} of {tensor.ndim}")
    if metadata["sha256"] != _checksum(tensors, metadata["document"]):
        raise ValueError("sha256 must match the content, got another one")
    return tensors, _parse_json(metadata["document"])


def open_container(data: bytes, source: str, restore: Callable[[Tensors, Document], Restored]) -> Restored:
    """What a container holds; the border where every error becomes a `FileError` that names its source.

    Parameters
    ----------
    data : bytes
    source : str
        What to call the data in errors.
    restore : function of tensors and document
        Raises ValueError if they are not valid.

    Examples
    --------
    >>> data = write_container({}, {"kind": "example"})
    >>> open_container(data, "data", lambda tensors, document: document["kind"])
    'example'
    """
    try:
        return restore(*read_container(data))
    except FileError as error:
        raise FileError(f"{source} is not a loadable gatewise file: {error}") from error
    except ValueError as error:
        raise FileError(f"{source} is not a valid gatewise file: {error}; {RECOPY}") from error
    except RecursionError:  # from the JSON parser, or from printing what it parsed
        reason = "its JSON must not be nested deeply"
        raise FileError(f"{source} is not a valid gatewise file: {reason}; {RECOPY}") from None


def check_names(what: str, found: Mapping[str, object], expected: set[str]) -> None:
    """Raise ValueError unless a mapping has exactly the expected keys.

    Examples
    --------
    >>> check_names("tensors", {"a": 1, "b": 2}, {"a", "b"})
    """
    missing, unknown = sorted(expected - found.keys()), sorted(found.keys() - expected)
    if missing:
        raise ValueError(f"{what} must have {', '.join(missing)}, got {sorted(found)!r:.200}")
    if unknown:
        raise FileError(f"{what} must have no {', '.join(unknown)!r:.200}; upgrade gatewise to load it")


def _checksum(tensors: Tensors, document: str) -> str:
    digest = hashlib.sha256()
    items = [document.encode()]
    for name, tensor in sorted(tensors.items()):
        items += [f"{name}:U8:[{len(tensor)}]".encode(), tensor.tobytes()]
    for item in items:
        digest.update(len(item).to_bytes(8, "little"))
        digest.update(item)
    return digest.hexdigest()


def _parse_json(text: str) -> dict[str, Any]:
    """A JSON object, strictly: no repeated keys, no NaN or Infinity."""
    parsed = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_reject_constant)
    if not isinstance(parsed, dict):
        raise ValueError(f"the JSON document must be an object, got {parsed!r:.60}")
    return parsed


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise ValueError(f"the keys of a JSON object must differ, got {[key for key, _ in pairs]!r:.200}")
    return unique


def _reject_constant(text: str) -> None:
    raise ValueError(f"the numbers of the JSON document must be finite, got {text}")
