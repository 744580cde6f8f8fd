"""Identifiers from words that users chose, such as names of columns.

In: any text. Out: identifiers of Verilog, BLIF and C. Invariant: no two are equal, and none is a reserved word.
"""

import re
from collections import Counter
from collections.abc import Sequence

WORDS = {">": " gt ", "=": " eq ", "-": " minus ", ".": "p"}
MAX_LENGTH = 60
KEYWORDS = """
    always and assign automatic begin buf case casex casez cell cmos config deassign default defparam design disable
    edge else end endcase endconfig endfunction endgenerate endmodule endprimitive endspecify endtable endtask event for
    force forever fork function generate genvar highz0 highz1 if ifnone incdir include initial inout input instance
    integer join large liblist library localparam macromodule medium module nand negedge nmos nor not or output
    parameter pmos posedge primitive pull0 pull1 pulldown pullup rcmos real realtime reg release repeat rnmos rpmos
    rtran scalared showcancelled signed small specify specparam strong0 strong1 supply0 supply1 table task time tran tri
    tri0 tri1 triand trior trireg unsigned use vectored wait wand weak0 weak1 while wire wor xnor xor
"""
RESERVED = frozenset(KEYWORDS.split())
"""Keywords of Verilog-2001."""


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


def escape_names(names: Sequence[str]) -> list[str]:
    """User-given names as parts of identifiers, no two equal even where case is ignored.

    A name that would equal another, or be empty, gets its position appended; so does one that ends like that.

    Examples
    --------
    >>> escape_names(["age", "hours/week", "hours week", "x_2", "漢字"])
    ['age', 'hours_week_1', 'hours_week_2', 'x_2_3', '_4']
    """
    plain = [re.sub("[^A-Za-z0-9]+", "_", name).strip("_") for name in names]
    counts = Counter(name.lower() for name in plain)
    return [
        f"{name}_{i}" if counts[name.lower()] > 1 or re.search(r"(^|_)\d*$", name) else name
        for i, name in enumerate(plain)
    ]


def as_comment(text: str) -> str:
    """The text on one line of printable ASCII, so that it cannot end a comment that ends with its line.

    Examples
    --------
    >>> as_comment("größe\\nassign")
    'gr\\\\xf6\\\\xdfe\\\\nassign'
    """
    return text.encode("unicode_escape").decode("ascii")


def check_name(name: object) -> str:
    """The name of a module; raises ValueError unless it is an identifier in lower case that no language reserves.

    Examples
    --------
    >>> check_name("adult_v2")
    'adult_v2'
    """
    if not isinstance(name, str) or not re.fullmatch("[a-z][a-z0-9_]{0,59}", name) or name in RESERVED:
        raise ValueError(
            f"name must be a letter, then letters, digits and _, all lower case, and no keyword, got {name!r:.80}"
        )
    return name
