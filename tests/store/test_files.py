"""Files that are written all or nothing, whole and in pieces."""

import os
import threading
from pathlib import Path

import pytest

from gatewise.store import files
from gatewise.store.files import check_replaceable, replace_file, replace_folder, replacing


@pytest.fixture(autouse=True, params=["unnamed", "named"])
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With files that have no name until they are complete, and as on systems that have no such files."""
    if request.param == "named":
        monkeypatch.setattr(files, "OWN_FILES", "/no/such/folder")


def test_pieces(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"older")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"older"
        file.write(b"er")
    assert path.read_bytes() == b"newer"
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_older_file(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"older")

    def fail() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"older"
    assert os.listdir(tmp_path) == ["x"]


def test_links_are_followed_and_pipes_written_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("x")
    replace_file(tmp_path / "link", b"content")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "x").read_bytes() == b"content"
    os.mkfifo(tmp_path / "pipe")
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    check_replaceable(tmp_path / "pipe")
    replace_file(tmp_path / "pipe", b"through")
    reader.join()
    assert received == [b"through"]
    assert (tmp_path / "pipe").is_fifo()


def test_check_before_writing(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"older")
    check_replaceable(tmp_path / "x")
    check_replaceable(tmp_path / "y")
    assert os.listdir(tmp_path) == ["x"]
    for path, error in ((tmp_path / "no/y", FileNotFoundError), (tmp_path / "x/y", NotADirectoryError)):
        with pytest.raises(error) as caught:
            check_replaceable(path)
        assert caught.value.filename == str(path)
    with pytest.raises(IsADirectoryError):
        check_replaceable(tmp_path)


def test_folders_are_replaced_whole(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    replace_folder(folder, {"a": b"1", "b": b"2"})
    replace_folder(folder, {"a": b"3", "b": b"4", "c": b"5"})
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"a": b"3", "b": b"4", "c": b"5"}
    assert os.listdir(tmp_path) == ["out"]


def test_folders_with_other_files_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    replace_folder(folder, {"a": b"1", "mine": b"2"})
    with pytest.raises(ValueError, match=r"must be empty, hold only files of an earlier export, or not exist.*'mine'"):
        replace_folder(folder, {"a": b"3"})
    with pytest.raises(NotADirectoryError):
        replace_folder(folder / "a", {"x": b""})
    with pytest.raises(FileNotFoundError):
        replace_folder(tmp_path / "no" / "such", {"x": b""})
    assert (folder / "a").read_bytes() == b"1"


def test_a_folder_that_cannot_be_written_leaves_the_older_one(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    replace_folder(folder, {"a": b"1"})
    with pytest.raises(FileNotFoundError):
        replace_folder(folder, {"a": b"2", "no/such": b"3"})
    assert (folder / "a").read_bytes() == b"1"
    assert os.listdir(tmp_path) == ["out"]
