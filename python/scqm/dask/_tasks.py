"""What workers run. They import no more than a task needs.

What a task is about, a question or a model, comes as a pickle within the graph, so that
an error says where it could not be loaded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._sums import BlockSums, unpack


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


def through(rows: Any, packed: bytes, method: str) -> npt.NDArray[np.float64]:
    """Send the rows of a chunk through a model."""
    model = unpack(packed, "the model")
    if len(rows) == 0:  # which scikit-learn refuses
        columns = {"transform": model._n_features_out, "_losses": 1}
        return np.empty((0, columns.get(method, model.n_features_in_)))
    out: npt.NDArray[np.float64] = getattr(model, method)(np.asarray(rows))
    return out
