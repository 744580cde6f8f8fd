"""Exports to C: time of compilation, latency of one raw row beside compiled trees, and bytes on a microcontroller.

    pip install -c constraints.txt pandas lightgbm treelite tl2cgen emlearn
    python benchmarks/export_c.py --data DIR [--parts compile flash latency] [--large] [--model FILE] [--json FILE]

compile: nets of random gates as they are and optimized, straight code, by gcc -O2; --large adds 512,000 gates, --model
a trained model.
flash: the Adult model (5 x 256 gates) for a Cortex-M3 by arm-none-eabi-gcc -Os, with unused sections dropped; the bytes
of predict and all it needs, libgcc's floating point included, and the stack below predict.
latency: one call a row, 4,096 test rows of Adult one after the other in one thread, by gcc at -O2 and -O3 for this
processor. LightGBM has its defaults and is compiled by tl2cgen; emlearn gets scikit-learn's tree of 50 leaves, and a
forest of 100. Times are processor time, the least of 200 passes.
"""

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import machine
import numpy as np
from mnist import find_data
from nets import KINDS, SIZES, make_net
from tabular_data import Table, adult
from timing import cpu_seconds

from gatewise import Circuit, Model, optimize
from gatewise.export import save_package, to_c

HERE = Path(__file__).resolve().parent
FLAGS = ("-O2", "-O3 -march=native")
N_ROWS = 4096
ARM = ("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-std=c99", "-Os", "-ffunction-sections", "-fdata-sections")
DEEPEST = ("predict", "counts", "evaluate", "take_step", "take")
CALL_MODEL = """
#include "adult.h"
#define N_COLUMNS ADULT_N_COLUMNS
static void prepare(int i, double *row) { (void)i, (void)row; }
static int call(int i, const double *row) { (void)i; return adult_predict(row); }
"""
CALL_LIGHTGBM = """
#include "header.h"
#define N_COLUMNS 14
static union Entry entries[4096][N_COLUMNS];
static void prepare(int i, double *row) {
  for (int j = 0; j < N_COLUMNS; ++j)
    if (row[j] == row[j]) entries[i][j].fvalue = row[j]; else entries[i][j].missing = -1;
}
static int call(int i, const double *row) {
  double share;
  (void)row;
  predict(entries[i], 0, &share);
  return share > 0.5;
}
"""
CALL_EMLEARN = """
#include "trees.h"
#define N_COLUMNS 14
static float floats[4096][N_COLUMNS];
static void prepare(int i, double *row) {
  for (int j = 0; j < N_COLUMNS; ++j) floats[i][j] = (float)row[j];
}
static int call(int i, const double *row) { (void)row; return trees_predict(floats[i], N_COLUMNS); }
"""


def run(command: Sequence[str], folder: Path) -> str:
    """What a program prints."""
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def measure_net(size: str, kind: str, folder: Path) -> dict[str, Any]:
    """Seconds to write and to compile a net, as it is and optimized."""
    net = make_net(SIZES[size], kind)
    whole = Circuit.from_layers(net.n_inputs, net.layers(), net.n_groups)
    result = {"net": size, "kind": kind, "gates": whole.n_gates}
    forms = {"raw": whole, "optimized": optimize(whole)}
    compiled = {
        name: measure_compilation(circuit, folder) | {"gates": circuit.n_gates} for name, circuit in forms.items()
    }
    return result | compiled


def measure_compilation(source: Model | Circuit, folder: Path) -> dict[str, Any]:
    """Seconds to write and to compile."""
    start = cpu_seconds()
    save_package(to_c(source), folder / "compiled")
    written = cpu_seconds()
    run(["gcc", "-std=c99", "-O2", "-c", "model.c"], folder / "compiled")
    done = cpu_seconds()
    shutil.rmtree(folder / "compiled")
    return {"write_seconds": written - start, "gcc_seconds": done - written}


def train_adult(table: Table) -> Model:
    """The paper's small Adult architecture."""
    from gatewise.estimators import LogicClassifier

    training, _ = next(table.splits())
    estimator = LogicClassifier(width=256, depth=5, random_state=0)
    estimator.fit(table.X.iloc[training], table.y[training])
    return estimator.model_


