"""Files written all or nothing. In: a path and bytes. Out: a file that holds all of them, or the older one."""

import os
import secrets
from pathlib import Path


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file durably; on failure, or a kill at any moment, an older file of that name stays as it was.

    Parameters
    ----------
    path : path
        A link is followed.
    data : bytes

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace_file(f"{folder}/x", b"content")
    ...     Path(f"{folder}/x").read_bytes()
    b'content'
    """
    target = Path(os.path.realpath(path))
    temporary = target.parent / f".gatewise-{secrets.token_hex(8)}.tmp"
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
