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
from distributed import Client, get_client

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
    """Return rows as an array, whose sizes may be unknown, in one chunk of columns."""
    if is_frame(X):
        X = X.to_dask_array()
    if not isinstance(X, da.Array):
        raise InputError(
            f"X is {type(X).__name__}; want an array or a data frame of Dask"
        )
    if X.ndim != 2:
        raise InputError(f"X has {X.ndim} dimensions; want rows, (n, D)")
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
