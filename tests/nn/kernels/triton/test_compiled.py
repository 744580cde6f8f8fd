"""The kernels compiled for three generations of GPUs, none of which is needed: ceilings on what they take."""

from pathlib import Path

import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")
require_module("triton", "pip install -c constraints.txt triton==3.7.1")

from support.gpu_kernels import compile_kernel

from gatewise.nn.kernels.triton import bit_layers, bits, kernels, layers, mixing, mixtures, pins

CAPABILITIES = 80, 90, 120
SIZES = {"part_stride": "i32!", "per_group": "i32", "n_rows": "i32!", "n_wires": "i32", "n_gates": "i32"}
BITS = {"x": "*i32", "y": "*i32", "words": "*i32", "n_words": "i32", "n_features": "i32!"}
WIRES = {**dict.fromkeys(["a", "b", "starts", "edges", "others"], "*i32"), **SIZES, "factor": "fp32"}
ADDRESSES = dict.fromkeys(["table", "grads", "weights", "first_moments", "second_moments"], "*i64")
FLOATS = dict.fromkeys(["operators", "coefficients", "confidence", "parts"], "*fp32")
NUMBERS = dict.fromkeys(["share1", "share2", "eps"], "fp32") | {"n_parts": "i32", "part_stride": "i32!"}
MIXTURES = {**ADDRESSES, **FLOATS, **NUMBERS, "ends": "*i32", "temperature": "*fp64", "rates": "*fp64"}
MIXTURES["n_operators"] = "i32!"
OF_MIXTURES = {"OPERATORS": 16, "GATES": mixtures.GATES}
ON_BITS = {  # likewise
    "pack": (bits.pack_rows, {"FEATURES": bit_layers.PACKED_FEATURES}, 48),
    "forward": (bits.forward_bits, {"GATES": bit_layers.FORWARD_GATES, "WORDS": 4}, 48),
    "count": (bits.count_groups, {"GATES": bit_layers.COUNTED_GATES}, 48),
    "pins": (bits.backward_pins, {"GATES": pins.GATES, "ROWS": layers.TILE_ROWS}, 128),
    "backward": (
        kernels.backward_layer,
        {"READ": kernels.read_bits, "WIRES": layers.BACKWARD_WIRES, "ROWS": layers.TILE_ROWS},
        128,
    ),
}
OF_FLOATS = {"READ": kernels.read_floats}
LAYERS = {  # the kernel, its constants, and the most registers
    "forward": (kernels.forward_layer, {"GATES": layers.FORWARD_GATES}, 48),
    "backward": (kernels.backward_layer, {**OF_FLOATS, "WIRES": layers.BACKWARD_WIRES}, 128),
    "backward of gates": (kernels.backward_gates, {**OF_FLOATS, "GATES": layers.BACKWARD_GATES}, 128),
}


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("stored", ["fp32", "bf16"])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_fit_registers_and_load_widely(name: str, stored: str, capability: int, tmp_path: Path) -> None:
    kernel, constants, ceiling = LAYERS[name]
    values = dict.fromkeys(["x", "y", "grad_y", "grad_x"], f"*{stored}")
    types = {**WIRES, **values, "coefficients": "*fp32", "parts": "*fp32"}
    constants = {**constants, "ROWS": layers.TILE_ROWS}
    compiled = compile_kernel(kernel, types, constants, capability, tmp_path)
    assert compiled.registers <= ceiling
    assert compiled.spilled == 0
    if capability == 80:  # Triton compiles again where a number is 1
        single = {name: 1 for name in ("per_group", "n_gates", "n_wires") if name in kernel.arg_names}
        assert compile_kernel(kernel, types, {**constants, **single}, capability, tmp_path).spilled == 0
    if stored == "fp32":
        assert compiled.wide_loads >= 2
        unfilled = compile_kernel(kernel, {**types, "n_rows": "i32"}, constants, capability, tmp_path)
        assert unfilled.wide_loads == 0  # so that rows must be filled up


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("name", ["mix", "mix_backward", "update"])
def test_mixtures_fit_registers(name: str, capability: int, tmp_path: Path) -> None:
    kernel, constants = getattr(mixing, name), {**OF_MIXTURES, **({"HARD": False} if name == "mix" else {})}
    single = {"HARD": True, "OPERATORS": 2, "n_operators": 1, "n_parts": 1}  # Triton compiles again where a number is 1
    for more in ({}, {key: value for key, value in single.items() if key in kernel.arg_names}):
        compiled = compile_kernel(kernel, MIXTURES, {**constants, **more}, capability, tmp_path)
        assert compiled.registers <= (48 if name == "mix" else 128)
        assert compiled.spilled == 0


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("name", ON_BITS)
def test_kernels_on_bits_fit_registers(name: str, capability: int, tmp_path: Path) -> None:
    kernel, constants, ceiling = ON_BITS[name]
    rows = {"x": "*u8", "n_rows": "i32"} if name == "pack" else {}
    of_values = {"coefficients": "*fp32", "parts": "*fp32", "sums": "*fp32", "candidates": "*i32", "k": "i32"}
    for stored in ("fp32", "bf16"):
        types = {**WIRES, **BITS, **of_values, "grad_y": f"*{stored}", "grad_x": f"*{stored}", **rows}
        compiled = compile_kernel(kernel, types, constants, capability, tmp_path)
        assert compiled.registers <= ceiling
        assert compiled.spilled == 0


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_adam_of_pins_fits_registers(capability: int, tmp_path: Path) -> None:
    types = {**dict.fromkeys(["weights", "first_moments", "second_moments"], "*fp32"), "n_pins": "i32", "k": "i32"}
    for k in (2, 32):
        constants = {"PINS": pins.PINS, "CANDIDATES": k}
        compiled = compile_kernel(mixing.update_pins, {**MIXTURES, **types}, constants, capability, tmp_path)
        assert compiled.registers <= 128
        assert compiled.spilled == 0
