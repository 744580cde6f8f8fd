"""Files written all or nothing. In: a path and bytes. Out: a file that holds all of them, or the older one."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


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
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write piece by piece, which takes the place of `path` when the block ends without an exception.

    Parameters
    ----------
    path : path
        A link is followed. What is no ordinary file, as a pipe or a device, is written to directly.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/x") as file:
    ...         n = file.write(b"con") + file.write(b"tent")
    ...     Path(f"{folder}/x").read_bytes()
    b'content'
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    temporary = _name_beside(target)
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Raise OSError now if a file of that name could not be written later.

    Examples
    --------
    >>> check_replaceable("no/such/folder/x")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'no/such/folder/x'
    """
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if os.path.exists(path) and not os.path.isfile(path):
        return
    temporary = _name_beside(Path(os.path.realpath(path)))
    try:
        open(temporary, "xb").close()
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
    temporary.unlink()


def _name_beside(target: Path) -> Path:
    return target.parent / f".gatewise-{secrets.token_hex(8)}.tmp"


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
