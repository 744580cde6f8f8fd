"""Circuits run by the kernels for tensors, in Triton's interpreter."""

from collections.abc import Sequence
from unittest import mock

import numpy as np
from support.batches import Answers, Case
from support.processes import call_interpreted
from support.tools import require_module


def count_by_tensors(cases: Sequence[Case]) -> Answers:
    """Counts of each batch of rows of each circuit, from rows or, of every second circuit, from planes.

    A circuit gets all batches at once, and tiles are large, as the interpreter takes milliseconds per program.
    """
    require_module("torch", "pip install -c constraints.txt torch==2.13.0")
    require_module("triton", "pip install -c constraints.txt triton==3.7.1")
    found: Answers = call_interpreted(_count, cases)
    return found


def _count(cases: Sequence[Case]) -> Answers:
    import torch

    from gatewise.nn import TensorEngine, TensorPlanes
    from gatewise.nn.kernels import cuda, tensor_engine

    torch.use_deterministic_algorithms(True)  # new tensors hold the largest integer, so that what is left out is seen
    answers: Answers = []
    large = mock.patch.multiple(tensor_engine, GATES=256, INPUTS=256, WORDS=64)
    with mock.patch.object(cuda, "has_kernels", bool), large:
        for i, (circuit, batches) in enumerate(cases):
            rows = torch.from_numpy(np.concatenate(batches).astype(bool))
            counts = TensorEngine(circuit, "cpu").counts(TensorPlanes.pack(rows) if i % 2 else rows).numpy()
            ends = np.cumsum([len(batch) for batch in batches])[:-1]
            answers.append([(part,) for part in np.split(counts, ends)])
    return answers
