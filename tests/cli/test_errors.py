"""The command line and files that are not as they should be: one sentence, exit code 2, nothing written."""

import re
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from support.cli_files import FEATURES, Folder, build, call_fails, read_csv

from gatewise import Encoder, Model
from gatewise.cli import main
from gatewise.cli.commands import predict
from gatewise.cli.entry import COMMANDS, make_parser
from gatewise.encode import Categorical, Numeric
from gatewise.heads import Affine

HEADER = ",".join(FEATURES)


def test_columns(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    folder.write("few.csv", "age,work\n1,private\n")
    message = call_fails(capsys, "predict", "classes.gw", "few.csv")
    assert message.endswith("few.csv must have a column 'is new', 'zone', got age, work")
    folder.write("twice.csv", f"{HEADER},age\n1,private,true,2,3\n")
    assert "must have one column 'age', got 2" in call_fails(capsys, "predict", "classes.gw", "twice.csv")
    assert "must have a column 'y'" in call_fails(capsys, "evaluate", "classes.gw", "data.csv", "--target", "y")
    assert "must have a column 'y'" in call_fails(capsys, "predict", "classes.gw", "data.csv", "--keep", "y")
    message = call_fails(capsys, "evaluate", "values.gw", "data.csv", "--target", "age")
    assert "--target must be a column that the model does not read, got 'age'" in message
    folder.write("taken.csv", f"{HEADER},prediction\n1,private,true,2,3\n")
    message = call_fails(capsys, "predict", "classes.gw", "taken.csv", "--keep", "prediction")
    assert "got 'prediction' twice" in message


def test_repeated_columns_that_are_not_read_do_no_harm(folder: Folder) -> None:
    folder.write("twice.csv", f"{HEADER},more,more\n1,private,true,2,3,4\n")
    assert main(["predict", "classes.gw", "twice.csv", "-o", "out.csv"]) == 0
    row = {"age": 1, "work": "private", "is new": True, "zone": 2}
    assert read_csv("out.csv")["prediction"].to_pylist() == folder.classifier.predict(row).tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty.csv must begin with a line that names its columns"),
        ("\n", "empty.csv must begin with a line that names its columns"),
        (
            f"{HEADER}\n1,private,true,2\n1,private\n",
            "Expected 4 columns, got 2",
        ),
        (f"{HEADER}\nold,private,true,2\n", "column 'age' of empty.csv must hold numbers, got 'old'; correct it"),
        (f"{HEADER}\n1,private,maybe,2\n", "column 'is new' of empty.csv must hold bools, got 'maybe'; correct it"),
        (
            f"{HEADER}\n1,priv\xe9,true,2\n".encode("latin-1"),
            "column 'work' of empty.csv must hold strings, got invalid UTF8",
        ),
        (f"\xe9,{HEADER}\n".encode("latin-1"), "empty.csv must be a CSV file in UTF-8"),
        (
            HEADER.replace(",", ";") + "\n1;private;true;2\n",
            "empty.csv must have a column 'age', 'work', 'is new', 'zone', got age;work;is new;zone; "
            "is the delimiter ';'? say it by --delimiter",
        ),
    ],
)
def test_contents(folder: Folder, capsys: pytest.CaptureFixture[str], text: str | bytes, message: str) -> None:
    folder.write("empty.csv", text)
    Path("out.csv").write_text("older")
    assert message in call_fails(capsys, "predict", "classes.gw", "empty.csv", "-o", "out.csv")
    assert Path("out.csv").read_text() == "older"
    assert not list(folder.path.glob(".gatewise*"))


