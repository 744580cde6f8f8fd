"""Compact coding of integer arrays and gate ids: what the `.gw` file stores instead of plain arrays.

In: int32 values, gate ids 0..15, or choices of known widths. Out: a uint8 array, and back again, exactly.
Invariant: every integer and id takes at least one bit, so unpacking never gives more than 8 of them per stored byte;
choices number at most two for each id. `docs/format.md` specifies the codes.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FRAME = 128
CHUNK = 512  # frames unpacked at a time: bounds the working memory
HEAD_BYTES = 1 + 4  # of a stream: its order and its start
FRAME_HEAD_BYTES = 1 + 4  # its width and its base
MAX_WIDTH = 32

Bytes = NDArray[np.uint8]


def pack_integers(values: NDArray[np.int32]) -> Bytes:
    """Code integers in few bits: good when neighbors, or their differences, are alike.

    Parameters
    ----------
    values : int32 array, shape (n,)

    Returns
    -------
    uint8 array
        The shorter of the two orders.

    Examples
    --------
    >>> packed = pack_integers(np.arange(1000, 2000, dtype=np.int32))
    >>> len(packed), unpack_integers(packed, 1000)[-1].item()
    (170, 1999)
    """
    words = values.astype(np.int32, casting="safe").view(np.uint32)
    plain = _pack(0, 0, words)
    steps = _pack(1, int(words[0]), np.diff(words, prepend=words[:1])) if len(words) else plain
    return plain if len(plain) <= len(steps) else steps


def unpack_integers(packed: Bytes, n_values: int) -> NDArray[np.int32]:
    """Inverse of `pack_integers`; raises ValueError unless `packed` holds exactly `n_values` integers.

    Parameters
    ----------
    packed : uint8 array
    n_values : int

    Returns
    -------
    int32 array, shape (n_values,)
    """
    n_frames = -(-n_values // FRAME)
    frames_at = HEAD_BYTES + FRAME_HEAD_BYTES * n_frames
    if len(packed) < frames_at or packed[0] > 1:
        raise ValueError(f"packed integers must start with order 0 or 1 and the heads of {n_frames} frames")
    widths = packed[HEAD_BYTES : HEAD_BYTES + n_frames]
    if n_frames and not (widths.min() >= 1 and widths.max() <= MAX_WIDTH):
        raise ValueError(f"frame widths must be in 1..{MAX_WIDTH}, got {widths.min()}..{widths.max()}")
    ends = frames_at + np.cumsum(_frame_bytes(widths, n_values))
    n_expected = int(ends[-1]) if n_frames else frames_at
    if len(packed) != n_expected:
        raise ValueError(f"{n_values} packed integers must take {n_expected} bytes, got {len(packed)}")
    start = packed[1:HEAD_BYTES].view("<u4")
    bases = packed[HEAD_BYTES + n_frames : frames_at].view("<u4")
    words = np.empty((n_frames, FRAME), np.uint32)
    at = frames_at
    for first in range(0, n_frames, CHUNK):
        chunk = slice(first, min(first + CHUNK, n_frames))
        end = int(ends[chunk.stop - 1])
        words[chunk] = _unpack_frames(packed[at:end], widths[chunk]) + bases[chunk, None]
        at = end
    flat = words.reshape(-1)[:n_values]
    if packed[0] == 1:
        np.cumsum(flat, dtype=np.uint32, out=flat)
    flat += start
    return flat.view(np.int32)


def pack_nibbles(gate: NDArray[np.uint8]) -> Bytes:
    """Two gate ids per byte, the first in the low half; an odd last one is paired with 0.

    Parameters
    ----------
    gate : uint8 array, shape (n,)
        Values 0..15.

    Returns
    -------
    uint8 array, shape (ceil(n / 2),)

    Examples
    --------
    >>> pack_nibbles(np.array([1, 2, 15], np.uint8)).tolist()
    [33, 15]
    """
    pairs = np.append(gate, np.zeros(len(gate) % 2, np.uint8)).reshape(-1, 2)
    return pairs[:, 0] | pairs[:, 1] << np.uint8(4)


def unpack_nibbles(packed: Bytes, n_values: int) -> NDArray[np.uint8]:
    """Inverse of `pack_nibbles`; raises ValueError unless `packed` holds exactly `n_values` ids.

    Parameters
    ----------
    packed : uint8 array, shape (ceil(n_values / 2),)
    n_values : int

    Returns
    -------
    uint8 array, shape (n_values,)
    """
    if len(packed) != (n_values + 1) // 2:
        raise ValueError(f"{n_values} gates must take {(n_values + 1) // 2} bytes, got {len(packed)}")
    if n_values % 2 and packed[-1] >> 4:
        raise ValueError(f"the unused half of the last gate byte must be 0, got {packed[-1] >> 4}")
    return np.stack([packed & 15, packed >> 4], axis=1).reshape(-1)[:n_values]


def pack_bits(parts: Sequence[NDArray[np.int32]], widths: Sequence[int]) -> Bytes:
    """The values of each part in as many bits as its width says, without a gap; bits fill bytes from the lowest on.

    Parameters
    ----------
    parts : int32 arrays, one-dimensional
        Values from 0 up to, not including, ``2**width``.
    widths : of each part, 0..31

    Returns
    -------
    uint8 array

    Examples
    --------
    >>> pack_bits([np.array([1, 2, 3], np.int32), np.array([7], np.int32)], [2, 3]).tolist()
    [249, 1]
    """
    bits = [np.empty((len(part), width), np.uint8) for part, width in zip(parts, widths, strict=True)]
    for part, each in zip(parts, bits, strict=True):
        for place in range(each.shape[1]):
            each[:, place] = part >> place & 1
    return np.packbits(np.concatenate([each.reshape(-1) for each in bits]), bitorder="little")


def unpack_bits(packed: Bytes, sizes: Sequence[int], widths: Sequence[int]) -> list[NDArray[np.int32]]:
    """Inverse of `pack_bits`; raises ValueError unless `packed` holds exactly parts of these sizes and widths.

    Parameters
    ----------
    packed : uint8 array
    sizes, widths : of each part

    Returns
    -------
    int32 arrays, one-dimensional
    """
    n_bits = sum(size * width for size, width in zip(sizes, widths, strict=True))
    if len(packed) != -(-n_bits // 8):
        raise ValueError(f"{sum(sizes)} choices must take {-(-n_bits // 8)} bytes, got {len(packed)}")
    if n_bits % 8 and packed[-1] >> n_bits % 8:
        raise ValueError(f"the unused bits of the last byte of choices must be 0, got {packed[-1] >> n_bits % 8}")
    bits = np.unpackbits(packed, count=n_bits, bitorder="little")
    parts, at = [], 0
    for size, width in zip(sizes, widths, strict=True):
        part = np.zeros(size, np.int32)
        for place, each in enumerate(bits[at : at + size * width].reshape(size, width).T):
            part |= each.astype(np.int32) << place
        parts.append(part)
        at += size * width
    return parts


def _frame_bytes(widths: Bytes, n_values: int) -> NDArray[np.int64]:
    """Stored length of each frame; only the last one may be cut short."""
    n_bytes = widths.astype(np.int64) * (FRAME // 8)
    if len(widths):
        n_last = n_values - FRAME * (len(widths) - 1)
        n_bytes[-1] = -(-n_last * int(widths[-1]) // 8)
    return n_bytes


def _pack(order: int, start: int, words: NDArray[np.uint32]) -> Bytes:
    n_frames = -(-len(words) // FRAME)
    n_missing = n_frames * FRAME - len(words)
    frames = np.append(words, np.repeat(words[-1:], n_missing)).reshape(n_frames, FRAME)
    # Signed minima: the differences of a falling sequence are small negative numbers, not large ones.
    bases = frames.view(np.int32).min(axis=1).view(np.uint32)
    offsets = frames - bases[:, None]
    widths = np.frexp(offsets.max(axis=1).astype(np.float64))[1].clip(1).astype(np.uint8)
    chunks = [slice(first, first + CHUNK) for first in range(0, n_frames, CHUNK)]
    payload = b"".join(_pack_frames(offsets[chunk], widths[chunk]).tobytes() for chunk in chunks)
    n_payload = int(_frame_bytes(widths, len(words)).sum())
    head = order.to_bytes(1, "little") + start.to_bytes(4, "little")
    stream = head + widths.tobytes() + bases.astype("<u4").tobytes() + payload[:n_payload]
    return np.frombuffer(stream, np.uint8)


def _pack_frames(offsets: NDArray[np.uint32], widths: Bytes) -> Bytes:
    """The low ``widths[i]`` bits of every number of frame i, frame after frame."""
    n_bytes = widths.astype(np.int64) * (FRAME // 8)
    starts = np.cumsum(n_bytes) - n_bytes
    payload = np.empty(int(n_bytes.sum()), np.uint8)
    for width in np.unique(widths).tolist():
        frames = np.flatnonzero(widths == width)
        bits = np.unpackbits(offsets[frames].astype("<u4").view(np.uint8), bitorder="little")
        kept = bits.reshape(len(frames), FRAME, MAX_WIDTH)[:, :, :width].reshape(len(frames), -1)
        payload[_spans(starts[frames], width)] = np.packbits(kept, axis=1, bitorder="little")
    return payload


def _unpack_frames(payload: Bytes, widths: Bytes) -> NDArray[np.uint32]:
    """Inverse of `_pack_frames`, shape (n_frames, FRAME); where the payload is cut short it reads zeros."""
    n_bytes = widths.astype(np.int64) * (FRAME // 8)
    starts = np.cumsum(n_bytes) - n_bytes
    full = np.zeros(int(n_bytes.sum()), np.uint8)
    full[: len(payload)] = payload
    offsets = np.empty((len(widths), FRAME), np.uint32)
    for width in np.unique(widths).tolist():
        frames = np.flatnonzero(widths == width)
        stored = np.unpackbits(full[_spans(starts[frames], width)], axis=1, bitorder="little")
        bits = np.zeros((len(frames), FRAME, MAX_WIDTH), np.uint8)
        bits[:, :, :width] = stored.reshape(len(frames), FRAME, width)
        offsets[frames] = np.packbits(bits, axis=2, bitorder="little").view("<u4")[:, :, 0]
    return offsets


def _spans(starts: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Byte positions of frames of one width, shape (n_frames, FRAME * width / 8)."""
    return starts[:, None] + np.arange(width * (FRAME // 8))
