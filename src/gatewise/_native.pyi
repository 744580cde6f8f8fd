import numpy as np
from numpy.typing import NDArray

def simplify(
    n_inputs: int,
    gate: NDArray[np.uint8],
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    outputs: NDArray[np.int32],
    group_ptr: NDArray[np.int32],
) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], tuple[int, ...]]: ...
