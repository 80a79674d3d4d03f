"""What parameters must be: numbers, switches, seeds and threads.

Every function returns the argument in the form that the library takes, or raises
the error that names it, what it is, and what is wanted. Rows and weights, whose
checks are those of scikit-learn, have :mod:`scqm._rows`.
"""

from __future__ import annotations

import math
import numbers
import os
from typing import Any

import numpy as np

from .exceptions import InputError

# The seed of a RandomState is drawn below this bound.
SEED_BOUND = 2**31 - 1


def check_integer(name: str, value: Any, least: int) -> int:
    """Return an integer of at least ``least``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise InputError(f"{name} is {value!r}; want an integer of at least {least}")
    number = int(value)
    if not least <= number < 2**31:
        raise InputError(
            f"{name} is {number}; want at least {least} and less than 2**31"
        )
    return number


def check_count(name: str, value: Any) -> int | None:
    """Return an integer of at least 1; None, which stands for a default, stays."""
    return None if value is None else check_integer(name, value, 1)


def check_latent(value: Any, may_be_open: bool) -> int:
    """Return n_components; 0 where a part of the variance or "auto" leaves it open."""
    if isinstance(value, str) or (
        isinstance(value, float | np.floating) and not float(value).is_integer()
    ):
        if not may_be_open:
            raise InputError(f"n_components is {value!r}; want an integer here")
        if value == "auto" or (not isinstance(value, str) and 0 < value < 1):
            return 0
        raise InputError(
            f"n_components is {value!r}; want an integer of at least 1, a part of the "
            "variance between 0 and 1, or 'auto'"
        )
    return check_integer("n_components", value, 1)


def check_real(
    name: str, value: Any, least: float = -math.inf, above: bool = False
) -> float:
    """Return a finite number of at least, or above, ``least``."""
    bound = f" {'above' if above else 'of at least'} {least}"
    wanted = f"a finite number{bound if math.isfinite(least) else ''}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise InputError(f"{name} is {value!r}; want {wanted}")
    if not math.isfinite(value) or value < least or (above and value == least):
        raise InputError(f"{name} is {value}; want {wanted}")
    return float(value)


def check_bool(name: str, value: Any) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} is {value!r}; want True or False")
    return bool(value)


def check_missing(value: Any) -> bool:
    """Return whether missing entries are ignored."""
    if value not in ("error", "ignore"):
        raise InputError(f"missing is {value!r}; want 'error' or 'ignore'")
    return bool(value == "ignore")


def check_seed(value: Any) -> int:
    """Return a seed; None stands for 0, so that fits can be repeated."""
    if value is None:
        return 0
    if isinstance(value, np.random.RandomState):
        return int(value.randint(SEED_BOUND))
    if isinstance(value, np.random.Generator):
        return int(value.integers(SEED_BOUND))
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise InputError(
            f"random_state is {value!r}; want an integer, a RandomState, a Generator "
            "or None"
        )
    number = int(value)
    if not 0 <= number < 2**64:
        raise InputError(
            f"random_state is {number}; want at least 0 and less than 2**64"
        )
    return number


def check_threads(value: Any) -> int:
    """Return the number of threads; 0 stands for all processors."""
    if value is not None:
        return check_integer("n_threads", value, 1)
    # A list is for nested regions, as OpenMP reads it: the first is the outermost.
    setting = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(setting) if setting.isdecimal() else 0


def number(value: Any, what: str) -> float:
    """Return a number that a function of the user has returned as a float."""
    if isinstance(value, float):  # np.float64 is one
        return value
    try:
        array = np.asarray(value)
        fits = array.shape == () and np.can_cast(array.dtype, np.float64, "same_kind")
    except ValueError:
        fits = False
    if not fits:
        kind = f"an array of shape {array.shape}" if np.ndim(value) else repr(value)
        raise InputError(f"{what} returned {kind}; want a number")
    return float(array)
