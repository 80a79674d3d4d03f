"""What workers run. They import no more than a task needs.

What a task is about, a question or a model, comes as a pickle within the graph, so that
an error says where it could not be loaded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._block_influence import BlockInfluence
from .._sums import BlockSums, unpack
from ._client import chunk_of


def same(packed: bytes) -> bytes:
    """Return what it is given: a task that others share, and that can be run again."""
    return packed


def add_up(
    packed: bytes, rows: Any, first: int, weights: npt.NDArray[Any] | None
) -> bytes:
    """Sum over the rows of a chunk."""
    function: BlockSums = unpack(packed, "the fit")
    return function(rows, first, weights)


def merge(packed: bytes, parts: list[bytes]) -> bytes:
    """Merge the sums of chunks that follow each other."""
    function: BlockSums = unpack(packed, "the fit")
    return function.merge(parts)


def leave_out(
    packed: bytes, rows: Any, first: int, weights: npt.NDArray[Any] | None, length: int
) -> npt.NDArray[np.float64]:
    """Find the influence of the rows of a chunk."""
    of: BlockInfluence = unpack(packed, "the model")
    return of._numbers(chunk_of(rows, first, length), first, weights)


def through(
    part: Any, packed: bytes, method: str, block_info: Any = None
) -> npt.NDArray[np.float64]:
    """Send the rows of a chunk through a model."""
    model = unpack(packed, "the model")
    first, end = block_info[0]["array-location"][0]
    sized = first == first and end == end
    rows = chunk_of(
        part,
        int(first) if sized else 0,
        int(end - first) if sized else None,
        missing=model._report.get("missing") is not None,
    )
    if len(rows) == 0:  # which scikit-learn refuses
        columns = {"transform": model._n_features_out, "losses": 1}
        return np.empty((0, columns.get(method, model.n_features_in_)))
    if method == "losses":
        out: npt.NDArray[np.float64] = model._model().map("losses", rows, 1)
    else:
        out = getattr(model, method)(rows)
    return out
