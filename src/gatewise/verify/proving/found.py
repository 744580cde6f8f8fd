"""How a search ended: what every way to search gives out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Found:
    """How a search ended.

    Parameters
    ----------
    point : int64 array or None
        Where all forms are at least 0; or where the form is greatest, of those that were seen.
    is_complete : bool
        Whether nothing is left to be searched: without a point there is none, and a greatest value is exact.
    low, high : int
        The value at the point, and what no point exceeds.
    n_boxes : int
        Boxes that were bounded.
    """

    point: NDArray[np.int64] | None
    is_complete: bool
    low: int
    high: int
    n_boxes: int
