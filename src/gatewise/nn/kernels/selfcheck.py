"""Training, and circuits on GPUs, checked on this machine, for users who want to know, and to tell us.

In: a device. Out: `Finding`s. On a GPU these are the kernels in Triton; a kernel that fails there is a finding, too.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from gatewise.nn.kernels import cuda
from gatewise.nn.kernels.tensor_engine import TensorEngine, TensorPlanes
from gatewise.nn.network import LogicNetwork, logic_network
from gatewise.nn.step import TrainStep
from gatewise.run import reference
from gatewise.run.selfcheck import ROW_COUNTS, SECONDS, Finding, draw_circuits, draw_rows
from gatewise.run.timing import time_call

TOLERANCE = 1e-4  # of weights after some steps, which float32 rounds
N_STEPS, BATCH = 5, 48


def list_devices() -> tuple[list[str], list[str]]:
    """GPUs that kernels run on, and why they run on no others.

    Examples
    --------
    >>> devices, reasons = list_devices()
    >>> len(devices) + len(reasons) > 0
    True
    """
    names = [f"cuda:{i}" for i in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    able = [name for name in names if cuda.has_kernels(torch.device(name))]
    rule = "kernels need compute capability 8.0 or later, and Triton, which GATEWISE_TRITON=0 turns off"
    reasons = [f"GPU {name}, {torch.cuda.get_device_name(name)}: {rule}" for name in names if name not in able]
    return able, reasons if names else [f"GPUs: torch {torch.__version__} finds none"]


def describe_gpus() -> list[str]:
    """Each GPU of this machine in words.

    Examples
    --------
    >>> len(describe_gpus()) == (torch.cuda.device_count() if torch.cuda.is_available() else 0)
    True
    """
    if not torch.cuda.is_available():
        return []
    found = map(torch.cuda.get_device_properties, range(torch.cuda.device_count()))
    return [
        f"cuda:{i}: {gpu.name}, compute capability {gpu.major}.{gpu.minor}, {gpu.total_memory / 2**30:.0f} GB"
        for i, gpu in enumerate(found)
    ]


def check_device(device: str, *, width: int = 8000) -> list[Finding]:
    """Check training on a device and, on a GPU, its kernels and circuits.

    Parameters
    ----------
    device : str
        "cpu", or one of `list_devices`.
    width : int
        Gates of a layer of the networks that are timed.

    Examples
    --------
    >>> [finding.wrong for finding in check_device("cpu", width=400)]
    ['']
    """
    name = "the CPU" if device == "cpu" else torch.cuda.get_device_name(device)
    checks: dict[str, Callable[[], Finding]] = {f"training, {name}": lambda: _check_training(device, width)}
    if device != "cpu":
        checks[f"kernels in Triton, {name}"] = lambda: _check_kernels(device)
        checks[f"circuits on tensors, {name}"] = lambda: check_circuits(device, width)
    return [_name(what, check) for what, check in checks.items()]


def check_circuits(device: str, width: int) -> Finding:
    """Run circuits on tensors of a device, and compare every count and class with the reference."""
    for what, circuit in draw_circuits().items():
        engine = TensorEngine(circuit, device)
        for n_rows in ROW_COUNTS:
            rows = draw_rows(circuit, n_rows)
            given = torch.from_numpy(rows).to(device)
            expected = reference.count_groups(circuit, rows)
            for form in (given, TensorPlanes.pack(given)):
                found = engine.counts(form).cpu().numpy(), engine.classify(form).cpu().numpy()
                if not (np.array_equal(found[0], expected) and np.array_equal(found[1], expected.argmax(1))):
                    kind = type(form).__name__
                    rule = "must have the answers of the reference, got others"
                    return Finding("", f"{kind} of {n_rows} rows of {what} {rule}")
    return _time_circuits(device, width)


def _time_circuits(device: str, width: int) -> Finding:
    from gatewise.nn.discretize import discretize

    engine = TensorEngine(discretize(_make_network(width).eval()), device)
    n_rows = 2**17 if device.startswith("cuda") else 64
    planes = TensorPlanes.pack((torch.rand(n_rows, 784) > 0.5).to(device))
    timing = time_call(lambda: _wait(engine.counts(planes)), seconds=SECONDS)
    unit = f"rows per second of {6 * width:,} gates, packed, on the device"
    return Finding("", speed=n_rows / timing.median, unit=unit)


def _check_training(device: str, width: int) -> Finding:
    """Steps of a network against autograd in float64, and the time of a larger network's steps."""
    generator = torch.Generator().manual_seed(0)
    exact = logic_network(16, [64, 60], 3, tau=4.0, seed=0).double()
    net = logic_network(16, [64, 60], 3, tau=4.0, seed=0).to(device)
    step = TrainStep(net, learning_rate=0.1, eps=1e-2)
    optimizer = torch.optim.Adam(exact.parameters(), lr=0.1, eps=1e-2)
    for _ in range(N_STEPS):
        x = torch.rand(BATCH, 16, generator=generator).round()
        y = torch.randint(3, (BATCH,), generator=generator)
        step(x.to(device), y.to(device))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(exact(x.double()), y).backward()
        optimizer.step()
    for weight, expected in zip(net.parameters(), exact.parameters(), strict=True):
        error = float((weight.detach().cpu().double() - expected.detach()).abs().max())
        if not error <= TOLERANCE:
            return Finding("", f"weights must be those of autograd up to {TOLERANCE}, got a difference of {error:.3g}")
    step = TrainStep(_make_network(width).to(device))
    x, y = (torch.rand(128, 784) > 0.5).to(device), torch.randint(10, (128,)).to(device)
    timing = time_call(lambda: step(x, y), seconds=SECONDS)
    return Finding("", speed=1e3 * timing.median, unit=f"ms per step of 6 layers of {width:,} gates, 128 rows")


def _check_kernels(device: str) -> Finding:
    from gatewise.nn.kernels.triton import checks

    wrong = {what: error for what, error in checks.run_checks(device).items() if not error <= checks.TOLERANCE}
    rule = f"must deviate from plain torch by {checks.TOLERANCE} at most"
    return Finding("", "".join(f"{what} {rule}, got {error:.3g}; " for what, error in wrong.items()).rstrip("; "))


def _make_network(width: int) -> LogicNetwork:
    return logic_network(784, [width] * 6, 10, seed=0)


def _wait(counts: Tensor) -> None:
    if counts.is_cuda:
        torch.cuda.synchronize(counts.device)


def _name(what: str, check: Callable[[], Finding]) -> Finding:
    """What a check finds, under its name; an error is something wrong, too: compilers and drivers differ."""
    try:
        found = check()
    except Exception as error:
        return Finding(what, f"{type(error).__name__}: {' '.join(str(error).split())[:500]}")
    return Finding(what, found.wrong, found.speed, found.unit)
