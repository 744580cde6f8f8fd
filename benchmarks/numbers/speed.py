"""What the pages say of speed: inference, training, the loop around it, local wiring, accuracy against time.

In: a record. Out: its numbers and tables as Markdown, by name.
"""

from collections.abc import Iterator, Sequence

from benchmarks.infer.targets import fastest_from_bools
from benchmarks.nets import SIZES
from benchmarks.numbers.text import duration, number, percent, ratio, render_table, span
from benchmarks.records import Record
from benchmarks.train.sizes import BIT_SIZES, CONVOLUTION_SIZES
from benchmarks.train.sizes import SIZES as TRAIN_SIZES
from benchmarks.train.targets import entries_of

NAMES = {
    "monk": "MONK",
    "adult": "Adult",
    "mnist-small": "MNIST-small",
    "cifar-small": "CIFAR-small",
    "mnist-normal": "MNIST-normal",
    "cifar-medium": "CIFAR-medium",
    "cifar-large": "CIFAR-large",
    "cifar-large-x4": "CIFAR-large ×4",
}
RECIPES = {
    "paper": "paper",
    "straight-through": "straight-through with CAGE",
    "residual": "residual initialization",
    "light": "light parametrization",
    "batch 500": "batch 500, rate 0.02",
    "ours": "**ours**",
}
MILESTONES = (0.95, 0.96, 0.97, 0.975)  # of validation accuracy
LAYOUTS = ("bools", "packed", "planes", "planes of 512")


def infer(record: Record) -> dict[str, str]:
    """Nanoseconds per row beside the peers, random gates."""
    nets = {net["size"]: net for net in record["nets"] if net["kind"] == "random"}
    small = nets["mnist-small"]
    kernel = min(peer["kernel_ns"] for peer in small["peers"] if "kernel_ns" in peer)
    columns = ["network (gates, inputs)", "gatewise", "fastest peer", "ratio", "ready to run", "peers' compiler"]
    return {
        "table": render_table(columns, [_infer_row(net) for net in nets.values()]),
        "clock": f"{record['limits']['cycles_per_ns']:.1f} GHz",
        "packed": f"{number(small['ours']['packed_ns'])} ns",
        "packed-over-kernel": ratio(kernel / small["ours"]["packed_ns"]),
        "two-threads": f"{small['ours']['library_ns'] / small['ours_two_threads']['library_ns']:.2f}×",
        "memory": f"{nets['cifar-large-x4']['ours']['peak_memory_gb']:.2f} GB",
    }


def _infer_row(net: Record) -> Sequence[str]:
    size, ours, peers = SIZES[net["size"]], net["ours"], net["peers"]
    shape = f"{NAMES[net['size']]} ({size.n_layers}×{size.width:,}, {size.n_inputs:,})"
    cells = [shape, number(ours["library_ns"])]
    if not peers:
        return [*cells, "–", "–", duration(ours["preparation_s"]), "–"]
    fastest = fastest_from_bools(peers)
    cells += [number(fastest), ratio(fastest / ours["library_ns"]), duration(ours["preparation_s"])]
    return [*cells, f"{span(peer['preparation_s'] for peer in peers)} s"]


def train(record: Record) -> dict[str, str]:
    """Milliseconds per step beside the peers."""
    results = {(each["size"], each["threads"]): each for each in record["results"]}
    columns = ["network", "gatewise", "torchlogix", "difflogic", "ratios, one thread"]
    small, normal = results["mnist-small", 1], results["mnist-normal", 1]
    memory = {
        name: min(entry["peak_memory_mb"] for entry in entries_of(small, name)) for name in ("torchlogix", "difflogic")
    }
    ours = entries_of(small, "gatewise")[0]["peak_memory_mb"]
    return {
        "table": render_table(columns, [_train_row(size, results) for size in TRAIN_SIZES if (size, 1) in results]),
        "compiled-small": f"{number(_step_ms(small, 'difflogic', 'compile'))} ms",
        "compiled-normal": f"{number(_step_ms(normal, 'difflogic', 'compile'))} ms",
        "memory": f"{ours:.0f} MB",
        "memory-torchlogix": f"{memory['torchlogix']:.0f} MB",
        "memory-difflogic": f"{memory['difflogic']:,.0f} MB",
    }


def _train_row(size: str, results: dict[tuple[str, int], Record]) -> Sequence[str]:
    def steps(contender: str, setting: str = "") -> list[float]:
        return [_step_ms(results[size, n], contender, setting) for n in (1, 2)]

    ours, torchlogix, difflogic = steps("gatewise", "step"), steps("torchlogix"), steps("difflogic", "eager")
    shape = f"{NAMES[size]} ({TRAIN_SIZES[size].n_layers}×{TRAIN_SIZES[size].width:,})"
    cells = [" / ".join(map(number, each)) for each in (ours, torchlogix, difflogic)]
    return [shape, *cells, f"{ratio(torchlogix[0] / ours[0])} / {ratio(difflogic[0] / ours[0])}"]


def _step_ms(result: Record, contender: str, setting: str) -> float:
    """Of one setting, or of the fastest."""
    entries = entries_of(result, contender)
    return min(entry["step_ms"] for entry in entries if setting in ("", entry["setting"]))