@pytest.mark.parametrize("text", [HEADER, f"{HEADER}\n", f"{HEADER}\r\n", f"\ufeff{HEADER}\n\n"])
def test_header_only(folder: Folder, capsys: pytest.CaptureFixture[str], text: str) -> None:
    folder.write("none.csv", text)
    assert main(["predict", "classes.gw", "none.csv", "-o", "out.csv", "--keep", "zone"]) == 0
    assert Path("out.csv").read_text() == "zone,prediction\n"
    assert main(["predict", "classes.gw", "none.csv", "-o", "out.parquet"]) == 0
    assert pyarrow.parquet.read_table("out.parquet").num_rows == 0
    folder.write("none.csv", text.strip() + ",label\n")
    assert "must have a row with a value of 'label'" in call_fails(
        capsys, "evaluate", "classes.gw", "none.csv", "--target", "label"
    )
    folder.write("none.csv", text)
    assert "none.csv must have at least one row" in call_fails(capsys, "bench", "classes.gw", "none.csv")


def test_other_delimiters_and_line_ends(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"{age};private;true;{zone}\r\n" for age, zone in ((1, 2), (60, 3)))
    folder.write("semicolons.csv", HEADER.replace(",", ";") + "\r\n\r\n" + rows)
    assert main(["predict", "classes.gw", "semicolons.csv", "--delimiter", ";", "-o", "out.csv"]) == 0
    expected = folder.classifier.predict([[1, "private", True, 2], [60, "private", True, 3]])
    assert read_csv("out.csv")["prediction"].to_pylist() == expected.tolist()
    message = call_fails(capsys, "predict", "classes.gw", "semicolons.csv", "--delimiter", "\\t")
    assert "--delimiter must be one character" in message


def test_an_empty_line_of_a_single_column_is_a_missing_value(folder: Folder) -> None:
    encoder = Encoder([Numeric("x", [5.0], missing=True)], named=True)
    build(encoder, Affine((60.0,), (0.0,), group_size=60)).save("x.gw")
    folder.write("x.csv", "x\n1\n\n9\n")
    assert main(["predict", "x.gw", "x.csv", "-o", "out.csv"]) == 0
    expected = Model.load("x.gw").predict([[1.0], [np.nan], [9.0]])
    np.testing.assert_array_equal(read_csv("out.csv")["prediction"].cast(pa.float64()), expected)


