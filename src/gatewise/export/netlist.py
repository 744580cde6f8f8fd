"""What comes with a netlist: rows with their answers, a program that checks it, and a page about its pins.

In: the file of a netlist, and what it was made of. Out: a package.
Invariant: answers come from `gatewise.run.reference`, not from what the netlist was written from.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import Circuit
from gatewise.export.emit import Package
from gatewise.export.explain import explain_answer, list_bits
from gatewise.export.named import HeadForm, NamedCircuit
from gatewise.export.names import as_comment
from gatewise.export.vectors import spell
from gatewise.model import Model
from gatewise.run.reference import classify, count_groups, evaluate_outputs

N_ROWS = 256

CHECK = '''"""Exits with 0 if {file} gives the answers in vectors.txt, which come from another evaluator."""

import sys
from pathlib import Path

FOLDER = Path(__file__).parent


{simulate}


def pack(rows):
    """A number for each column, with a bit for each row."""
    return [int("".join(column), 2) for column in zip(*rows)]


lines = [line.split(",") for line in (FOLDER / "vectors.txt").read_text().splitlines()]
given, wanted = (pack(rows) for rows in zip(*lines))
if simulate(given, (1 << len(lines)) - 1) != wanted:
    sys.exit("FAIL: {file} gives other answers than those in vectors.txt")
print(f"PASS: {{len(lines)}} rows")
'''

README = """# {name}

`{file}` is a {what} as {form}, written by gatewise: {n_inputs} inputs, {n_outputs} outputs,
from {n_gates} gates{counted}.

- `check.py`: needs Python and nothing else, and exits with 0 if the file gives the answers in `vectors.txt`, which come
  from gatewise's reference evaluator: `python check.py`.
- `vectors.txt`: a row a line, its inputs, a comma, its outputs, the first of each leftmost.

{tools}

## Inputs

{inputs}

## Outputs

{outputs}
{answer}"""

OUTPUTS = {
    "bits": "`bit_K_I` is output I of group K of the circuit.",
    "counts": "`count_K_I` is bit I, of weight 2^I, of the number of true outputs of group K.",
    "class": "`class_0_I` is bit I, of weight 2^I, of the index of the group with the highest count, the lowest of "
    "several.\nWith one group there are none.",
}


@dataclass(frozen=True)
class Format:
    """A format of netlists.

    Parameters
    ----------
    title : str
        What it is called.
    suffix : str
        Of its files.
    simulate : str
        Python code that defines ``simulate(given, ones)`` for the file FILE: numbers given for inputs, and those
        returned for outputs, have a bit for each row; `ones` has all of them.
    tools : str
        Lines about programs that read it.
    """

    title: str
    suffix: str
    simulate: str
    tools: str


def pack_netlist(
    form: Format, content: bytes, *, source: Model | Circuit, named: NamedCircuit, head: HeadForm, name: str
) -> Package:
    """The files of a netlist's folder.

    Parameters
    ----------
    form : Format
    content : bytes
        The netlist.
    source : Model or Circuit
        What it was made of.
    named : NamedCircuit
        The pins that it has.
    head : {"bits", "counts", "class"}
        What it gives out.
    name : str
        Of the netlist.
    """
    circuit = source.circuit if isinstance(source, Model) else source
    file = f"{name}.{form.suffix}"
    page = README.format(
        name=name,
        file=file,
        what="circuit" if isinstance(source, Circuit) else "model",
        form=form.title,
        n_inputs=circuit.n_inputs,
        n_outputs=named.circuit.n_outputs,
        n_gates=named.circuit.n_gates,
        counted="" if head == "bits" else " with those that count",
        tools=form.tools.strip().replace("FILE", file),
        inputs=list_bits([as_comment(text) for text in named.input_names], "input {}"),
        outputs=OUTPUTS[head],
        answer=explain_answer(source),
    )
    check = CHECK.format(file=file, simulate=form.simulate.strip().replace("FILE", file))
    texts = {"vectors.txt": _write_vectors(circuit, head), "check.py": check, "README.md": page}
    return {file: content} | {each: text.encode() for each, text in texts.items()}


def _write_vectors(circuit: Circuit, head: HeadForm) -> str:
    """Random rows, the same at every call, and what comes out."""
    rows = np.random.default_rng(0).integers(0, 2, (N_ROWS, circuit.n_inputs)).astype(bool)
    wanted = _answer(circuit, head, rows)
    return "".join(f"{_digits(row)},{_digits(answer)}\n" for row, answer in zip(rows, wanted, strict=True))


def _answer(circuit: Circuit, head: HeadForm, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    if head == "bits":
        return evaluate_outputs(circuit, rows)
    if head == "class":
        return spell(classify(circuit, rows), (circuit.n_groups - 1).bit_length())
    sizes = np.diff(circuit.group_ptr).tolist()
    numbers = zip(count_groups(circuit, rows).T, sizes, strict=True)
    spelled = [spell(count, size.bit_length()) for count, size in numbers]
    return np.concatenate([np.zeros((len(rows), 0), bool), *spelled], axis=1)


def _digits(bits: NDArray[np.bool_]) -> str:
    return "".join("01"[bit] for bit in bits.astype(int).tolist())