def bits(record: Record) -> dict[str, str]:
    """Milliseconds per step on bits, beside the step on floats and torchlogix."""
    columns = ["network", "rows", "threads", "on bits", "on floats", "torchlogix", "ratio"]
    rows = []
    for result in record["results"]:
        size, ours = BIT_SIZES[result["size"]], entries_of(result, "gatewise")
        others = ours[1:], entries_of(result, "torchlogix")
        best = [min((entry["step_ms"] for entry in entries), default=None) for entries in others]
        cells = ["–" if ms is None else number(ms) for ms in (ours[0]["step_ms"], *best)]
        found = [ratio(ms / ours[0]["step_ms"]) for ms in best if ms is not None]
        shape = f"{size.n_layers}×{size.width:,}" + (f", {size.k} candidates a pin" if size.k else "")
        rows.append([shape, f"{size.batch}", f"{result['threads']}", *cells, " / ".join(found)])
    return {"table": render_table(columns, rows)}


def convolution(record: Record) -> dict[str, str]:
    """Milliseconds per step of trees of gates: on bits, on floats, and torchlogix's."""
    rows = []
    for result in record["results"]:
        size, (bits, floats) = CONVOLUTION_SIZES[result["size"]], entries_of(result, "gatewise")
        ours, peer = bits["step_ms"], _step_ms(result, "torchlogix", "")
        shape = f"{' × '.join(map(str, size.shape))}, {' + '.join(map(str, size.channels))} trees"
        cells = [number(ours), number(floats["step_ms"]), number(peer), ratio(peer / ours)]
        rows.append([shape, f"{result['threads']}", *cells])
    return {"table": render_table(["network", "threads", "on bits", "on floats", "torchlogix", "ratio"], rows)}


def unrolled(record: Record) -> dict[str, str]:
    """What a file of shared gates becomes, and in what time."""
    return {
        "gates": f"{record['gates']:,}",
        "ready": f"{record['ready_s']:.1f} s",
        "memory": f"{record['peak_memory_gb']:.2f} GB",
        "file": f"{record['file_kb']:.0f} kB",
    }


def loop(record: Record) -> dict[str, str]:
    """Milliseconds per step in the loop, beside the bare step."""
    rows = []
    for each in record["results"]:
        size, bare = TRAIN_SIZES[each["size"]], each["bare_ms"]
        added = [
            f"{number(ms)} ({100 * (ms / bare - 1):+.1f} %)".replace("-", "−")
            for ms in (each["fit_ms"], each["checkpoints_ms"])
        ]
        rows.append([f"{NAMES[each['size']]} ({size.n_layers}×{size.width:,})", number(bare), *added])
    return {"table": render_table(["network", "bare", "in `fit`", "with checkpoints"], rows)}


def locality(record: Record) -> dict[str, str]:
    """Nanoseconds per row of local beside random wiring."""
    columns = ["net", "wiring", "slots", "bools", "packed", "planes", "planes, 512 rows per call"]
    return {
        "table": render_table(columns, [row for net in record["nets"] for row in _locality_rows(net)]),
        "gain-256000": _gain(record, 256_000),
        "gain-1024000": _gain(record, 1_024_000),
    }


def _locality_rows(net: Record) -> Iterator[Sequence[str]]:
    names = [f"5×{net['width']:,}, {net['n_inputs']:,} inputs", ""]
    for name, wiring in zip(names, ("random", "local"), strict=True):
        found = net[wiring]
        yield [name, wiring, f"{found['n_slots']:,}", *(number(found[layout]) for layout in LAYOUTS)]


def _gain(record: Record, width: int) -> str:
    """How many times faster local wiring is, in all nets of that width and in all layouts."""
    nets = [net for net in record["nets"] if net["width"] == width]
    return f"{span((net['random'][key] / net['local'][key] for net in nets for key in LAYOUTS), ' to ')} times"


def locality_accuracy(record: Record) -> dict[str, str]:
    """Accuracy with both wirings, by the number of inputs."""
    return {
        f"{each['wiring'].removesuffix('_wiring')}-{each['n_inputs']}": percent(each["accuracy"], 2)
        for each in record["nets"]
    }


def curves(record: Record) -> dict[str, str]:
    """Accuracy on MNIST of several recipes in equal time."""
    found = {each["recipe"]: each for each in record["results"]}
    columns = ["recipe", "epochs", "seconds", "validation %", "test %", "gap", *(f"{100 * m:g} %" for m in MILESTONES)]
    rows = []
    for name, title in RECIPES.items():
        each = found[name]
        reached = [next((f"{s:.0f}" for s, hard, *_ in each["curve"] if hard >= m), "–") for m in MILESTONES]
        scores = [f"{100 * each[key]:.2f}" for key in ("validation_accuracy", "test_accuracy")]
        gap = f"{100 * each['test_gap']:+.2f}".replace("-", "−")
        rows.append([title, f"{each['epochs']}", f"{each['seconds']:.0f}", *scores, gap, *reached])
    return {"table": render_table(columns, rows)}
