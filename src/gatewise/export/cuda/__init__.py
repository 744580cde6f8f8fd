"""CUDA C++ for many rows at once: a header, a source, what stands in for CUDA without a GPU, a check, and a README.

In: a model, or a circuit, whose rows then are bits. Out: a package of six files.
Invariant: the code gives the counts, scores and answers of the model, bit for bit, whether nvcc compiles it or, with
cpu.h, a C++ compiler; equal models give equal bytes. A kernel never waits for another thread of its own launch: a
launch computes the gates of one level, so the order of launches is all the order there is.
"""

from gatewise.circuit import Circuit
from gatewise.export.c.constants import write_head_tables, write_sizes
from gatewise.export.netlist import Netlist, find_operations, slice_groups
from gatewise.export.package import Package, format_number, read_template, write_array
from gatewise.export.page import describe_source, fill_page
from gatewise.export.source import Source, make_source
from gatewise.export.vectors import write_vectors
from gatewise.model import Model

__all__ = ["to_cuda"]

STATE_BYTES = 2**25
"""What the words of the rows that are evaluated at once may take: what caches of GPUs hold."""


def to_cuda(model: Model | Circuit, *, name: str = "model", dtype: str | None = None) -> Package:
    """A model as CUDA C++, with a program that checks it on a GPU, or without.

    Parameters
    ----------
    model, name, dtype
        See `to_c`.

    Returns
    -------
    dict of file name to bytes
        ``name.h``, ``name.cu``, ``cpu.h``, ``check.cu``, ``vectors.txt`` and ``README.md``.

    Examples
    --------
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> sorted(to_cuda(xor, name="parity"))
    ['README.md', 'check.cu', 'cpu.h', 'parity.cu', 'parity.h', 'vectors.txt']
    """
    source = make_source(model, style="table", name=name, dtype=dtype)
    sizes = f"{write_sizes(source)}\n#define MODEL_N_NODES {source.netlist.n_nodes}"
    score = read_template("c/score.h")
    texts = {
        f"{name}.h": source.fill("cuda/model.h", sizes=sizes),
        f"{name}.cu": source.fill("cuda/model.cu", tables=_write_tables(source), score=score),
        "cpu.h": read_template("cuda/cpu.h"),
        "check.cu": source.fill("c/check.c"),
        "vectors.txt": write_vectors(source),
        "README.md": fill_page("cuda/README.md", describe_source(source)),
    }
    return {file: text.encode() for file, text in texts.items()}


def _write_tables(source: Source) -> str:
    netlist = source.netlist
    questions = [(i, *bit) for i, asked in enumerate(source.asked) for bit in asked.list_bits()]
    asked = (f"{{{column}, {kind}}}" for column, kind, _ in questions)
    constants = (format_number(constant, source.dtype) for *_, constant in questions)
    coded = zip((netlist.a << 3 | find_operations(netlist.gate)).tolist(), netlist.b.tolist(), strict=True)
    slices = [", ".join(map(str, each)) for each in slice_groups(netlist)]
    cuts = netlist.cut_levels()
    sizes = {"N_SLICES": len(slices), "N_LEVELS": len(cuts) - 1, "MAX_WORDS": _count_words(netlist)}
    return "\n".join(
        [
            *(f"#define {name} {size}" for name, size in sizes.items()),
            f"#define IS_MISSING(x) {'((x) != (x))' if source.dtype[0] == 'f' else 'false'}",
            write_array("__device__ const int32_t asked[][2]", asked, "{0, 0}"),
            write_array("__device__ const model_value constants[]", constants),
            write_array("__device__ const uint32_t gates[][2]", (f"{{{a}, {b}}}" for a, b in coded), "{0, 0}"),
            write_array("__device__ const int32_t bases[]", (str(group.base) for group in netlist.groups)),
            write_array("__device__ const uint32_t counted[]", map(str, netlist.read_nodes().tolist())),
            write_array(
                "__device__ const int32_t slices[][4]",
                (f"{{{each}}}" for each in slices),
                "{0, 0, 0, 0}",
            ),
            write_array("const int32_t levels[]", map(str, cuts)),
            write_head_tables(source),
        ]
    )


def _count_words(netlist: Netlist) -> int:
    """How many words of rows are evaluated at a time: as many as `STATE_BYTES` hold, but 32 for a warp to share."""
    words = STATE_BYTES // (4 * max(netlist.n_nodes, 1)) // 32 * 32
    return min(max(words, 32), 2**15)
