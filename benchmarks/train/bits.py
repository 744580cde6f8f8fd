"""The step on bits: over the step on floats, and over torchlogix, in one run.

    python -m benchmarks.train.bits --record      # benchmarks/results/bits.json

Every contender runs as in `benchmarks.train`: in a process of its own, on as many cores as it has threads, torchlogix
in the same settings. With learned wires both have as many candidates a pin, and both read the best of them;
torchlogix computes in floats.
"""

from collections.abc import Iterator
from dataclasses import asdict

from benchmarks import records
from benchmarks.infer.targets import Verdict, is_disturbed
from benchmarks.peers.install import find_folder
from benchmarks.train.bench import SETTINGS, Bench, Result, conclude, find_commands, make_parser, time_sizes
from benchmarks.train.sizes import BIT_SIZES
from benchmarks.train.targets import entries_of

CONTENDERS = {  # settings of each size, ours on bits first
    "mnist-small": {"gatewise": ["bits", "step"]},
    "mnist-small-256": {"gatewise": ["bits", "step"]},
    "learned-16k": {"gatewise": ["bits"], "torchlogix": SETTINGS["torchlogix"]},
    "mnist-normal": {"gatewise": ["bits", "step"], "torchlogix": SETTINGS["torchlogix"]},
}
OVER_FLOATS = {"mnist-small": (3, 6), "mnist-small-256": (3, 6)}  # target, stretch
OVER_TORCHLOGIX = {"learned-16k": (30, 100), "mnist-normal": (15, 30)}


def judge(results: list[Result]) -> Iterator[Verdict]:
    """Every target that the results can answer."""
    for result in results:
        size, ours, peers = result["size"], entries_of(result, "gatewise"), entries_of(result, "torchlogix")
        others = {"the step on floats": (ours[1:], OVER_FLOATS), "torchlogix": (peers, OVER_TORCHLOGIX)}
        for name, (entries, targets) in others.items():
            if size in targets and entries:
                best = min(entries, key=lambda entry: entry["step_ms"])
                n_threads = result["threads"]
                title = f"{size}, {n_threads} thread{'s' * (n_threads > 1)}: on bits, over {name} {best['setting']}"
                disturbed = any(map(is_disturbed, [ours[0], *entries]))
                yield Verdict(title, best["step_ms"] / ours[0]["step_ms"], *targets[size], disturbed=disturbed)


def main() -> None:
    """Run, print the table and the verdicts, write the record."""
    args = make_parser(__doc__, list(BIT_SIZES)).parse_args()
    run = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    commands = find_commands(["gatewise", "torchlogix"], find_folder())

    def make_bench(size: str) -> Bench:
        settings = CONTENDERS[size]
        return Bench({name: commands[name] for name in settings}, settings, seconds=args.seconds)

    results = time_sizes(args, make_bench)
    sizes = {size: asdict(BIT_SIZES[size]) for size in args.sizes}
    conclude("bits", args, run, judge(results), {"sizes": sizes, "results": results})


if __name__ == "__main__":
    main()
