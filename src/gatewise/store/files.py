"""Files and folders written all or nothing. In: a path and bytes. Out: what holds all of them, or what was there."""

import errno
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

OWN_FILES = "/proc/self/fd"  # where Linux shows the open files of the process


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file durably; on failure, or a kill at any moment, an older file of that name stays as it was.

    On Linux the new file has no name while it is written, so a kill leaves nothing of it behind.

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
    unnamed = _open_unnamed(target.parent)
    with _name_at_end(unnamed, target) if unnamed else _rename_at_end(target) as file:
        yield file
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
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "mine.txt").touch()
    ...     check_folder_replaceable(folder, ["x"])
    Traceback (most recent call last):
    ValueError: folder ... must be empty, hold only files of an earlier export, or not exist, got one with 'mine.txt'...
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


def _open_unnamed(folder: Path) -> BinaryIO | None:
    """A new file in a folder that vanishes with the process unless it gets a name; None if there are no such files."""
    flag = getattr(os, "O_TMPFILE", None)  # Linux only
    if flag is None or not os.path.isdir(OWN_FILES):
        return None
    try:
        return open(os.open(folder, flag | os.O_WRONLY, 0o666), "wb")
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):  # of file systems and kernels without it
            return None
        raise


@contextmanager
def _name_at_end(file: BinaryIO, target: Path) -> Iterator[BinaryIO]:
    """A file without a name, to be written; then it becomes `target`."""
    with file:
        yield file
        _flush(file)
        unnamed = f"{OWN_FILES}/{file.fileno()}"
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            # With a folder, Python calls linkat and lets it follow the link that stands for the open file.
            os.link(unnamed, target, src_dir_fd=folder)
        except FileExistsError:
            # Nothing can be linked over a file, but a name can be moved over it.
            temporary = _name_beside(target)
            os.link(unnamed, temporary, src_dir_fd=folder)
            _replace(temporary, target)
        finally:
            os.close(folder)


@contextmanager
def _rename_at_end(target: Path) -> Iterator[BinaryIO]:
    """A file with a name of its own, to be written; then it becomes `target`. A kill leaves it behind."""
    temporary = _name_beside(target)
    try:
        with open(temporary, "xb") as file:
            yield file
            _flush(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _replace(temporary, target)


def _replace(temporary: Path, target: Path) -> None:
    try:
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _name_beside(target: Path) -> Path:
    return target.parent / f".gatewise-{os.urandom(8).hex()}.tmp"


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
