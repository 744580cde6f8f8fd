"""Every measured number of the pages comes from a record, and every record from a clean commit of this history."""

import importlib.util
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks import records
from benchmarks.all import STEPS, Step, find_missing
from benchmarks.numbers.__main__ import PAGES, RESULTS
from benchmarks.numbers.markers import fill, misplaced, names, unmarked_numbers
from benchmarks.numbers.text import duration, number, span
from benchmarks.numbers.values import RENDERERS, value_of
from benchmarks.process import REPOSITORY
from experiments.report import table
from experiments.report.records import latest, read

FILES = sorted(records.RESULTS.glob("*.json"))
EXPERIMENTS = list(read())
NOT_MEASURED = {  # numbers with a unit that no benchmark makes, and why none has to
    "340 MB": "the download of CUDA's compiler, as its index states it",
    "5.9 MB": "arithmetic: 60,000 times 784 bits",
    "125 MB": "arithmetic: a million times 1,000 bits",
    "2.4 GB": "arithmetic: ten million times 1,920 bits",
    "300 KB": "a limit that report/collect.py sets",
}


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", str(REPOSITORY), *arguments], capture_output=True, text=True)


def require_history() -> None:
    """Skip without the commits that records name: in an archive, or in a shallow clone."""
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("this checkout has no history, or a part of it only")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_say_what_the_records_say(page: Path) -> None:
    text = page.read_text()
    assert text == fill(text, value_of), "run python -m benchmarks.numbers --write"


def test_the_table_of_experiments_is_made_of_their_records() -> None:
    assert RESULTS.read_text() == table.render(latest()), "run python -m benchmarks.numbers --write"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_measured_numbers_are_marked(page: Path) -> None:
    text = page.read_text()
    found = [each for each in unmarked_numbers(text) if each.partition(" in ")[0] not in NOT_MEASURED]
    assert not found, "mark them as benchmarks/numbers says, or leave them out"
    assert not list(misplaced(text)), "an inline marker must not begin a line"


def test_exceptions_are_still_needed() -> None:
    found = {each.partition(" in ")[0] for page in PAGES for each in unmarked_numbers(page.read_text())}
    assert found == set(NOT_MEASURED)


def test_every_record_is_shown() -> None:
    shown = {name.partition("/")[0] for page in PAGES for name in names(page.read_text())}
    assert {file.stem for file in FILES} <= set(RENDERERS) <= shown


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_benchmarks_have_their_origin(file: Path) -> None:
    check_origin(records.read(file.stem))


@pytest.mark.parametrize("i", range(len(EXPERIMENTS)), ids=lambda i: f"{EXPERIMENTS[i]['name']}-{i}")
def test_experiments_have_their_origin(i: int) -> None:
    record = EXPERIMENTS[i]
    if "changed" in record:
        check_origin(record)
    else:
        check_old_origin(i)


def check_origin(record: dict[str, Any]) -> None:
    """Command, machine, date and a clean commit of this history."""
    assert record["command"].startswith("python -m ")
    assert record["date"]
    assert record["machine"]["cpu"]
    assert record["machine"]["versions"]["numpy"]
    assert record["idle"].keys() == {"load_average", "busy"}
    assert record["changed"] == []
    require_history()
    assert git("merge-base", "--is-ancestor", record["commit"], "HEAD").returncode == 0


def check_old_origin(i: int) -> None:
    """Records that were made before "changed" told what differs from the commit.

    Each of them made the next one's tree differ, so those but the first of a commit are called dirty: they must follow
    a record of the same commit.
    """
    record = EXPERIMENTS[i]
    commit, _, dirty = record["machine"]["commit"].partition("-")
    assert record["command"].startswith("python -m experiments ")
    if dirty:
        assert EXPERIMENTS[i - 1]["machine"]["commit"].partition("-")[0] == commit
    require_history()
    assert git("merge-base", "--is-ancestor", commit, "HEAD").returncode == 0


def test_a_record_is_refused_while_sources_are_not_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "changed_sources", lambda: ["src/gatewise/gates.py"])
    monkeypatch.setattr(records, "measure_busy", lambda: 0.0)
    monkeypatch.setattr(records, "_git", lambda *arguments: "a" * 40)
    with pytest.raises(SystemExit, match=r"sources must be committed.*got changes in src/gatewise/gates.py"):
        records.start(recording=True)
    marked = records.start(recording=True, allow_dirty=True)
    assert marked["changed"] == ["src/gatewise/gates.py"]
    assert not records.is_current(marked)
    assert records.start(recording=False)["commit"] == "a" * 40