def test_parquet(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    folder.write("broken.parquet", b"PAR1 and then nothing")
    assert "broken.parquet cannot be read as a Parquet file" in call_fails(
        capsys, "predict", "classes.gw", "broken.parquet"
    )
    rows = {"age": ["1"], "work": ["private"], "is new": [True], "zone": [1]}
    pyarrow.parquet.write_table(pa.table(rows), "strings.parquet")
    message = call_fails(capsys, "predict", "classes.gw", "strings.parquet")
    assert "column 'age' of strings.parquet must hold numbers, got string" in message
    pyarrow.parquet.write_table(pa.table(rows | {"age": [1.5], "work": [7]}), "numbers.parquet")
    message = call_fails(capsys, "predict", "classes.gw", "numbers.parquet")
    assert "column 'work' of numbers.parquet must hold strings, got int64" in message
    message = call_fails(capsys, "predict", "classes.gw", "data.parquet", "--missing", "x")
    assert "--missing must not be given for a Parquet file" in message


def test_parquet_types_that_mean_the_same(folder: Folder) -> None:
    table = folder.features
    other = pa.table(
        {
            "age": table["age"].cast(pa.decimal128(12, 1)),
            "work": table["work"].dictionary_encode(),
            "is new": table["is new"].cast(pa.int8()),
            "zone": table["zone"].cast(pa.float32()),
        }
    )
    pyarrow.parquet.write_table(other, "other.parquet")
    assert main(["predict", "classes.gw", "other.parquet", "-o", "out.csv", "--keep", "work"]) == 0
    assert read_csv("out.csv")["prediction"].to_pylist() == folder.classifier.predict(table).tolist()


def test_categories_of_two_types(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    build(Encoder([Categorical("c", (1, "a"))], named=True), Affine((60.0,), (0.0,), group_size=60)).save("c.gw")
    folder.write("c.csv", "c\n1\na\n")
    assert "column 'c' must have categories of one type" in call_fails(capsys, "predict", "c.gw", "c.csv")


def test_files(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    no_file = "nowhere.csv cannot be opened: No such file or directory; check the path"
    assert no_file in call_fails(capsys, "predict", "classes.gw", "nowhere.csv")
    assert "nowhere.gw cannot be opened" in call_fails(capsys, "info", "nowhere.gw")
    data = bytearray(Path("classes.gw").read_bytes())
    data[-1] ^= 1
    folder.write("corrupt.gw", bytes(data))
    for argv in (["info"], ["predict", "data.csv"], ["evaluate", "data.csv", "--target", "label"], ["bench"]):
        message = call_fails(capsys, argv[0], "corrupt.gw", *argv[1:])
        assert "corrupt.gw is not a valid gatewise file" in message
    assert "data.csv is not a loadable gatewise file" in call_fails(capsys, "info", "data.csv")


def test_outputs(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path("data.csv").read_bytes()
    Path("link.csv").symlink_to("data.csv")
    for output in ("data.csv", "link.csv", "./data.csv"):
        message = call_fails(capsys, "predict", "classes.gw", "data.csv", "-o", output)
        assert "the output must be another file than data.csv, which is read" in message
    assert Path("data.csv").read_bytes() == before
    message = call_fails(capsys, "predict", "classes.gw", "data.csv", "-o", "no/out.csv")
    assert "no/out.csv cannot be opened: No such file or directory" in message
    message = call_fails(capsys, "predict", "classes.gw", "data.csv", "-o", ".")
    assert ". cannot be opened: Is a directory" in message
    assert main(["predict", "classes.gw", "data.csv", "-o", "/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()


def test_arguments(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert "threads must be an integer in 1..256, got 0" in call_fails(
        capsys, "predict", "classes.gw", "data.csv", "--threads", "0"
    )
    assert "--rows must be at least 1" in call_fails(capsys, "bench", "classes.gw", "--rows", "0")
    assert "--proba must be left out for a regression" in call_fails(
        capsys, "predict", "values.gw", "data.csv", "--proba"
    )
    build(folder.classifier.encoder, Affine((1.0, 1.0), (0.0, 0.0), group_size=30)).save("two.gw")
    message = call_fails(capsys, "evaluate", "two.gw", "data.csv", "--target", "value")
    assert "the model must predict one column, got 2" in message


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_that_parse(capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    printed = capsys.readouterr().out
    assert COMMANDS[command] in printed.lower() or f"{COMMANDS[command][0].upper()}{COMMANDS[command][1:]}." in printed
    shown = printed.partition("examples:\n")[2].partition("\n\n")[0]
    examples = [line.partition("gatewise ")[2] for line in shown.splitlines()]
    own = [example for example in examples if example.startswith(command)]
    assert len(own) >= 2
    for example in examples:
        words = shlex.split(re.split(r" [|>] ", example)[0])
        assert make_parser(words[0]).parse_args(words).command == words[0]


def test_the_overview_names_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    printed = capsys.readouterr().out
    assert all(re.search(rf"^    {name} +{summary}$", printed, re.MULTILINE) for name, summary in COMMANDS.items())
    assert main([]) == 2
    assert capsys.readouterr().out == printed
    with pytest.raises(SystemExit, match="2"):
        main(["trian"])
    assert "invalid choice: 'trian'" in capsys.readouterr().err


def test_interrupt(folder: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(predict, "answer", interrupt)
    assert main(["predict", "classes.gw", "data.csv", "-o", "out.csv"]) == 130
    assert capsys.readouterr().err == "gatewise predict: interrupted, nothing was written\n"
    assert sorted(path.name for path in folder.path.glob("*out*")) == []


def test_mistakes_of_the_program_keep_their_traceback(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(predict, "answer", fail)
    with pytest.raises(ZeroDivisionError):
        main(["predict", "classes.gw", "data.csv"])
