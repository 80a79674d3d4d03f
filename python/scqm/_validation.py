"""What arguments must be: rows, weights, numbers and seeds.

Every function returns the argument in the form that the library takes, or raises
the error that names it, what it is, and what is wanted.
"""

from __future__ import annotations

import math
import numbers
import os
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight, validate_data

from . import _native
from ._native import Array
from .exceptions import InputError

# The seed of a RandomState is drawn below this bound.
SEED_BOUND = 2**31 - 1


def check_rows(
    estimator: BaseEstimator, X: npt.ArrayLike, *, reset: bool = False, **checks: Any
) -> Array:
    """Return rows as C-contiguous float64, checked, without a copy if it can."""
    _refuse(X)
    checked = validate_data(
        estimator, X, reset=reset, dtype=np.float64, order="C", **checks
    )
    return _native.contiguous(checked)


def check_plain_rows(X: npt.ArrayLike, name: str = "X") -> Array:
    """Return such rows without an estimator."""
    _refuse(X)
    checked = check_array(X, dtype=np.float64, order="C", input_name=name)
    return _native.contiguous(checked)


def check_weights(sample_weight: npt.ArrayLike | None, rows: Array) -> Array | None:
    """Return the weights of rows, checked, or None."""
    if sample_weight is None:
        return None
    return _native.contiguous(
        _check_sample_weight(
            sample_weight, rows, dtype=np.float64, ensure_non_negative=True
        )
    )


def _refuse(X: npt.ArrayLike) -> None:
    """Refuse what would become numbers silently."""
    dtype = getattr(X, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        raise InputError(f"X has dtype {dtype}; convert dates and times to numbers")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        row = np.argwhere(np.ma.getmaskarray(X))[0].tolist()
        raise InputError(
            f"X has masked entries, the first at {row}; remove or impute them first"
        )


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


def check_real(name: str, value: Any, least: float, above: bool) -> float:
    """Return a finite number of at least, or above, ``least``."""
    wanted = f"a finite number {'above' if above else 'of at least'} {least}"
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


def check_seed(value: Any) -> int:
    """Return a seed; None stands for 0, so that fits can be repeated."""
    if value is None:
        return 0
    if isinstance(value, np.random.RandomState):
        return int(value.randint(SEED_BOUND))
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise InputError(
            f"random_state is {value!r}; want an integer, a RandomState or None"
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
    setting = os.environ.get("OMP_NUM_THREADS", "")
    return int(setting) if setting.isdecimal() else 0
