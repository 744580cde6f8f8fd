"""What the pages say of models: on tables, and exported to C, WebAssembly and Verilog.

In: a record. Out: its numbers and tables as Markdown, by name.
"""

from collections.abc import Sequence
from statistics import mean, median

from benchmarks.numbers.text import duration, number, percent, render_table
from benchmarks.records import Record

ESTIMATORS = {
    "gatewise": "gatewise",
    "tree": "50-leaf tree",
    "linear": "linear",
    "MLP": "MLP",
    "HistGradientBoosting": "HistGradientBoosting",
    "LightGBM": "LightGBM (tl2cgen)",
}
CODES = {
    "gatewise unrolled": "gatewise, straight code",
    "LightGBM, tl2cgen": "LightGBM of 100 trees by tl2cgen",
    "emlearn forest": "scikit-learn forest of 100 trees by emlearn",
    "emlearn tree": "scikit-learn tree of 50 leaves by emlearn",
    "gatewise table": "gatewise, table",
}
FORMS = {
    "counts": "counts",
    "class": "counts and class",
    "pipelined": "counts, a register every 6 levels",
    "torchlogix": "counts, torchlogix",
}


def tabular(record: Record) -> dict[str, str]:
    """Accuracy, speed and size beside other estimators; sizes and speed are those of Adult."""
    found = {(each["table"], each["estimator"]): each for each in record["results"] if not each["sizes"]}
    tables = list(dict.fromkeys(each["table"] for each in found.values() if not each["regression"]))
    regressions = list(dict.fromkeys(each["table"] for each in found.values() if each["regression"]))

    def scores(table: str) -> list[float]:
        return [mean(found[table, name]["scores"]) for name in ESTIMATORS]

    def means_of(tables: list[str]) -> list[float]:
        return [mean(each) for each in zip(*map(scores, tables), strict=True)]

    def seconds(name: str) -> list[float]:
        return [mean(each["fit_seconds"]) for (_, estimator), each in found.items() if estimator == name]

    adult = [found["adult", name] for name in ESTIMATORS]
    compiled = f" ({number(found['adult', 'LightGBM']['compiled_ns_per_row'])})"
    rows = [
        [f"mean accuracy, {len(tables)} tables", *map(percent, means_of(tables))],
        ["Adult", *map(percent, scores("adult"))],
        [f"mean R², {len(regressions)} tables", *(f"{value:.3f}" for value in means_of(regressions))],
        ["median seconds to fit", *(number(median(seconds(name))) for name in ESTIMATORS)],
        ["ns per row", *(number(each["ns_per_row"]) + compiled * ("compiled_ns_per_row" in each) for each in adult)],
        ["bytes", *(f"{each['bytes'] / 1e3:,.0f} K" for each in adult)],
    ]
    return {"table": render_table(["", *ESTIMATORS.values()], rows), "smaller": _smaller(record), "all": _all(found)}


def _all(found: dict[tuple[str, str], Record]) -> str:
    """Every table: gatewise / LightGBM."""
    rows = []
    for table in dict.fromkeys(table for table, _ in found):
        pair = [found[table, name] for name in ("gatewise", "LightGBM")]
        shape = "×".join(f"{n:,}" for n in pair[0]["shape"])
        is_regression = pair[0]["regression"]
        score = [f"{mean(each['scores']):.3f}" if is_regression else percent(mean(each["scores"])) for each in pair]
        losses = [] if is_regression else [f"{mean(each['log_losses']):.3f}" for each in pair]
        seconds = [number(mean(each["fit_seconds"])) for each in pair]
        speeds = [number(each["ns_per_row"]) for each in pair]
        gates = f"{pair[0]['model']['gates']:,}"
        rows.append([table, shape, *(" / ".join(each) for each in (score, losses, seconds, speeds)), gates])
    return render_table(["table", "shape", "accuracy or R²", "log loss", "seconds to fit", "ns per row", "gates"], rows)


def _smaller(record: Record) -> str:
    """Circuits of fewer gates on Adult."""
    rows = [[str(each["sizes"]["max_iter"]), *_adult_cells(each)] for each in record["results"] if each["sizes"]]
    return render_table(["terms at most", "gates", "accuracy", "ns per row", "bytes"], rows)


