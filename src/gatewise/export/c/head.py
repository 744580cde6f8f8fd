"""The end of an export to C: from counts to classes or values, labels, and the codes of strings.

In: a `Source`. Out: prototypes and code.
Invariant: scores are computed by the operations of `gatewise.heads` in the same order, each rounded to float64, and
logits are stored, because math.h does not promise their last bit.
"""

import string
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from gatewise.encode.columns import Categorical
from gatewise.export.c.source import Source
from gatewise.export.emit import Writer, format_float
from gatewise.export.questions import is_coded
from gatewise.heads import Affine, Classes, Head, Logit

SCORES = "void model_scores(const model_value *row, double *scores)"
PREDICT_CLASS_HEAD = "int32_t model_predict(const model_value *row)"

SCORES_OF_ROW = """
void model_scores(const model_value *row, double *scores) {
  int32_t counts[MODEL_N_GROUPS];
  model_counts(row, counts);
  score(counts, scores);
}
"""

PREDICT_CLASS = """
int32_t model_predict(const model_value *row) {
  int32_t counts[MODEL_N_GROUPS], best = 0, k;
  model_counts(row, counts);
  for (k = 1; k < MODEL_N_GROUPS; ++k)
    if (counts[k] > counts[best]) best = k;
  return best;
}
"""

PREDICT_VALUE = """
double model_predict(const model_value *row) {
  double value;
  model_scores(row, &value);
  return value;
}
"""

PREDICT_VALUES = """
void model_predict(const model_value *row, double *values) { model_scores(row, values); }
"""

CODE_OF = """
int32_t model_code(int32_t column, const char *text) {
  int32_t i;
  if (column < 0 || column >= MODEL_N_COLUMNS) return -1;
  for (i = first_value[column]; i < first_value[column + 1]; ++i) {
    const char *value = values[i];
    int32_t at = 0;
    if (!value) continue;
    while (value[at] && value[at] == text[at]) ++at;
    if (value[at] == text[at]) return i - first_value[column];
  }
  return -1;
}
"""


PLAIN = frozenset(string.ascii_letters + string.digits + " -.,:+")
"""Characters that are written as they are; no underscore, so that no string looks like a name, see `Source.rename`."""


def write_head(source: Source) -> tuple[list[str], str]:
    """Prototypes and code of what follows the counts; none for a circuit alone."""
    prototypes, code = list[str](), Writer()
    if source.head is not None:
        what = "Count / tau of each class" if isinstance(source.head, Classes) else "The value of each output"
        prototypes.append(f"/* {what}: scores[MODEL_N_GROUPS]. */\n{SCORES};")
        write_score(source.head, code)
        code.section(SCORES_OF_ROW)
    if isinstance(source.head, Classes):
        prototypes.append(f"/* The class with the highest count, the lowest of several. */\n{PREDICT_CLASS_HEAD};")
        prototypes.append("/* The label of a class, in UTF-8. */\nconst char *model_label(int32_t index);")
        code.section(PREDICT_CLASS)
        code.line()
        with code.block("static const char *const labels[] = {", "};"):
            code.wrap(quote(str(label)) for label in source.head.labels)
        code.section("const char *model_label(int32_t index) { return labels[index]; }")
    elif source.head is not None and source.head.n_groups == 1:
        prototypes.append("/* The value of a row. */\ndouble model_predict(const model_value *row);")
        code.section(PREDICT_VALUE)
    elif source.head is not None:
        prototypes.append("/* The same. */\nvoid model_predict(const model_value *row, double *values);")
        code.section(PREDICT_VALUES)
    if any(is_coded(column) for column in source.encoder.columns):
        words = "The number that stands for a string in a column of categories, -1 for any other"
        prototypes.append(f"/* {words}. */\nint32_t model_code(int32_t column, const char *text);")
        _write_codes(source, code)
    return prototypes, code.text()


def quote(text: str) -> str:
    """A string as C: UTF-8, everything but letters, digits and some marks in octal.

    Examples
    --------
    >>> print(quote("a b?"))
    "a b\\077"
    """
    if "\0" in text:
        raise ValueError(f"strings must not hold a NUL character to be exported, got {text!r:.60}")
    octets = text.encode("utf-8", "surrogatepass")
    shown = [chr(octet) if chr(octet) in PLAIN else f"\\{octet:03o}" for octet in octets]
    return f'"{"".join(shown)}"'


def write_score(head: Head, code: Writer) -> None:
    """The function `score`, from counts to scores, and its tables."""
    if isinstance(head, Logit):
        _write_doubles(code, "logits", _link_table(head))
    if isinstance(head, Affine):
        _write_doubles(code, "scale", head.scale)
        _write_doubles(code, "offset", head.offset)
    with code.block("static void score(const int32_t *counts, double *scores) {", "}"):
        code.line("int32_t k;")
        with code.block("for (k = 0; k < MODEL_N_GROUPS; ++k) {", "}"):
            code.lines(_formula(head))


def _formula(head: Head) -> str:
    """Statements that make a score of a count."""
    if isinstance(head, Classes):
        return f"scores[k] = counts[k] / {format_float(head.tau)};"
    share = "logits[counts[k]]" if isinstance(head, Logit) else f"counts[k] / {format_float(head.group_size)}"
    return f"""
const volatile double share = {share};
const volatile double product = share * scale[k]; /* volatile: rounded, never fused */
scores[k] = product + offset[k];
"""


def _link_table(head: Logit) -> Sequence[float]:
    """By count, what the head multiplies with its scale."""
    plain = replace(head, scale=(1.0,), offset=(0.0,))
    values: list[float] = plain.scores(np.arange(head.group_size + 1)[:, np.newaxis])[:, 0].tolist()
    return values


def _write_doubles(code: Writer, name: str, values: Iterable[float]) -> None:
    with code.block(f"static const double {name}[] = {{", "};"):
        code.wrap(format_float(value) for value in values)


def _write_codes(source: Source, code: Writer) -> None:
    texts, first = [], [0]
    for column in source.encoder.columns:
        if isinstance(column, Categorical) and is_coded(column):
            texts += [quote(value) if isinstance(value, str) else "0" for value in column.values]
        first.append(len(texts))
    code.line()
    with code.block("static const char *const values[] = {", "};"):
        code.wrap(texts)
    with code.block("static const int32_t first_value[] = {", "};"):
        code.wrap(map(str, first))
    code.section(CODE_OF)
