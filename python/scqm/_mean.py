"""The mean of rows under a loss.

The mean is computed in the library, with the influence of every row on it. The
:class:`FrechetMean` keeps the rows, to say later how it answers to moves of them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _native, losses
from ._display import table, to_frame
from ._library import _core
from ._native import Array, Job, address, call
from ._rows import check_complete, check_rows
from ._validation import check_threads
from .exceptions import InputError
from .losses._answer import answer
from .losses._resolve import as_fitted, resolve

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["FrechetMean", "frechet_mean"]


@dataclass(frozen=True, eq=False, repr=False)
class FrechetMean:
    """The mean of rows under a loss, and what each row does to it.

    Attributes
    ----------
    mean : ndarray of shape (D,)
        The point c for which the sum of loss(c - x_i) is least.
    influence : ndarray of shape (n, D), or None
        How the mean moves when each row is left out, to first order, 0 for rows that
        miss entries. None where the loss does not tell; notes say why.
    objective : float
        Sum of the losses, weighted.
    status : str
        Why the computation ended: "converged" is verified.
    rounding : float
        Length over which the kinks of the loss were rounded for influence and
        response, 0 where they were not.
    loss : Loss
        The loss, with the parameters used.
    notes : list of str
        What was done differently from what could be expected, and why.
    """

    mean: Array
    influence: Array | None
    objective: float
    status: str
    rounding: float
    loss: losses.Loss
    notes: list[str]
    _rows: Array = field(repr=False)
    _kept: npt.NDArray[np.bool_] = field(repr=False)
    _weights: Array | None = field(repr=False)
    _n_threads: int = field(repr=False)

    def to_frame(self) -> DataFrame:
        """Return a data frame of pandas: the mean, and the influence of every row."""
        columns = {f"x{j}": [v] for j, v in enumerate(self.mean)}
        index = ["mean"]
        if self.influence is not None:
            index += [f"influence of row {i}" for i in range(len(self.influence))]
            for j, column in enumerate(self.influence.T):
                columns[f"x{j}"] += list(column)
        return to_frame(columns, index)

    def __repr__(self) -> str:
        mean = np.array2string(self.mean, precision=4, threshold=6, separator=", ")
        return (
            f"FrechetMean({mean} of {len(self._rows)} rows by loss {self.loss.name}, "
            f"objective {self.objective:.6g}, {self.status})"
        )

    def _repr_html_(self) -> str:
        columns: dict[str, Any] = {"column": range(len(self.mean)), "mean": self.mean}
        if self.influence is not None and len(self.influence):
            columns["largest influence"] = np.abs(self.influence).max(axis=0)
            columns["of row"] = np.abs(self.influence).argmax(axis=0)
        return table(f"{self!r}", columns, self.notes)

    def response(self, dX: npt.ArrayLike) -> Array:
        """Return how the mean moves when the rows move.

        Parameters
        ----------
        dX : array-like of shape (n, D)
            Moves of the rows.

        Returns
        -------
        ndarray of shape (D,)
            The move of the mean to first order: H^-1 sum_i w_i H_i dx_i, with H_i
            the second derivatives of the loss at c - x_i and H their weighted
            sum.

        Raises
        ------
        InputError
            Moves that do not fit the rows, or a loss without second derivatives
            at the mean; a ValueError.
        """
        moves = check_rows(None, dX, name="dX")
        if moves.shape != (shape := (len(self._kept), len(self.mean))):
            raise InputError(f"dX has shape {moves.shape}, the rows {shape}")
        moves = _native.contiguous(moves[self._kept])
        center, out = _native.contiguous(self.mean), np.empty(len(self.mean))
        matrix = self.loss._matrix()
        with Job(
            self._rows,
            self._weights,
            matrix,
            center,
            moves,
            out,
            answer=partial(answer, self.loss),
        ) as job:
            job.start(
                _core.bindings_StartMeanResponse,
                json.dumps(_settings(self.loss, self._n_threads)),
                address(self._rows),
                len(self._rows),
                self._rows.shape[1],
                address(self._weights),
                address(matrix),
                address(center),
                address(moves),
                address(out),
            ).wait()
        return out


def frechet_mean(
    X: npt.ArrayLike,
    *,
    loss: losses.LossLike = "l2",
    p: float | None = None,
    delta: float | None = None,
    precision: npt.ArrayLike | None = None,
    missing: Literal["error", "ignore"] = "error",
    sample_weight: npt.ArrayLike | None = None,
    n_threads: int | None = None,
) -> FrechetMean:
    """Compute the mean of rows under a loss, and how it answers to the rows.

    With "squared_l2" it is the ordinary mean, with "l1" the median of every
    column, with "l2" the geometric median.

    Parameters
    ----------
    X : array-like of shape (n, D)
        One sample per row.
    loss : str, Loss or callable, default="l2"
        Loss of a row of differences, as for :class:`scqm.SCQM`, but not "auto".
    p : float, optional
        Power of the loss "lp", at least 1.
    delta : float, optional
        Width of the losses that have one; by default that of
        :class:`scqm.losses.Huber` and :class:`scqm.losses.Tukey` for the distances
        from the geometric median.
    precision : array-like of shape (D, D), optional
        Matrix of the loss "mahalanobis".
    missing : {"error", "ignore"}, default="error"
        Rows with missing entries (NaN, pandas.NA, masked): refuse them, or leave
        them out, and say so in ``notes``.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, at least 0.
    n_threads : int, optional
        Threads to use, as for :class:`scqm.SCQM`; the result does not depend on
        it.

    Returns
    -------
    FrechetMean
        Mean, influence of every row, and the response to moves of rows.

    Raises
    ------
    InputError
        Data or parameters that cannot be used; a ValueError.

    Notes
    -----
    Influence and response follow from the first-order condition by implicit
    differentiation. Losses such as "l1", whose second derivatives vanish but at
    kinks, are rounded for that over n**(-1/5) times the typical residual.

    Examples
    --------
    >>> import numpy as np
    >>> import scqm
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [1.0, 101.0]])
    >>> bool(np.allclose(scqm.frechet_mean(X, loss="squared_l2").mean, [1, 21]))
    True
    >>> bool(scqm.frechet_mean(X, loss="huber", delta=1).mean[1] < 2)
    True
    """
    rows, weights, kept, notes = check_complete(X, missing, sample_weight)
    resolved = resolve(loss, p, delta, precision)
    threads = check_threads(n_threads)
    matrix = resolved._matrix()
    center = np.empty(rows.shape[1])
    influence: Array = np.empty(rows.shape)
    with Job(
        rows,
        weights,
        matrix,
        center,
        influence,
        answer=partial(answer, resolved),
    ) as job:
        job.start(
            _core.bindings_StartMean,
            json.dumps(_settings(resolved, threads)),
            address(rows),
            len(rows),
            rows.shape[1],
            address(weights),
            address(matrix),
            address(center),
            address(influence),
        ).wait()
        report = json.loads(call(_core.bindings_MeanReport, job.number))
    resolved = as_fitted(resolved, report["params"])
    if notes and not report["note"]:
        everywhere = np.zeros((len(kept), rows.shape[1]))
        everywhere[kept] = influence
        influence = everywhere
    return FrechetMean(
        mean=center,
        influence=None if report["note"] else influence,
        objective=report["objective"],
        status=report["status"],
        rounding=report["rounding"],
        loss=resolved,
        notes=notes + ([report["note"]] if report["note"] else []),
        _rows=rows,
        _kept=kept,
        _weights=weights,
        _n_threads=threads,
    )


def _settings(loss: losses.Loss, threads: int) -> dict[str, Any]:
    return {"loss": loss._choice(), "threads": threads}
