"""Files and folders written all or nothing. In: a path and bytes. Out: what holds all of them, or what was there."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
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


def replace_folder(path: str | os.PathLike[str], files: Mapping[str, bytes]) -> None:
    """Write a folder of files; on failure, an older folder of that name stays as it was.

    Parameters
    ----------
    path : path
        A folder that exists is replaced if it holds nothing but files of these names; else ValueError.
    files : dict of file name to bytes

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     replace_folder(f"{parent}/new", {"x": b"content"})
    ...     Path(f"{parent}/new/x").read_bytes()
    b'content'
    """
    target = Path(os.path.realpath(path))
    check_folder_replaceable(path, files)
    fresh, old = _name_beside(target), _name_beside(target)
    try:
        fresh.mkdir()
        for name, data in files.items():
            replace_file(fresh / name, data)
        if target.exists():
            os.replace(target, old)
        os.replace(fresh, target)
    except BaseException:
        if old.exists() and not target.exists():
            os.replace(old, target)
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    shutil.rmtree(old, ignore_errors=True)
    _sync_folder(target.parent)


def check_folder_replaceable(path: str | os.PathLike[str], names: Iterable[str]) -> None:
    """Raise ValueError or OSError now if a folder of files with these names could not be written later.

    Examples
    --------
    >>> check_folder_replaceable(".", ["x"])
    Traceback (most recent call last):
    ValueError: folder . must be empty, hold only files of an earlier export, or not exist, got one with '.ci'...
    """
    if os.path.isdir(path):
        others = sorted({entry.name for entry in os.scandir(path)} - set(names))
        if others:
            raise ValueError(
                f"folder {os.fspath(path)} must be empty, hold only files of an earlier export, or not exist, "
                f"got one with {others[0]!r:.80}; remove it or choose another name"
            )
    elif os.path.lexists(path):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), os.fspath(path))
    elif not os.path.isdir(Path(path).absolute().parent):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))


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
