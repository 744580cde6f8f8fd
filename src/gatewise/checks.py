"""Checks of arguments that several rooms share.

In: the name of an argument and what was given for it. Out: the value in its plain Python type.
Invariant: what does not fit raises a ValueError that names the argument, the rule and what was given.
"""

import numpy as np

MAX_SEED = 2**64 - 1
"""The largest seed of a wiring, a network or a training; seeds start at 0."""

LARGEST = float(np.finfo(np.float64).max)


def as_integer(name: str, value: object, low: int, high: int) -> int:
    """The value as an int; raises ValueError unless it is an integer in ``low..high``.

    Parameters
    ----------
    name : str
        What the error calls the value.
    value : int or numpy integer
        A bool is refused.
    low, high : int
        Both included.

    Examples
    --------
    >>> as_integer("seed", np.uint64(7), 0, MAX_SEED)
    7
    >>> as_integer("seed", 7.0, 0, 9)
    Traceback (most recent call last):
    ValueError: seed must be an integer in 0..9, got 7.0
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ValueError(f"{name} must be an integer in {low}..{high}, got {value!r:.60}")
    return int(value)


def as_number(name: str, value: object) -> float:
    """The value as a float; raises ValueError unless it is a finite number.

    Parameters
    ----------
    name : str
        What the error calls the value.
    value : int, float or numpy scalar
        A bool is refused.

    Examples
    --------
    >>> as_number("offset", np.int32(-3))
    -3.0
    """
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= LARGEST:
        raise ValueError(f"{name} must be a finite number, got {value!r:.60}")
    return float(number)


def as_positive(name: str, value: object) -> float:
    """The value as a float; raises ValueError unless it is a finite number above 0; see `as_number`.

    Examples
    --------
    >>> as_positive("tau", 10)
    10.0
    """
    number = as_number(name, value)
    if not number > 0:
        raise ValueError(f"{name} must be positive, got {value!r:.60}")
    return number
