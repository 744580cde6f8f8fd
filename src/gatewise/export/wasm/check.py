"""check.mjs: a program that asks a module for answers that the reference evaluator has given.

In: a `Source`, and how many rows a block has. Out: JavaScript.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.export.c.source import Source
from gatewise.export.emit import Writer
from gatewise.export.vectors import draw_vectors
from gatewise.export.wasm.wrapper import ARRAYS
from gatewise.heads import Classes

MAIN = """
const same = (found, expected) => found.length === expected.length && found.every((x, i) => Object.is(x, expected[i]));
const rowOf = (array, row, width) => array.subarray(row * width, (row + 1) * width);

function check(model) {
  if (!same(model.countsRows(rows, N), counts)) return 1;
  if (!same(model.countsBlocks(bits, N), counts)) return 3;
  for (let row = 0; row < N; ++row) {
    const found = model.counts(rowOf(rows, row, N_COLUMNS));
    if (!same(found, rowOf(counts, row, N_GROUPS))) return 1;
  }
HEAD  return 0;
}

const code = check(await load());
if (code) console.error(`an answer must be that of the reference evaluator, got another; kind ${code}`);
process.exit(code);
"""

CHECK_SCORES = """
  if (!same(model.scoresRows(rows, N), scores)) return 2;
  for (let row = 0; row < N; ++row) {
    const expected = rowOf(scores, row, N_GROUPS);
    const found = model.predict(rowOf(rows, row, N_COLUMNS));
    if (!PREDICTED) return 2;
  }
"""

CHECK_CLASSES = """
  if (!same(model.predictRows(rows, N), classes)) return 2;
  if (!same(model.predictBlocks(bits, N), classes)) return 3;
"""


def write_check(source: Source, lanes: int) -> str:
    """The program; it exits with 0 if all answers are right, 1, 2 or 3 if counts, head or blocks are wrong."""
    vectors = draw_vectors(source.encoder, source.circuit, source.dtype)
    writer = Writer()
    writer.line("// Exits with 0 if the module gives the answers of gatewise's reference evaluator.")
    is_classifier = isinstance(source.head, Classes)
    writer.line(f'import {{ load{", labels" * is_classifier} }} from "./{source.name}.mjs";')
    sizes = {"N": len(vectors.rows), "N_COLUMNS": source.encoder.n_columns, "N_GROUPS": source.circuit.n_groups}
    for size, value in sizes.items():
        writer.line(f"const {size} = {value};")
    _write_array(writer, ARRAYS[source.dtype], "rows", vectors.rows)
    _write_array(writer, "Uint8Array", "bits", to_blocks(vectors.bits, lanes))
    _write_array(writer, "Int32Array", "counts", vectors.counts)
    head = ""
    if source.head is not None:
        _write_array(writer, "Float64Array", "scores", source.head.scores(vectors.counts))
        head = CHECK_SCORES.lstrip("\n")
    if is_classifier:
        _write_array(writer, "Int32Array", "classes", vectors.counts.argmax(axis=1))
        head += CHECK_CLASSES.lstrip("\n")
    is_single = source.circuit.n_groups == 1
    predicted = "same(found, expected)" if not is_single else "found === expected[0]"
    writer.section(
        MAIN.replace("HEAD", head).replace(
            "PREDICTED", "(found === labels[classes[row]])" if is_classifier else predicted
        )
    )
    return writer.text()


def to_blocks(bits: NDArray[np.bool_], lanes: int) -> NDArray[np.uint8]:
    """Bits of rows in blocks: bit l % 8 of byte l / 8 of word i of a block is bit i of its row l."""
    n_rows, n_bits = bits.shape
    n_blocks = -(-n_rows // lanes)
    padded = np.zeros((n_blocks * lanes, n_bits), bool)
    padded[:n_rows] = bits
    blocks = padded.reshape(n_blocks, lanes, n_bits).transpose(0, 2, 1)
    return np.packbits(blocks, axis=2, bitorder="little")


def _write_array(writer: Writer, kind: str, name: str, array: NDArray[Any]) -> None:
    with writer.block(f"const {name} = {kind}.from([", "]);"):
        writer.wrap(_format_numbers(array.ravel().tolist()))


def _format_numbers(numbers: Iterable[float | int]) -> Iterable[str]:
    """Literals of JavaScript, which reads decimals exactly."""
    names = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
    return (names.get(repr(number), repr(number)) for number in numbers)
