"""Exports to C: time of compilation, latency of one raw row beside compiled trees, and bytes on a microcontroller.

    pip install -c constraints.txt '.[bench]'
    python -m benchmarks.export.c --data DIR --model FILE --record     # benchmarks/results/export_c.json
    python -m benchmarks.export.c --data DIR --parts flash latency

compile: nets of random gates as they are and simplified, straight code, by gcc -O2: MNIST-small, and one of 512,000
gates as it is; and the trained model of MNIST of --model.
flash: the Adult model (5 x 256 gates) for a Cortex-M3 by arm-none-eabi-gcc -Os, with unused sections dropped; the bytes
of predict and all it needs, libgcc's floating point included, and the stack below predict.
latency: one call per row, 4,096 test rows of Adult one after the other in one thread, by gcc at -O2 and -O3 for this
processor. LightGBM has its defaults and is compiled by tl2cgen; emlearn gets scikit-learn's tree of 50 leaves, and a
forest of 100. Times are processor time, the least of 200 passes.
"""

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks import records
from benchmarks.data.mnist import find_data, load_mnist
from benchmarks.data.tables import Table, adult
from benchmarks.nets import KINDS, SIZES, make_net
from benchmarks.process import cpu_seconds
from gatewise import Circuit, Model, simplify
from gatewise.export import save_package, to_c

HERE = Path(__file__).resolve().parent
PARTS = ("compile", "flash", "latency")
Rows = NDArray[Any]
FLAGS = ("-O2", "-O3 -march=native")
N_ROWS = 4096
ARM = ("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-std=c99", "-Os", "-ffunction-sections", "-fdata-sections")
DEEPEST = ("predict", "counts", "evaluate", "take_step", "take")


def call(command: Sequence[str], folder: Path) -> str:
    """What a program prints."""
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def measure_net(size: str, kind: str, folder: Path) -> dict[str, Any]:
    """Seconds to write and to compile a net, as it is and, if it is small, simplified."""
    net = make_net(SIZES[size], kind)
    whole = Circuit.from_layers(net.n_inputs, net.layers(), net.n_groups)
    result: dict[str, Any] = {"net": size, "kind": kind, "gates": whole.n_gates}
    forms = {"raw": whole}
    if size == "mnist-small":
        forms["simplified"] = simplify(whole)
    compiled = {
        name: measure_compilation(circuit, folder) | {"gates": circuit.n_gates} for name, circuit in forms.items()
    }
    return result | compiled


def measure_compilation(source: Model | Circuit, folder: Path) -> dict[str, Any]:
    """Seconds to write and to compile."""
    start = cpu_seconds()
    save_package(to_c(source), folder / "compiled")
    written = cpu_seconds()
    call(["gcc", "-std=c99", "-O2", "-c", "model.c"], folder / "compiled")
    done = cpu_seconds()
    shutil.rmtree(folder / "compiled")
    return {"write_seconds": written - start, "gcc_seconds": done - written}


def train_adult(table: Table) -> Model:
    """The paper's small Adult architecture."""
    from gatewise.estimators import NetworkClassifier

    training, _ = next(table.splits())
    estimator = NetworkClassifier(width=256, depth=5, random_state=0)
    estimator.fit(table.X.iloc[training], table.y[training])
    return estimator.model_


def measure_flash(model: Model, folder: Path) -> list[dict[str, Any]]:
    """Bytes of program and stack, by style and dtype."""
    results = []
    forms: list[tuple[Literal["table", "unrolled"], str]] = [
        *(("table", dtype) for dtype in ("int32", "float32", "float64")),
        ("unrolled", "float32"),
    ]
    for style, dtype in forms:
        package = folder / f"{style}_{dtype}"
        save_package(to_c(model, style=style, dtype=dtype, name="adult"), package)
        (package / "main.c").write_text(
            '#include "adult.h"\nvolatile int32_t answer;\nextern const adult_value row[];\n'
            "int main(void) { answer = adult_predict(row); return 0; }\n"
        )
        flags = [*ARM, "-DADULT_LANES=8", "-fstack-usage"]
        call([*flags, "-c", "adult.c", "main.c"], package)
        link = ["-nostartfiles", "-Wl,--gc-sections,--defsym=row=0x20001000", "-Wl,-e,main"]
        call([*ARM, *link, "-o", "program", "adult.o", "main.o"], package)
        text, data, bss = map(int, call(["arm-none-eabi-size", "program"], package).splitlines()[1].split()[:3])
        frames = dict(re.findall(r":(?:adult_)?(\w+)\t(\d+)\t", (package / "adult.su").read_text()))
        stack = sum(int(frames.get(name, 0)) for name in DEEPEST)
        results.append({"style": style, "dtype": dtype, "flash": text + data, "bss": bss - 4, "stack": stack})
    return results


