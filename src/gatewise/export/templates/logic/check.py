"""Exits with 0 if the netlist beside this file gives the answers in vectors.txt, which come from another evaluator.

Rows are simulated all at once: a signal is a number that has a bit for each row.
"""

import sys
from pathlib import Path

Signals = list[int]


def read_matrices(path: Path) -> dict[str, list[list[str]]]:
    """The rows of each matrix of vectors.txt, by name."""
    lines = iter(path.read_text().splitlines())
    matrices = {}
    for header in lines:
        name, n_rows, _ = header.split()
        matrices[name] = [next(lines).split() for _ in range(int(n_rows))]
    return matrices


def simulate_aiger(path: Path, given: Signals, ones: int) -> Signals:
    """Outputs of an AIGER file; literal 2v is variable v, 2v + 1 its inverse, and variable 0 is false."""
    header, *lines = path.read_bytes().split(b"\n")
    kind, *sizes = header.split()
    _, n_inputs, _, n_outputs, n_gates = map(int, sizes)
    start = n_inputs if kind == b"aag" else 0
    outputs = [int(line) for line in lines[start : start + n_outputs]]
    rest = lines[start + n_outputs :]
    if kind == b"aag":
        gates = [(int(a), int(b)) for _, a, b in map(bytes.split, rest[:n_gates])]
    else:
        gates = read_gates(b"\n".join(rest), 2 * n_inputs + 2, n_gates)
    values = [0, *given]

    def read(literal: int) -> int:
        return values[literal >> 1] ^ (ones if literal & 1 else 0)

    for a, b in gates:
        values.append(read(a) & read(b))
    return [read(literal) for literal in outputs]


def read_gates(content: bytes, own: int, n_gates: int) -> list[tuple[int, int]]:
    """Literals that each AND gate reads, stored as the steps from its own down to the first and on to the second.

    A step has seven bits per byte, the lowest first; its last byte is below 128.
    """
    steps, step, shift = [], 0, 0
    for byte in content:
        step |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            steps.append(step)
            step = shift = 0
    firsts = [own + 2 * i - steps[2 * i] for i in range(n_gates)]
    return [(first, first - steps[2 * i + 1]) for i, first in enumerate(firsts)]


def simulate_blif(path: Path, given: Signals, ones: int) -> Signals:
    """Outputs of a BLIF file; a table is true in the rows that match a line of it."""
    values: dict[str, int] = {}
    outputs: list[str] = []
    for line in path.read_text().splitlines():
        word, *rest = line.split()
        if word == ".inputs":
            values.update(zip(rest, given, strict=True))
        elif word == ".outputs":
            outputs = rest
        elif word == ".names":
            *pins, name = rest
            values[name] = 0
        elif word[0] in "01":
            match = ones
            for pin, wanted in zip(pins, word, strict=False):
                match &= values[pin] ^ (0 if wanted == "1" else ones)
            values[name] |= match
    return [values[name] for name in outputs]


def main(folder: Path) -> str | None:
    """What is wrong, or None."""
    (path,) = (path for path in folder.iterdir() if path.suffix in (".aig", ".aag", ".blif"))
    matrices = read_matrices(folder / "vectors.txt")
    given, expected = (
        [int("".join(column), 2) for column in zip(*matrices[name], strict=True)] for name in ("bits", "outputs")
    )
    ones = (1 << len(matrices["bits"])) - 1
    simulate = simulate_blif if path.suffix == ".blif" else simulate_aiger
    if simulate(path, given, ones) != expected:
        return f"FAIL: {path.name} gives other answers than those in vectors.txt"
    print(f"PASS: {len(matrices['bits'])} rows")
    return None


if __name__ == "__main__":
    sys.exit(main(Path(__file__).parent))