def measure_flash(model: Model, folder: Path) -> list[dict[str, Any]]:
    """Bytes of program and stack, by style and dtype."""
    results = []
    for style, dtype in (("table", "int32"), ("table", "float32"), ("table", "float64"), ("unrolled", "float32")):
        package = folder / f"{style}_{dtype}"
        save_package(to_c(model, style=style, dtype=dtype, name="adult"), package)
        (package / "main.c").write_text(
            '#include "adult.h"\nvolatile int32_t answer;\nextern const adult_value row[];\n'
            "int main(void) { answer = adult_predict(row); return 0; }\n"
        )
        flags = [*ARM, "-DADULT_LANES=8", "-fstack-usage"]
        run([*flags, "-c", "adult.c", "main.c"], package)
        link = ["-nostartfiles", "-Wl,--gc-sections,--defsym=row=0x20001000", "-Wl,-e,main"]
        run([*ARM, *link, "-o", "program", "adult.o", "main.o"], package)
        text, data, bss = map(int, run(["arm-none-eabi-size", "program"], package).splitlines()[1].split()[:3])
        frames = dict(re.findall(r":(?:adult_)?(\w+)\t(\d+)\t", (package / "adult.su").read_text()))
        stack = sum(int(frames.get(name, 0)) for name in DEEPEST)
        results.append({"style": style, "dtype": dtype, "flash": text + data, "bss": bss - 4, "stack": stack})
    return results


def time_call(header: str, sources: Sequence[Path], rows: np.ndarray, folder: Path) -> dict[str, float]:
    """Nanoseconds a call, by compiler flags."""
    (folder / "call.h").write_text(header)
    np.ascontiguousarray(rows, np.float64).tofile(folder / "rows.bin")
    result = {}
    for flags in FLAGS:
        files = [str(HERE / "latency.c"), *map(str, sources)]
        run(["gcc", "-std=gnu99", *flags.split(), "-I", str(folder), "-o", "latency", *files, "-lm"], folder)
        result[flags] = json.loads(run([str(folder / "latency"), "rows.bin"], folder))["ns"]
    return result


def measure_latency(model: Model, table: Table, folder: Path) -> dict[str, dict[str, float]]:
    """Nanoseconds of a row, of the model and of its peers."""
    training, test = next(table.splits())
    results, raw = {}, model.encoder.to_numbers(table.X.iloc[test[:N_ROWS]])
    for style in ("unrolled", "table"):
        package = folder / style
        save_package(to_c(model, style=style, name="adult"), package)
        results[f"gatewise {style}"] = time_call(CALL_MODEL, [package / "adult.c"], raw, package)
    X = table.numbers()
    for name, make in (("LightGBM, tl2cgen", time_lightgbm), ("emlearn", time_emlearn)):
        try:
            results |= make(X[training], table, X[test[:N_ROWS]], folder)
        except ModuleNotFoundError as error:
            print(f"{name} is left out: {error.name} is not installed")
    return results


def time_lightgbm(X: np.ndarray, table: Table, rows: np.ndarray, folder: Path) -> dict[str, dict[str, float]]:
    """LightGBM's trees as C by tl2cgen."""
    import lightgbm
    import tl2cgen
    import treelite

    classifier = lightgbm.LGBMClassifier(n_jobs=2, verbose=-1, random_state=0)
    classifier.fit(X, table.y[: len(X)], categorical_feature=table.categorical)
    trees = treelite.frontend.from_lightgbm(classifier.booster_)
    tl2cgen.generate_c_code(trees, str(folder / "lightgbm"), params={"parallel_comp": 0}, verbose=False)
    source = folder / "lightgbm" / "main.c"
    return {"LightGBM, tl2cgen": time_call(CALL_LIGHTGBM, [source], rows, folder / "lightgbm")}


def time_emlearn(X: np.ndarray, table: Table, rows: np.ndarray, folder: Path) -> dict[str, dict[str, float]]:
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
        results[name] = time_call(CALL_EMLEARN, [], np.nan_to_num(rows, nan=-1), package)
    return results


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the data sets (default: $GATEWISE_DATA)")
    parser.add_argument("--parts", nargs="+", choices=("compile", "flash", "latency"), help="some of the parts")
    parser.add_argument("--large", action="store_true", help="compile 512,000 gates, too, for minutes")
    parser.add_argument("--model", type=Path, help="compile the model of this file, too")
    parser.add_argument("--json", type=Path, help="where to write the results")
    args = parser.parse_args()
    parts = args.parts or ["compile", "flash", "latency"]
    results: dict[str, Any] = {"machine": machine.describe()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "compile" in parts:
            cases = [(size, kind) for size in ["mnist-small", *["cifar-medium"] * args.large] for kind in KINDS]
            results["compile"] = []
            for size, kind in cases:
                results["compile"].append(measure_net(size, kind, folder))
                print(json.dumps(results["compile"][-1]), flush=True)
            if args.model:
                model = Model.load(args.model)
                results["trained"] = model.info() | measure_compilation(model, folder) | {"classes": None}
                print(json.dumps(results["trained"]), flush=True)
        if {"flash", "latency"} & set(parts):
            table = adult(find_data(args.data))
            model = train_adult(table)
            results["adult"] = model.info() | {"classes": None}
        if "flash" in parts:
            results["flash"] = measure_flash(model, folder)
            print(*map(json.dumps, results["flash"]), sep="\n", flush=True)
        if "latency" in parts:
            results["latency"] = measure_latency(model, table, folder)
            print(*(f"{name}: {times}" for name, times in results["latency"].items()), sep="\n")
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
