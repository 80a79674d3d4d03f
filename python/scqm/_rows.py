"""What rows and their weights must be: the one door of all estimators and functions.

Rows come as arrays, lists, data frames or arrays with a mask, and leave as float64 with
NaN where an entry is missing, C-contiguous where the library reads them at once. What
would become numbers silently is refused. :mod:`scqm.dask` looks at its chunks here too.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight, validate_data

from . import _native
from ._native import Array
from ._validation import check_missing
from .exceptions import InputError

# What can be done about a missing entry; models/rows/validate.go says the same.
REMEDY = (
    "fill it in, leave out its row, or ignore what is missing "
    '(missing="ignore", --missing ignore)'
)

# Rows left out that a note names.
NAMED = 10

# Integers up to here are numbers of float64.
EXACT = 2**53

# Numbers that are looked at one by one at a time.
SLAB = 1 << 20


def check_rows(
    estimator: BaseEstimator | None,
    X: Any,
    *,
    reset: bool = False,
    missing: bool = False,
    empty: bool = False,
    in_place: bool = False,
    name: str = "X",
    **checks: Any,
) -> Array:
    """Return rows as C-contiguous float64, checked, without a copy if it can.

    The names and the number of columns must be those of a fitted estimator, or are
    what it learns. In place, rows are float64 or float32 in any order, for work slab by
    slab: arrays of these types, in files too, are not copied.
    """
    rows: Array = check_array(
        plain(X, name),
        dtype=[np.float64, np.float32] if in_place else np.float64,
        order=None if in_place else "C",
        ensure_all_finite=False,
        input_name=name,
        estimator=estimator,
        **checks,
    )
    check_entries(rows, missing=missing, empty=empty, name=name)
    if estimator is not None:
        check_columns(estimator, X, rows, reset=reset)
    return rows if in_place else _native.contiguous(rows)


def check_columns(
    estimator: BaseEstimator, X: Any, rows: npt.NDArray[Any], *, reset: bool = False
) -> None:
    """Check, or learn, names and number of columns: of X if it has names, of rows."""
    named = X if hasattr(X, "columns") else rows
    validate_data(estimator, named, reset=reset, skip_check_array=True)


def plain(X: Any, name: str = "X") -> Any:
    """Return rows with NaN where an entry is missing, and refuse dates and the like."""
    if isinstance(X, list | tuple):
        masked = any(isinstance(x, np.ma.MaskedArray) for x in X)
        X = np.ma.array(X) if masked else np.asarray(X)
    dtype = getattr(X, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        raise InputError(
            f"{name} has dtype {dtype}; convert dates and times to numbers"
        )
    if isinstance(X, np.ma.MaskedArray):
        lost = np.ma.getmaskarray(X)
        X = np.where(lost, np.nan, X.data) if lost.any() else X.data
    pandas: Any = sys.modules.get("pandas")  # without which there is no pandas.NA
    if pandas is not None and isinstance(X, pandas.DataFrame):
        _say_rounded((X.iloc[:, j] for j in range(X.shape[1])), name)
        objects = any(kind.kind == "O" for kind in X.dtypes)
        return X.where(X.notna(), np.nan) if objects else X
    if isinstance(X, np.ndarray):
        _say_rounded([X], name)
        if X.dtype == object and pandas is not None:
            return np.where(pandas.isna(X), np.nan, X)
    return X


def _say_rounded(parts: Iterable[Any], name: str) -> None:
    """Warn of integers that are no numbers of float64."""
    for part in parts:
        kind = getattr(part.dtype, "kind", ""), getattr(part.dtype, "itemsize", 0)
        if kind not in (("i", 8), ("u", 8)) or not part.size:
            continue
        if part.max() > EXACT or part.min() < -EXACT:
            warnings.warn(
                f"{name} has integers beyond 2**53, which float64 rounds; subtract "
                "what they have in common first",
                UserWarning,
                stacklevel=5,
            )
            return


def check_entries(
    rows: npt.NDArray[Any],
    *,
    missing: bool = False,
    empty: bool = False,
    name: str = "X",
    first: int = 0,
) -> None:
    """Refuse infinite entries, and missing ones or empty rows where they cannot be.

    Errors count rows from ``first`` on, where these are a part of a longer table.
    """
    with np.errstate(all="ignore"):
        if np.isfinite(rows.sum(dtype=np.float64)):
            return
    step = max(SLAB // max(rows.shape[1], 1), 1)
    for at in range(0, len(rows), step):
        part = rows[at : at + step]
        bad = np.argwhere(np.isinf(part) if missing else ~np.isfinite(part))
        if len(bad):
            i, j = bad[0].tolist()
            what = f"NaN (missing): {REMEDY}"
            if np.isinf(part[i, j]):
                sign = "+" if part[i, j] > 0 else "-"
                what = f"{sign}Inf (infinite): correct it or leave out its row"
            whose = "" if name == "X" else f" of {name}"
            raise InputError(f"row {first + at + i}, column {j}{whose} is {what}")
        if len(none := np.flatnonzero(np.isnan(part).all(axis=1))) and not empty:
            raise InputError(
                f"row {first + at + none[0]} has no entry, all of its {part.shape[1]} "
                "are missing: leave it out (--drop-missing)"
            )


def check_weights(
    sample_weight: npt.ArrayLike | None, rows: npt.NDArray[Any]
) -> Array | None:
    """Return the weights of rows, checked, or None."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(
        plain(sample_weight, "sample_weight"),
        rows,
        dtype=np.float64,
        ensure_non_negative=True,
    )
    return _native.contiguous(weights)


