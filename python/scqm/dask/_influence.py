"""Influence of rows that Dask holds: arrays that are not yet computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np

from .. import _influence
from .._block_influence import BlockInfluence
from .._sums import pack
from ._tasks import leave_out, same

NAMES = "influence", "residual", "residual_without", "leverage"


@dataclass(frozen=True, eq=False)
class Influence:
    """How much each row drives a fit; arrays have an entry for every row.

    Attributes
    ----------
    influence, residual, residual_without, leverage : dask.array.Array of shape (n,)
        As of :class:`scqm.Influence`, not yet computed.
    remaining, rounding : float
        As there.
    """

    influence: Any
    residual: Any
    residual_without: Any
    leverage: Any
    remaining: float
    rounding: float = 0.0

    def compute(self) -> _influence.Influence:
        """Return all of it in memory, with notes."""
        move, residual, without, leverage = dask.compute(
            *(getattr(self, name) for name in NAMES)
        )
        notes = _influence.notes_of(self.remaining, float(move.max()))
        return _influence.Influence(
            move, residual, without, leverage, self.remaining, self.rounding, notes
        )

    def top(self, n: int = 10) -> Any:
        """Return the numbers of the rows that drive the fit, computed.

        Parameters
        ----------
        n : int, default=10
            How many at most.

        Returns
        -------
        ndarray of int
            The row of the largest influence first.
        """
        count = min(max(n, 0), len(self.influence))
        if count == 0:
            return np.empty(0, np.int64)
        return np.asarray(da.argtopk(self.influence, count).compute(), np.int64)


def influence_of(of: BlockInfluence, parts: Any) -> Influence:
    """Return the influence of rows, chunk by chunk."""
    packed = dask.delayed(same, pure=False)(pack(of))
    work = dask.delayed(leave_out, pure=False)
    numbers = da.concatenate(
        [
            da.from_delayed(
                work(packed, chunk, first, weights, length), (length, 4), float
            )
            for chunk, first, weights, length in parts.chunks()
        ]
    )
    move, residual, without, leverage = (numbers[:, k] for k in range(4))
    return Influence(move, residual, without, leverage, of.remaining)
