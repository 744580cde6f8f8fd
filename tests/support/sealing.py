"""The `.gw` container written a second time, from its documentation: seals anything, valid or not."""

import hashlib
import json


def seal(tensors, document, header_change=None, **metadata_change):
    """Container of byte strings by name and a document text, with a matching checksum.

    `header_change` and `metadata_change` are applied last, so they can break the container.
    """
    items = [document.encode("utf-8", "surrogatepass")]
    header, at = {}, 0
    for name, data in sorted(tensors.items()):
        items += [f"{name}:U8:[{len(data)}]".encode(), data]
        header[name] = {"dtype": "U8", "shape": [len(data)], "data_offsets": [at, at + len(data)]}
        at += len(data)
    digest = hashlib.sha256(b"".join(len(item).to_bytes(8, "little") + item for item in items))
    metadata = {"format": "gatewise", "version": "1", "document": document, "sha256": digest.hexdigest()}
    header = {"__metadata__": metadata | metadata_change} | header | (header_change or {})
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(tensors[name] for name in sorted(tensors))


def unseal(data):
    """Tensors as byte strings, and the document text, of a valid container."""
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    document = header.pop("__metadata__")["document"]
    spans = {name: entry["data_offsets"] for name, entry in header.items()}
    return {name: data[start + first : start + end] for name, (first, end) in spans.items()}, document
