"""The mean of rows under a loss.

The mean is computed in the library, with the influence of every row on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from . import losses
from ._display import to_frame
from ._native import Array
from ._options import documented
from ._rows import check_complete
from ._validation import check_threads
from .losses._answer import run
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
        Length over which the kinks of the loss were rounded for the influence, 0 where
        they were not.
    loss : Loss
        The loss, with the parameters used.
    notes : list of str
        What was done differently from what could be expected, and why.
    n_samples : int
        Number of rows that the mean is of.
    """

    mean: Array
    influence: Array | None
    objective: float
    status: str
    rounding: float
    loss: losses.Loss
    notes: list[str]
    n_samples: int

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
            f"FrechetMean({mean} of {self.n_samples} rows by loss {self.loss.name}, "
            f"objective {self.objective:.6g}, {self.status})"
        )


@documented
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
    """Compute the mean of rows under a loss, and the influence of every row on it.

    With "squared_l2" it is the ordinary mean, with "l1" the median of every
    column, with "l2" the geometric median.

    Parameters
    ----------
    X : array-like of shape (n, D)
        One sample per row.
    loss : str, Loss or callable, default="l2"
        Loss of a row of differences, as for :class:`scqm.SCQM`, but not "auto".
    {p}
    delta : float, optional
        Width of the losses that have one; by default that of
        :class:`scqm.losses.Huber` and :class:`scqm.losses.Tukey` for the distances
        from the geometric median.
    {precision}
    missing : {"error", "ignore"}, default="error"
        Rows with missing entries (NaN, pandas.NA, masked): refuse them, or leave
        them out, and say so in ``notes``.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, at least 0.
    {n_threads}

    Returns
    -------
    FrechetMean
        The mean, and the influence of every row.

    Raises
    ------
    InputError
        Data or parameters that cannot be used; a ValueError.

    Notes
    -----
    The influence follows from the first-order condition by implicit differentiation.
    Losses such as "l1", whose second derivatives vanish but at kinks, are rounded for
    that over n**(-1/5) times the typical residual.

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
    settings = {"threads": check_threads(n_threads)}
    report, arrays = run(resolved, "mean", settings, x=rows, weights=weights)
    influence: Array | None = None
    if "influence" in arrays:
        influence = np.zeros((len(kept), rows.shape[1]))
        influence[kept] = arrays["influence"].reshape(rows.shape)
    return FrechetMean(
        mean=arrays["c"],
        influence=influence,
        objective=report["objective"],
        status=report["status"],
        rounding=report["rounding"],
        loss=as_fitted(resolved, report["params"]),
        notes=notes + ([report["note"]] if report["note"] else []),
        n_samples=len(rows),
    )
