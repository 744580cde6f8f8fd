from typing import Literal

import numpy as np
from numpy.typing import NDArray

def levels() -> list[str]: ...
def simplify(
    n_inputs: int,
    gate: NDArray[np.uint8],
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    outputs: NDArray[np.int32],
    group_ptr: NDArray[np.int32],
) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], tuple[int, ...]]: ...

class Engine:
    def __init__(
        self,
        n_inputs: int,
        gate: NDArray[np.uint8],
        a: NDArray[np.int32],
        b: NDArray[np.int32],
        outputs: NDArray[np.int32],
        group_ptr: NDArray[np.int32],
        keep_outputs: bool,
        threads: int,
        level: str,
        words: int,
    ) -> None: ...
    def counts(self, data: NDArray[np.uint8], n_rows: int, layout: Layout) -> NDArray[np.int32] | None: ...
    def classify(self, data: NDArray[np.uint8], n_rows: int, layout: Layout) -> NDArray[np.int32] | None: ...
    def outputs(self, data: NDArray[np.uint8], n_rows: int, layout: Layout) -> NDArray[np.bool_] | None: ...
    @property
    def words(self) -> int: ...
    @property
    def n_slots(self) -> int: ...
    @property
    def n_levels(self) -> int: ...

Layout = Literal["bytes", "big", "little", "planes"]
