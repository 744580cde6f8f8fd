"""Exits with 0 if the ONNX file beside this one gives the answers in vectors.txt, which come from another evaluator.

Needs pip install onnxruntime. Values of a regression may differ by a relative 1e-12, all other answers not at all.
"""

import json
import sys
from pathlib import Path
from typing import Any

TYPES = {"tensor(double)": "float64", "tensor(float)": "float32", "tensor(string)": "object", "tensor(bool)": "bool"}


def read_matrices(path: Path) -> dict[str, list[list[Any]]]:
    """The rows of each matrix of vectors.txt, by name."""
    lines = iter(path.read_text().splitlines())
    matrices = {}
    for header in lines:
        name, n_rows, _ = header.split()
        matrices[name] = [[json.loads(item) for item in next(lines).split()] for _ in range(int(n_rows))]
    return matrices


def main(folder: Path) -> str | None:
    """What is wrong, or None."""
    import numpy as np
    from onnxruntime import InferenceSession

    (path,) = folder.glob("*.onnx")
    session = InferenceSession(str(path), providers=["CPUExecutionProvider"])
    matrices = read_matrices(folder / "vectors.txt")
    rows = matrices.pop("rows")
    inputs, at = {}, 0
    for each in session.get_inputs():
        given = [row[at : at + each.shape[1]] for row in rows]
        inputs[each.name] = np.array(given, TYPES[each.type]).reshape(len(rows), each.shape[1])
        at += each.shape[1]
    for name, expected in matrices.items():
        found = session.run([name], inputs)[0].reshape(len(rows), -1)
        if not (np.allclose(found, expected, rtol=1e-12, atol=0) if name == "value" else found.tolist() == expected):
            return f"FAIL: {name} differs from vectors.txt"
    print(f"PASS: {len(rows)} rows")
    return None


if __name__ == "__main__":
    sys.exit(main(Path(__file__).parent))