def test_a_busy_machine_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(records, "measure_busy", lambda: 0.5)
    monkeypatch.setattr(records, "changed_sources", list)
    monkeypatch.setattr(records, "_git", lambda *arguments: "a" * 40)
    assert records.start(recording=True)["idle"]["busy"] == 0.5
    assert "other processes take 50% of the cores' time" in capsys.readouterr().err


def test_commands_name_no_places() -> None:
    words = ["/usr/bin/python3", "-X", "dev", "-m", "experiments", "adult", "--data", "/data", "--seeds", "2"]
    assert records.describe_command(words) == "python -m experiments adult --seeds 2"


def test_only_what_is_marked_is_filled() -> None:
    text = "a <!--infer/packed-->1 ns<!--end--> b\n\n<!--infer/table-->\n| old |\n<!--end-->\n"
    filled = fill(text, lambda name: f"[{name}]")
    assert (
        filled == "a <!--infer/packed-->[infer/packed]<!--end--> b\n\n<!--infer/table-->\n[infer/table]\n<!--end-->\n"
    )
    assert names(text) == ["infer/packed", "infer/table"]


def test_markers_must_name_a_record() -> None:
    with pytest.raises(KeyError, match="a marker must name a record"):
        value_of("somewhere/else")
    with pytest.raises(KeyError):
        value_of("infer/nothing")


@pytest.mark.parametrize(
    "text",
    [
        "95 ns",
        "1,248.5 µs",
        "3.7 GHz",
        "54–149 s",
        "9.3×",
        "98.39 ± 0.08 %",
        "26 MB",
        "1.4 to 1.9 times",
        "2.9 million",
    ],
)
def test_measured_numbers_are_found(text: str) -> None:
    assert [each.partition(" in ")[0] for each in unmarked_numbers(f"It is {text} here.")] == [text]
    assert not list(unmarked_numbers(f"It is <!--infer/packed-->{text}<!--end--> here."))
    assert not list(unmarked_numbers(f"```text\n{text}\n```\n"))


@pytest.mark.parametrize("text", ["6×8,000 gates", "60,000 rows", "Python 3.11", "2.5-fold", "gcc 12.2", "0..s−1"])
def test_other_numbers_are_not(text: str) -> None:
    assert not list(unmarked_numbers(f"It is {text} here."))


def test_inline_markers_do_not_begin_a_line() -> None:
    assert list(misplaced("a\n<!--infer/packed-->1<!--end--> b")) == ["infer/packed"]
    assert not list(misplaced("a <!--infer/packed-->1<!--end--> b\n\n<!--infer/table-->\n|\n<!--end-->\n"))


def test_numbers_are_rounded() -> None:
    assert [number(x) for x in (0.0349, 0.7, 6.25, 9.96, 94.9, 10_773.4)] == [
        "0.035",
        "0.70",
        "6.2",
        "10",
        "95",
        "10,773",
    ]
    assert [duration(x) for x in (0.001, 0.0172, 0.161, 5.09, 148.9)] == ["1.0 ms", "17 ms", "0.16 s", "5.1 s", "149 s"]
    assert span([3.0, 1.25, 2.0], " to ") == "1.2 to 3.0"


def test_every_shown_benchmark_is_a_step_of_all() -> None:
    makers = {step.name: step.words.split()[0] for step in STEPS}
    assert makers.keys() == RENDERERS.keys() | {"model"}
    for module in makers.values():
        assert importlib.util.find_spec(module) is not None


def test_records_are_current_until_sources_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_history()
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    step = Step("infer", "benchmarks.infer --record", 1)
    assert not step.is_done()
    first = git("rev-list", "--max-parents=0", "HEAD").stdout.split()[0]
    records.write("infer", {"commit": first, "changed": []}, {"nets": []})
    assert records.read("infer")["nets"] == []
    assert not step.is_done()  # sources have changed since the first commit
    records.write(
        "infer", {"commit": git("rev-parse", "HEAD").stdout.strip(), "changed": records.changed_sources()}, {}
    )
    assert step.is_done() == (records.changed_sources() == [])


def test_what_benchmarks_need_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "changed_sources", list)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("GATEWISE_DATA", raising=False)
    missing = list(find_missing())
    assert "program node: see .ci/run" in missing
    assert "data: set GATEWISE_DATA to the folder of the data sets" in missing
