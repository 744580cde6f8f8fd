"""Identifiers from words that users chose, such as names of columns.

In: any text. Out: identifiers of Verilog, BLIF and C. Invariant: no two are equal, and none is a reserved word.
"""

import re
from collections.abc import Sequence

WORDS = {">": " gt ", "=": " eq ", "-": " minus ", ".": "p"}
MAX_LENGTH = 60


def make_identifiers(prefix: str, texts: Sequence[str]) -> list[str]:
    """An identifier for each text: the prefix and a number, which make it unique, then what can be kept of the text.

    Examples
    --------
    >>> make_identifiers("b", ["age > 37.5", "job = d'être", "module"])
    ['b0_age_gt_37p5', 'b1_job_eq_d_tre', 'b2_module']
    """
    return [f"{prefix}{i}_{readable(text)}".rstrip("_") for i, text in enumerate(texts)]


def readable(text: str) -> str:
    """Letters, digits and single underscores, as much of the text as they can say.

    Examples
    --------
    >>> readable("a > -0.5; endmodule")
    'a_gt_minus_0p5_endmodule'
    """
    spelled = "".join(WORDS.get(letter, letter) for letter in text)
    return re.sub(r"[^A-Za-z0-9]+", "_", spelled).strip("_")[:MAX_LENGTH].rstrip("_")


def as_comment(text: str) -> str:
    """The text on one line of printable ASCII, so that it cannot end a comment that ends with its line.

    Examples
    --------
    >>> as_comment("größe\\nassign")
    'gr\\\\xf6\\\\xdfe\\\\nassign'
    """
    return text.encode("unicode_escape").decode("ascii")