def _adult_cells(each: Record) -> Sequence[str]:
    numbers = number(each["ns_per_row"]), f"{each['bytes']:,}"
    return [f"{each['model']['gates']:,}", percent(each["scores"][0]), *numbers]


def export_c(record: Record) -> dict[str, str]:
    """Bytes on a microcontroller, nanoseconds per row, seconds of writing and compiling."""
    small, _, large = record["compile"]
    flash = [
        [each["style"], each["dtype"], *(f"{each[key]:,}" for key in ("flash", "bss", "stack"))]
        for each in record["flash"]
    ]
    latency = [[title, number(min(record["latency"][name].values()))] for name, title in CODES.items()]
    return {
        "flash": render_table(["style", "row", "flash (code and data)", "static RAM", "stack"], flash),
        "latency": render_table(["code", "ns per row"], latency),
        "adult-gates": f"{record['adult']['gates']:,}",
        "adult-bits": f"{record['adult']['bits']:,}",
        "adult-accuracy": percent(record["adult"]["accuracy"]),
        "compile-small": _compile_seconds(small["raw"]),
        "compile-large": _compile_seconds(large["raw"]),
        "compile-trained": _compile_seconds(record["trained"]),
        "trained-gates": f"{record['trained']['gates']:,}",
        "trained-accuracy": percent(record["trained"]["accuracy"]),
    }


def _compile_seconds(found: Record) -> str:
    return f"{found['write_seconds']:.1f} + {number(found['gcc_seconds'])} s"


def wasm(record: Record) -> dict[str, str]:
    """Size and speed in node."""
    columns = ["gates", "style", "module", "images per second, raw bytes", "packed bits", "one image"]
    rows = [
        [
            f"{each['gates']}, {each['n_gates']:,}",
            each["style"],
            f"{each['module_bytes'] / 1e3:.0f} KB",
            *(f"{each[key] / 1e6:.1f} million" for key in ("bytes_per_second", "bits_per_second")),
            f"{each['one_row_us']:.0f} µs",
        ]
        for each in record["styles"]
    ]
    return {"table": render_table(columns, rows)}


def synthesis(record: Record) -> dict[str, str]:
    """Lookup tables beside torchlogix's Verilog."""
    small = record["nets"][0]
    keys = ("lut4", "lut6", "ffs", "depth6")
    columns = ["from bits to", "tables of 4", "tables of 6", "flip-flops", "depth, tables of 6"]
    rows = [[title, *(f"{small['results'][form][key]:,}" for key in keys)] for form, title in FORMS.items()]
    sizes = [
        [
            f"6×{net['width']:,}",
            percent(net["accuracy"], 2),
            *(f"{net['results'][form]['lut6']:,}" for form in ("counts", "torchlogix")),
            f"{net['lut6_ratio']:.2f}",
        ]
        for net in record["nets"]
    ]
    lut4 = [small["results"][form]["lut4"] for form in ("counts", "torchlogix")]
    return {
        "table": render_table(columns, rows),
        "sizes": render_table(["gates", "test images right", "tables of 6", "torchlogix", "ratio"], sizes),
        "lut4-ratio": f"{lut4[0] / lut4[1]:.2f} times",
    }


def verify(record: Record) -> dict[str, str]:
    """Seconds of each question, and how many were decided."""
    rows = [
        [
            each["question"],
            f"{each['n']:,}",
            duration(each["median"]),
            duration(each["worst"]),
            ", ".join(f"{n:,} {outcome}" for outcome, n in each["outcomes"].items()),
        ]
        for each in record["results"]
    ]
    return {"table": render_table(["question", "asked", "median", "worst", "answers"], rows)}


def report(record: Record) -> dict[str, str]:
    """Pages about models: making them, and using them in a browser."""
    rows = [
        [
            f"{each['page']}, {each['rows']:,} rows",
            f"{each['seconds']:.1f} s",
            f"{each['bytes'] / 1e6:.2f} MB",
            f"{each['paint_ms']:.0f} ms",
            f"{each['answer_ms']:.1f} / {each['answer_worst_ms']:.1f} ms",
            f"{len(each['violations'])}",
        ]
        for each in record["results"]
    ]
    columns = ["page", "made in", "size", "first paint", "change to answer, median / worst", "violations by axe-core"]
    return {"table": render_table(columns, rows)}