def time_program(kind: str, sources: Sequence[Path], rows: Rows, folder: Path) -> dict[str, float]:
    """Nanoseconds per call, by compiler flags; `kind` names the header of calls/ that says what is called."""
    shutil.copy(HERE / "calls" / f"{kind}.h", folder / "call.h")
    np.ascontiguousarray(rows, np.float64).tofile(folder / "rows.bin")
    result = {}
    for flags in FLAGS:
        files = [str(HERE / "latency.c"), *map(str, sources)]
        call(["gcc", "-std=gnu99", *flags.split(), "-I", str(folder), "-o", "latency", *files, "-lm"], folder)
        result[flags] = json.loads(call([str(folder / "latency"), "rows.bin"], folder))["ns"]
    return result


def measure_latency(model: Model, table: Table, folder: Path) -> dict[str, dict[str, float]]:
    """Nanoseconds per row, of the model and of its peers."""
    training, test = next(table.splits())
    results, raw = {}, model.encoder.to_numbers(table.X.iloc[test[:N_ROWS]])
    for style in ("unrolled", "table"):
        package = folder / style
        save_package(to_c(model, style=style, name="adult"), package)
        results[f"gatewise {style}"] = time_program("gatewise", [package / "adult.c"], raw, package)
    X = table.numbers()
    for name, make in (("LightGBM, tl2cgen", time_lightgbm), ("emlearn", time_emlearn)):
        try:
            results |= make(X[training], table, X[test[:N_ROWS]], folder)
        except ModuleNotFoundError as error:
            print(f"{name} is left out: {error.name} is not installed")
    return results


def time_lightgbm(X: Rows, table: Table, rows: Rows, folder: Path) -> dict[str, dict[str, float]]:
    """LightGBM's trees as C by tl2cgen."""
    import lightgbm
    import tl2cgen
    import treelite

    classifier = lightgbm.LGBMClassifier(n_jobs=2, verbose=-1, random_state=0)
    classifier.fit(X, table.y[: len(X)], categorical_feature=table.categorical)
    trees = treelite.frontend.from_lightgbm(classifier.booster_)
    tl2cgen.generate_c_code(trees, str(folder / "lightgbm"), params={"parallel_comp": 0}, verbose=False)
    source = folder / "lightgbm" / "main.c"
    return {"LightGBM, tl2cgen": time_program("lightgbm", [source], rows, folder / "lightgbm")}


def time_emlearn(X: Rows, table: Table, rows: Rows, folder: Path) -> dict[str, dict[str, float]]:
    """scikit-learn's trees as C by emlearn, which knows no missing values: they are -1."""
    import emlearn
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    options = {"max_leaf_nodes": 50, "random_state": 0}
    classifiers = {
        "emlearn tree": DecisionTreeClassifier(**options),
        "emlearn forest": RandomForestClassifier(100, **options),
    }
    results = {}
    for name, classifier in classifiers.items():
        package = folder / name.replace(" ", "_")
        package.mkdir()
        classifier.fit(np.nan_to_num(X, nan=-1), table.y[: len(X)] == ">50K")
        trees = emlearn.convert(classifier, method="inline", dtype="float")
        trees.save(file=str(package / "trees.h"), name="trees", format="c")
        results[name] = time_program("emlearn", [], np.nan_to_num(rows, nan=-1), package)
    return results


def measure_all(args: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Any]]:
    """The parts that were asked for, one after the other."""
    parts = args.parts or PARTS
    if "compile" in parts:
        cases = [("mnist-small", kind) for kind in KINDS] + [("cifar-medium", "random")]
        yield "compile", [measure_net(size, kind, folder) for size, kind in cases]
        if args.model:
            model = Model.load(args.model)
            images, digits = load_mnist(find_data(args.data), "t10k")
            accuracy = float(np.mean(model.predict(images) == digits))
            found = model.info() | {"classes": None, "accuracy": accuracy}
            yield "trained", found | measure_compilation(model, folder)
    if {"flash", "latency"} & set(parts):
        table = adult(find_data(args.data))
        model = train_adult(table)
        rows, labels = (each[next(table.splits())[1]] for each in (table.X.to_numpy(object), table.y))
        accuracy = float(np.mean(model.predict(rows) == labels))
        yield "adult", model.info() | {"classes": None, "accuracy": accuracy}
    if "flash" in parts:
        yield "flash", measure_flash(model, folder)
    if "latency" in parts:
        yield "latency", measure_latency(model, table, folder)


def main() -> None:
    """Measure, print, write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the data sets (default: $GATEWISE_DATA)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, help="some of the parts")
    parser.add_argument("--model", type=Path, help="a trained model, to be compiled too")
    records.add_options(parser)
    args = parser.parse_args()
    run = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    findings = {}
    with tempfile.TemporaryDirectory() as name:
        for part, found in measure_all(args, Path(name)):
            findings[part] = found
            print(part, json.dumps(found, indent=1), flush=True)
    if args.record:
        records.write("export_c", run, findings)


if __name__ == "__main__":
    main()
