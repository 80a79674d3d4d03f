"""What rows and their weights must be, by the checks of scikit-learn.

Rows come as arrays, lists or data frames and leave as C-contiguous float64, the form
that the library reads without a copy. What would become numbers silently is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight, validate_data

from . import _native
from ._native import Array
from .exceptions import InputError


def check_rows(
    estimator: BaseEstimator,
    X: npt.ArrayLike,
    *,
    reset: bool = False,
    missing: bool = False,
    **checks: Any,
) -> Array:
    """Return rows as C-contiguous float64, checked, without a copy if it can.

    Where entries can be missing they are NaN.
    """
    refuse(X)
    checked = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=np.float64,
        order="C",
        ensure_all_finite="allow-nan" if missing else True,
        **checks,
    )
    return _native.contiguous(checked)


def check_rows_in_place(
    estimator: BaseEstimator, X: npt.ArrayLike, *, missing: bool = False
) -> npt.NDArray[Any]:
    """Return rows as float64 or float32 in any order, checked, for work slab by slab.

    Arrays of these types, in files too, are not copied.
    """
    refuse(X)
    checked: npt.NDArray[Any] = validate_data(
        estimator,
        X,
        reset=False,
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan" if missing else True,
    )
    return checked


def check_plain_rows(X: npt.ArrayLike, name: str = "X") -> Array:
    """Return such rows without an estimator."""
    refuse(X)
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


def refuse(X: npt.ArrayLike) -> None:
    """Refuse what would become numbers silently."""
    dtype = getattr(X, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        raise InputError(f"X has dtype {dtype}; convert dates and times to numbers")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        row = np.argwhere(np.ma.getmaskarray(X))[0].tolist()
        raise InputError(
            f"X has masked entries, the first at {row}; remove or impute them first"
        )


def check_components(d: int, rows: Array) -> None:
    """Refuse more latent dimensions than rows have entries."""
    if d > rows.shape[1]:
        raise InputError(f"n_components={d} exceeds n_features={rows.shape[1]}")


def like(X: npt.ArrayLike, out: Array) -> Array:
    """Return results as float32 where the rows are, in arrays or all columns."""
    return out.astype(dtype_like(X), copy=False)


def dtype_like(X: npt.ArrayLike) -> npt.DTypeLike:
    """Return float32 where rows are that, in arrays or all columns, else float64."""
    dtypes = getattr(X, "dtypes", None)  # of a data frame
    found = {getattr(X, "dtype", None)} if dtypes is None else set(dtypes)
    return np.float32 if found == {np.dtype(np.float32)} else np.float64


def count_components(rows: Array, weights: Array | None, part: float) -> int:
    """Return how many principal components have a part of the variance."""
    centred = rows - np.average(rows, axis=0, weights=weights)
    if weights is not None:
        centred *= np.sqrt(weights)[:, None]
    most = np.abs(centred).max()
    if not most > 0:
        raise InputError("n_components cannot be chosen: all rows are equal")
    centred /= most
    n, D = centred.shape
    gram = centred.T @ centred if n >= D else centred @ centred.T
    values = np.linalg.eigvalsh(gram)[::-1].clip(min=0)
    reached = np.cumsum(values) >= part * values.sum()
    return int(np.argmax(reached)) + 1
