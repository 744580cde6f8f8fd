"""The C++ core without Python: warnings as errors, under sanitizers, and for ARM under emulation."""

import os
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.corpus import circuits, random_rows
from support.tools import require_tool

from gatewise.run import reference

SOURCE = Path(__file__).parent
ROW_COUNTS = (0, 1, 63, 64, 65, 255, 256, 257, 1000)

BUILDS = {
    "plain": [],
    "address,undefined": [
        "-DCMAKE_CXX_FLAGS=-fsanitize=address,undefined -fno-sanitize-recover=all -g",
        "-DGATEWISE_OPTIMIZATION=-O1",
    ],
    "thread": ["-DCMAKE_CXX_FLAGS=-fsanitize=thread -g", "-DGATEWISE_OPTIMIZATION=-O1"],
    "aarch64": [
        "-DCMAKE_SYSTEM_NAME=Linux",
        "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
        "-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++",
        "-DCMAKE_EXE_LINKER_FLAGS=-static",
    ],
}


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpus circuits with rows and the outputs the reference gives them, in the format replay.cpp reads."""
    rng = np.random.default_rng(7)
    parts = []
    for i, circuit in enumerate(circuits().values()):
        rows = random_rows(rng, ROW_COUNTS[i % len(ROW_COUNTS)], circuit.n_inputs)
        outputs = reference.evaluate_outputs(circuit, rows)
        sizes = (circuit.n_inputs, circuit.n_gates, circuit.n_outputs, circuit.n_groups, len(rows))
        arrays = (circuit.gate, circuit.a, circuit.b, circuit.outputs, circuit.group_ptr, rows, outputs)
        parts.append(struct.pack("<5i", *sizes) + b"".join(array.tobytes() for array in arrays))
    path = tmp_path_factory.mktemp("replay") / "vectors.bin"
    path.write_bytes(struct.pack("<i", len(parts)) + b"".join(parts))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("build", BUILDS)
def test_native_programs_agree(build: str, vectors: Path, tmp_path: Path) -> None:
    cmake = require_tool("cmake", "pip install cmake")
    options, run = BUILDS[build], []
    if build == "aarch64":
        require_tool("aarch64-linux-gnu-g++", "apt-get install g++-aarch64-linux-gnu")
        run = [require_tool("qemu-aarch64", "apt-get install qemu-user")]
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    configure = [cmake, "-S", str(SOURCE), "-B", str(tmp_path), "-DCMAKE_BUILD_TYPE=Release", *generator, *options]
    subprocess.run(configure, check=True, capture_output=True)
    subprocess.run([cmake, "--build", str(tmp_path), "-j", "2"], check=True)
    if build == "plain":
        check_linkage(tmp_path)
    names = ["relaxed", "bits", "shared", "tables", "boost", "encode", "pool"]
    programs = [["replay", str(vectors)], *([name] for name in names)]
    # That sanitizer follows no threads of forked children, and QEMU aborts when a process with threads forks.
    if build not in ("thread", "aarch64"):
        programs.append(["fork"])
    # What a parent's threads had on their stacks is lost to a child: no leak of ours.
    environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}
    for program in programs:
        command = [*run, str(tmp_path / program[0]), *program[1:]]
        result = subprocess.run(
            command, capture_output=True, text=True, env=environment if program == ["fork"] else None, timeout=600
        )
        assert result.returncode == 0, result.stdout + result.stderr
        if program[0] == "replay":
            assert ("neon" if build == "aarch64" else "portable") in result.stdout


def check_linkage(build: Path) -> None:
    """Kernels of a target show the linker their tables and nothing else, so that targets cannot mix."""
    nm = require_tool("nm", "apt-get install binutils")
    objects = sorted(build.glob("CMakeFiles/kernels_*.dir/**/kernels.cpp.o"))
    assert len(objects) >= 3
    for path in objects:
        listed = subprocess.run(
            [nm, "-C", "--defined-only", "-g", str(path)], capture_output=True, text=True, check=True
        )
        target = path.relative_to(build / "CMakeFiles").parts[0].removeprefix("kernels_").removesuffix(".dir")
        area = {"engine": "Engine", "encode": "Encode", "train": "Train"}[path.parent.name]
        symbols = [line.split(maxsplit=2)[2] for line in listed.stdout.splitlines()]
        assert symbols == [f"gatewise::{target}::k{area}Kernels"]
