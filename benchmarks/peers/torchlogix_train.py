"""Runner of torchlogix's training step: its parametrizations, each eager and under torch.compile.

Left at what is fastest: soft sampling (others add work), a basis that is not materialized, wiring that is fixed unless
the size has candidates.
"""

import importlib.util
import sys
import types

import torch

from benchmarks.train import stepping


def pass_over_init() -> None:
    """Put the bare package in place: its `__init__` imports a module that needs Python 3.12, unused in training."""
    spec = importlib.util.find_spec("torchlogix")
    if spec is None:
        raise SystemExit("torchlogix must be installed, got none; see benchmarks/peers/install.py")
    package = types.ModuleType("torchlogix")
    package.__path__ = spec.submodule_search_locations or []
    sys.modules["torchlogix"] = package


pass_over_init()

from torchlogix.layers import GroupSum, LogicDense  # noqa: E402

SETTINGS = [
    f"{parametrization}-{mode}" for parametrization in ("raw", "warp", "light") for mode in ("eager", "compile")
]


def build(job: stepping.TrainJob) -> stepping.Step:
    """The peer's network and the step that trains it."""
    parametrization, mode = job.setting.split("-")
    layers: list[torch.nn.Module] = []
    n_inputs = job.size.n_inputs
    for width in job.size.widths:
        sampling = {"forward_sampling": "soft", "weight_init": "random"}
        wires = {"connections": "learnable", "connections_kwargs": {"num_candidates": job.size.k}}
        layer = LogicDense(
            n_inputs,
            width,
            parametrization=parametrization,
            parametrization_kwargs=sampling,
            **(wires if job.size.k else {}),
        )
        layers.append(layer)
        n_inputs = width
    net = torch.nn.Sequential(*layers, GroupSum(job.size.n_groups, job.size.tau))
    return stepping.make_step(job, net, stepping.fused_adam(net.parameters()), compiled=mode == "compile")


if __name__ == "__main__":
    stepping.run(build, SETTINGS)
