"""What all targets write with: templates, arrays and numbers of C, and packages.

In: templates, which are real files of their languages; what is written for each model. Out: text, folders of files.
Invariant: what is written depends on the arguments only; numbers read back exactly.
"""

import math
import os
import re
import warnings
from collections.abc import Iterable, Mapping
from decimal import Decimal
from importlib import resources
from typing import TypeAlias

from gatewise.store.files import replace_folder

Package: TypeAlias = dict[str, bytes]
"""Content of each file of a folder, by name."""

INCLUDE = r'^ *(?:#include|`include|(?:import|export)\b[^;]* from) "(?:\./)?{}";?$'
"""A line of C, Verilog or JavaScript that includes a file."""

LINE_WIDTH = 116
MANY_GATES = 2**18
BYTES_PER_GATE = 63  # of a statement, wires and counts of large circuits included


def read_template(path: str) -> str:
    """The text of a file in the folder `templates`."""
    return (resources.files("gatewise.export") / "templates" / path).read_text("utf-8")


def fill_template(path: str, name: str, parts: Mapping[str, str] | None = None) -> str:
    """A template as a file of an export of that name; `parts` take the place of the lines that include such files.

    Examples
    --------
    >>> fill_template("c/encode_rows.h", "churn").splitlines()[0]
    '/* Bits of n rows, at most CHURN_LANES: bit l of w[i] is bit i of row l. */'
    """
    text = rename(read_template(path), name)
    for file, part in (parts or {}).items():
        before, after = re.split(INCLUDE.format(re.escape(file)), text, flags=re.M)
        text = before + part.strip("\n") + after
    return text


def rename(text: str, name: str) -> str:
    """Code with a name in the place of `model` and `MODEL` where identifiers, or names of its files, start with them.

    Examples
    --------
    >>> rename('#include "model.h" int model_predict; MODEL_LANES; remodel_it', "churn")
    '#include "churn.h" int churn_predict; CHURN_LANES; remodel_it'
    """
    text = re.sub(r"\bmodel(?=_|\.(?:bin|h|mjs|wasm|wgsl)\b)", name, text)
    return re.sub(r"\bMODEL_", f"{name.upper()}_", text)


def write_array(declaration: str, items: Iterable[str], empty: str = "0") -> str:
    """A constant array of C, as many items to a line as fit; `empty` if there is none, as C has no empty arrays.

    Examples
    --------
    >>> print(write_array("static const int sizes[]", ["1", "2"]), end="")
    static const int sizes[] = {
      1, 2,
    };
    """
    lines, line = [f"{declaration} = {{"], " "
    for item in [*items] or [empty]:
        if len(line) + len(item) + 2 > LINE_WIDTH:
            lines.append(line)
            line = " "
        line += f" {item},"
    return "\n".join([*lines, line, "};", ""])


def format_number(value: float | int, dtype: str) -> str:
    """A constant of a dtype as C; where a short decimal is not exact, in hexadecimal; NAN and INFINITY as in math.h.

    Examples
    --------
    >>> [format_number(value, "float64") for value in (18.5, 0.1, -2.0, float("-inf"))]
    ['18.5', '0x1.999999999999ap-4', '-2.0', '-INFINITY']
    >>> format_number(0.5, "float32"), format_number(-128, "int16")
    ('0.5f', '(-127 - 1)')
    """
    if dtype[0] != "f":
        return f"(-{-value - 1} - 1)" if value < 0 else str(value)
    if value != value:
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = repr(float(value))
    is_short = len(text) < 16 and Decimal(text) == Decimal(value)
    return (text if is_short else float(value).hex()) + ("f" if dtype == "float32" else "")


def warn_large(n_gates: int, advice: str) -> None:
    """Tell the user, before it is written, how large code with a statement for each gate gets; called by `to_...`.

    Examples
    --------
    >>> warn_large(1000, "simplify it first")
    """
    if n_gates > MANY_GATES:
        megabytes = n_gates * BYTES_PER_GATE / 2**20
        warnings.warn(f"{n_gates:,} gates make about {megabytes:,.0f} MB of code; {advice}", stacklevel=3)


def save_package(package: Mapping[str, bytes], folder: str | os.PathLike[str]) -> None:
    """Write an export to a folder, all files or none.

    Parameters
    ----------
    package : dict of file name to bytes
        What a `to_...` function gives.
    folder : path
        Must not exist, or hold nothing but files of these names, which are replaced.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     save_package({"a.txt": b"content"}, f"{parent}/out")
    ...     os.listdir(f"{parent}/out")
    ['a.txt']
    """
    replace_folder(folder, package)