def check_complete(
    X: Any, missing: str, sample_weight: npt.ArrayLike | None
) -> tuple[Array, Array | None, npt.NDArray[np.bool_], list[str]]:
    """Return the rows, and weights, that miss no entry, where others may be left out.

    With a mask of the rows that are kept, and a note on the others.
    """
    ignoring = check_missing(missing)
    rows = check_rows(None, X, missing=ignoring, empty=ignoring)
    weights = check_weights(sample_weight, rows)
    kept = np.logical_not(np.isnan(rows).any(axis=1))
    if kept.all():
        return rows, weights, kept, []
    lost = np.flatnonzero(~kept)
    if not kept.any():
        raise InputError(f"none of the {len(rows)} rows is without missing entries")
    named = ", ".join(map(str, lost[:NAMED].tolist()))
    more = ", ..." if len(lost) > NAMED else ""
    note = (
        f"{len(lost)} rows with missing entries are left out (counted from 0): "
        f"{named}{more}"
    )
    if weights is not None:
        weights = _native.contiguous(weights[kept])
    return _native.contiguous(rows[kept]), weights, kept, [note]


def check_components(d: int, columns: int) -> None:
    """Refuse more latent dimensions than rows have entries."""
    if d > columns:
        raise InputError(f"n_components={d} exceeds n_features={columns}")


def like(X: npt.ArrayLike, out: Array) -> Array:
    """Return results as float32 where the rows are, in arrays or all columns."""
    return out.astype(dtype_like(X), copy=False)


def dtype_like(X: npt.ArrayLike) -> npt.DTypeLike:
    """Return float32 where rows are that, in arrays or all columns, else float64."""
    dtypes = getattr(X, "dtypes", None)  # of a data frame
    found = {getattr(X, "dtype", None)} if dtypes is None else set(dtypes)
    return np.float32 if found == {np.dtype(np.float32)} else np.float64


def index_of(X: Any) -> Any:
    """Return the index of a data frame of pandas, None of other rows."""
    pandas: Any = sys.modules.get("pandas")
    framed = pandas is not None and isinstance(X, pandas.DataFrame)
    return X.index if framed else None


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
