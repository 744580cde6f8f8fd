"""What an installed gatewise does with numpy and safetensors alone: `make wheel` runs this in an empty environment."""

import base64
import json
import subprocess
import sys
import tempfile
from importlib.metadata import distribution, distributions
from pathlib import Path

import numpy as np

import gatewise
from gatewise.run import reference

SAVED = json.loads((Path(__file__).parents[1] / "store" / "version_1.json").read_text())["model-labels"]


def main() -> None:
    others = {dist.name for dist in distributions()} - {"pip", "setuptools"}
    assert others == {"gatewise", "numpy", "safetensors"}, others
    licenses = {path.name for path in distribution("gatewise").files or [] if "licenses" in path.parts}
    assert licenses == {"LICENSE", "nanobind.txt", "robin_map.txt"}, licenses
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.gw"
        path.write_bytes(base64.b64decode(SAVED))
        check_model(path)
    print(f"{Path(gatewise.__file__).parent} works with", *sorted(others))


def check_model(path: Path) -> None:
    """A saved model answers as the reference does, from Python and from the command line."""
    model = gatewise.Model.load(path)
    rows = np.random.default_rng(0).uniform(0, 255, (1000, model.encoder.n_columns))
    groups = reference.classify(model.circuit, model.encoder.encode_rows(rows).unpack())
    assert len(set(groups)) > 1
    assert model.predict(rows).tolist() == [model.head.labels[group] for group in groups]
    command = [Path(sys.executable).parent / "gatewise"]
    printed = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    assert printed == f"gatewise {gatewise.__version__}\n", printed
    assert subprocess.run([*command, "info", path], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
