"""What READMEs of hardware say in the same words: what inputs mean, and what answers are made of counts.

In: a model or a circuit. Out: Markdown.
"""

from collections.abc import Sequence

from gatewise.circuit import Circuit
from gatewise.export.names import as_comment
from gatewise.heads import Affine, Classes
from gatewise.model import Model


def list_bits(texts: Sequence[str], pin: str) -> str:
    """A table of what each bit says; `pin` has braces where its number goes.

    Examples
    --------
    >>> print(list_bits(["age > 40"], "bits[{}]"))
    | bit | is 1 where |
    |---|---|
    | `bits[0]` | age > 40 |
    """
    rows = [f"| `{pin.format(i)}` | {table_cell(text)} |" for i, text in enumerate(texts)]
    return "\n".join(["| bit | is 1 where |", "|---|---|", *rows])


def table_cell(text: str) -> str:
    """Text that does not end a cell of a table."""
    return text.replace("|", "\\|")


def explain_answer(source: Model | Circuit) -> str:
    """Labels and scores, or values, of a model; nothing for a circuit."""
    if isinstance(source, Circuit):
        return ""
    if isinstance(source.head, Classes):
        labels = ", ".join(f"{i} = {as_comment(repr(label))}" for i, label in enumerate(source.head.labels))
        return f"\nClasses: {labels}. Score of a class: count / {source.head.tau!r}.\n"
    assert isinstance(source.head, Affine)
    link = "share" if type(source.head) is Affine else "logit(0.001 + 0.998 * share)"
    values = [
        f"{scale!r} * {link} + {offset!r}" for scale, offset in zip(source.head.scale, source.head.offset, strict=True)
    ]
    return f"\nValues, where share = count / {source.head.group_size}: {'; '.join(values)}.\n"
