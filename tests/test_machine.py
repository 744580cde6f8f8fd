"""machine: what is said of the processor, its targets and its threads."""

import platform
from pathlib import Path

import pytest

from gatewise import machine

INFO = """processor\t: 0
cpu family\t: 25
model\t\t: 17
model name\t: AMD EPYC

processor\t: 1
model name\t: another
"""


@pytest.mark.parametrize(
    ("info", "name"),
    [
        (INFO, "AMD EPYC (family 25, model 17)"),
        (INFO.replace("cpu family", "family"), "AMD EPYC"),
        ("Hardware\t: board\n", platform.processor() or platform.machine()),
        (None, platform.processor() or platform.machine()),
    ],
)
def test_cpu_name(info: str | None, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cpuinfo"
    if info is not None:
        path.write_text(info)
    monkeypatch.setattr(machine, "CPU_INFO", path)
    assert machine.cpu_name() == name


def test_targets_end_with_the_one_that_always_runs() -> None:
    assert machine.TARGETS[-1] == "portable"
    assert set(machine.TARGETS) <= {"avx512", "avx2", "neon", "portable"}
    assert len(set(machine.TARGETS)) == len(machine.TARGETS)


@pytest.mark.parametrize("threads", [1, 256])
def test_pools_have_so_many_threads(threads: int) -> None:
    assert machine.make_pool(threads).threads == threads


@pytest.mark.parametrize("threads", [0, -1, 257, 1.0, "2", True])
def test_other_numbers_of_threads_are_refused(threads: object) -> None:
    with pytest.raises(ValueError, match=r"threads must be an integer in 1\.\.256, got "):
        machine.make_pool(threads)  # type: ignore[arg-type]
