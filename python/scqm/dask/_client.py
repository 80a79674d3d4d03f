"""What estimators on Dask have in common: the client, and rows in parts.

Rows are arrays or data frames of Dask. They become an array with known sizes, all
columns in one chunk and, where blocks matter, chunks of whole blocks.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
from distributed import Client, get_client
from sklearn.base import BaseEstimator

from .._native import Array
from .._rows import check_columns, check_entries, plain
from .._sums import BLOCK_ROWS
from ..exceptions import InputError


def find_client(client: Client | None = None) -> Client:
    """Return the client that is given, or the one that is there."""
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise InputError(
                "there is no client of Dask; start one, as by distributed.Client(), "
                "or give it: client=..."
            ) from None
    if client.asynchronous:
        raise InputError("client is asynchronous; want one whose calls wait")
    return client


def is_lazy(X: object) -> bool:
    """Whether rows are a collection of Dask."""
    return bool(dask.is_dask_collection(X))


def is_frame(X: object) -> bool:
    """Whether rows are a data frame of Dask."""
    return is_lazy(X) and hasattr(X, "to_dask_array") and hasattr(X, "columns")


def array_of(X: Any) -> da.Array:
    """Return rows as an array, whose sizes may be unknown, in one chunk of columns.

    Missing entries of any kind are NaN in it.
    """
    if is_frame(X):
        if any(not isinstance(k, np.dtype) or k.kind == "O" for k in X.dtypes):
            X = X.map_partitions(_floats, meta=_floats(X._meta))
        X = X.to_dask_array()
    if not isinstance(X, da.Array):
        raise InputError(
            f"X is {type(X).__name__}; want an array or a data frame of Dask"
        )
    if X.ndim != 2:
        raise InputError(f"X has {X.ndim} dimensions; want rows, (n, D)")
    if X.dtype == object or isinstance(X._meta, np.ma.MaskedArray):
        X = X.map_blocks(_floats, dtype=np.float64, meta=np.empty((0, 0)))
    if X.dtype.kind not in "fiub":
        raise InputError(f"X has dtype {X.dtype}; convert it to real numbers")
    if len(X.chunks[1]) > 1:
        warnings.warn(
            f"X has {len(X.chunks[1])} chunks of columns, which are put together; "
            "rechunk it to chunks of whole rows",
            UserWarning,
            stacklevel=4,
        )
        X = X.rechunk({1: -1})
    return X


def _floats(part: Any) -> Any:
    """Return rows with NaN where an entry is missing, in a frame where they were."""
    try:
        known = plain(part)
        return known.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"X is no table of numbers: {error}") from None


def check_lazy(
    estimator: BaseEstimator, X: Any, rows: da.Array, *, reset: bool = False
) -> None:
    """Check, or learn, names and number of columns, as estimators in memory do."""
    named = X._meta if is_frame(X) else np.empty((0, rows.shape[1]))
    check_columns(estimator, named, named, reset=reset)


def chunk_of(
    part: Any,
    first: int,
    length: int | None = None,
    *,
    missing: bool = False,
    empty: bool = False,
) -> npt.NDArray[Any]:
    """Return the rows of a chunk from row number first on, as many as it declares."""
    rows = np.asarray(plain(part))
    if length is not None and len(rows) != length:
        raise InputError(
            f"the chunk of X from row {first} on has {len(rows)} rows where {length} "
            "are declared; call compute_chunk_sizes(), or mend what makes the chunk"
        )
    check_entries(rows, missing=missing, empty=empty, first=first)
    return rows


def weights_of(sample_weight: Any, X: da.Array) -> da.Array | None:
    """Return the weights of rows, in the same chunks, or None."""
    if sample_weight is None:
        return None
    if is_lazy(sample_weight) and hasattr(sample_weight, "to_dask_array"):
        sample_weight = sample_weight.to_dask_array()
    weights = da.asarray(plain(sample_weight, "sample_weight"))
    if weights.ndim != 1:
        raise InputError(
            f"sample_weight has {weights.ndim} dimensions; want a number for each row"
        )
    sizes = X.chunks[0]
    if np.isnan(weights.chunks[0]).any() or np.isnan(sizes).any():
        raise InputError(
            "there are chunks of unknown sizes; call compute_chunk_sizes() of X and "
            "sample_weight"
        )
    if weights.shape[0] != X.shape[0]:
        raise InputError(
            f"sample_weight has {weights.shape[0]} entries; X has {X.shape[0]} rows"
        )
    same = weights.rechunk((sizes,))
    return same.map_blocks(_weights, dtype=np.float64, meta=np.empty(0))


def _weights(part: Any, block_info: Any = None) -> Array:
    """Return the weights of a chunk, checked."""
    first, end = block_info[0]["array-location"][0]
    own: Array = np.asarray(plain(part, "sample_weight"), np.float64)
    if len(own) != end - first:
        raise InputError(
            f"sample_weight has {len(own)} entries for rows {first} to {end - 1}"
        )
    bad = np.flatnonzero(~(own >= 0) | np.isinf(own))
    if len(bad):
        raise InputError(
            f"weight of row {first + bad[0]} is {own[bad[0]]}; want a finite number of "
            "at least 0"
        )
    return own


def with_sizes(client: Client, X: da.Array) -> da.Array:
    """Return an array whose chunks have known sizes, which takes a read if not."""
    if not np.isnan(X.chunks[0]).any():
        return X
    count = dask.delayed(len, pure=False)
    parts = client.compute([count(part) for part in X.to_delayed()[:, 0]])
    sizes = tuple(client.gather(parts))
    X = X.copy()
    X._chunks = (sizes, X.chunks[1])
    return X


def whole_blocks(X: da.Array, rows: int = BLOCK_ROWS) -> da.Array:
    """Return an array in chunks of whole blocks of rows, with a warning if it was not.

    Chunks keep their rows as far as that goes, and empty ones are left out.
    """
    sizes = [int(size) for size in X.chunks[0]]
    fits = all(size and size % rows == 0 for size in sizes[:-1]) and sizes[-1] > 0
    if fits:
        return X
    wanted = _rounded(sizes, rows)
    if all(size % rows == 0 for size in [s for s in sizes if s][:-1]):
        return X.rechunk({0: wanted})  # empty chunks only: nothing moves
    warnings.warn(
        f"X has chunks that are no multiples of {rows} rows, such as "
        f"{next(s for s in sizes if s % rows)}; they are rechunked to {len(wanted)} "
        "that are, for which rows move between workers",
        UserWarning,
        stacklevel=4,
    )
    return X.rechunk({0: wanted})


def _rounded(sizes: Sequence[int], rows: int) -> tuple[int, ...]:
    """Return sizes that are multiples of a block, near those given."""
    total = sum(sizes)
    ends = {total}
    for at in accumulate(sizes[:-1]):
        ends.add(min(round(at / rows) * rows, total))
    ordered = sorted(ends - {0})
    return tuple(int(n) for n in np.diff([0, *ordered]))
