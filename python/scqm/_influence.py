"""What rows do to fits: influence, and reports on projections.

Both are computed in the library, at the fit that a model records. Here are their
results, as arrays with an entry for every row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ._display import Rows
from ._native import Array

__all__ = ["Influence", "ProjectionReport"]


@dataclass(frozen=True, eq=False, repr=False)
class Influence(Rows):
    """How much each row drives a fit; arrays have an entry for every row.

    Attributes
    ----------
    influence : ndarray of shape (n,)
        How far the sheet moves when the row is left out: the root mean square
        distance, over all rows with their weights, between the point of the
        sheet nearest to a row and the one that will be, in the unit of the data.
    residual : ndarray of shape (n,)
        Distance of the row from the sheet.
    residual_without : ndarray of shape (n,)
        The same from the sheet of the other rows. Its mean estimates the distance
        of new rows.
    leverage : ndarray of shape (n,)
        Part of the row in what holds the sheet in place against its own pull,
        from 0 to 0.95.
    remaining : float
        Distance, measured likewise, by which one more Newton step of the fit
        itself would move the sheet.
    rounding : float
        Length over which the kinks of the loss were rounded, 0 where they were
        not. Influences are then those on the fit with the rounded loss.
    notes : list of str
        Warnings.
    """

    _columns = "influence", "residual", "residual_without", "leverage"

    influence: Array
    residual: Array
    residual_without: Array
    leverage: Array
    remaining: float
    rounding: float
    notes: list[str] = field(default_factory=list)
    _index: Any = field(default=None, repr=False)

    @property
    def sheet_error(self) -> float:
        """Standard error of the sheet by the jackknife, in the unit of the data.

        It is the root of the sum of the squared influences of all rows: the root mean
        square, over rows, by which their points of the sheet would differ in fits to
        other rows of the kind. It holds no bias, such as that of a sheet of too few
        dimensions.
        """
        return float(np.sqrt(np.sum(self.influence**2)))

    def top(self, n: int = 10) -> npt.NDArray[np.int64]:
        """Return the numbers of the rows that drive the fit.

        Parameters
        ----------
        n : int, default=10
            How many at most.

        Returns
        -------
        ndarray of int
            The row of the largest influence first.
        """
        order = np.argsort(-self.influence, kind="stable")
        return order[: max(n, 0)].astype(np.int64)

    def __repr__(self) -> str:
        if not len(self.influence):
            return "Influence(0 rows)"
        first, all_ = int(self.top(1)[0]), self.influence
        return (
            f"Influence({len(all_)} rows, the largest {all_[first]:.4g} of row "
            f"{first}, the median {np.median(all_):.4g})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ProjectionReport(Rows):
    """How far projections can be trusted; arrays have an entry for every row.

    Attributes
    ----------
    residual : ndarray of float, shape (n,)
        Distance of the row from its projection.
    min_eigenvalue : ndarray of float, shape (n,)
        Smallest eigenvalue of the second derivatives of the loss of the row with
        respect to tau, at the projection. About 0 or below, small moves of the
        row move its projection far, unless a kink of the loss holds it.
    certified : ndarray of bool, shape (n,), or None
        Whether the residual is so small, compared with the curvature of the
        sheet, that the projection is the nearest point of the sheet for certain
        (losses of the norm, as "l2" and "huber"), or that the loss is
        convex around it ("lp" with 1 < p <= 2). None for other losses.
    parts : ndarray of int, shape (n,)
        Places of the sheet found at which the loss of the row has a minimum.
    second : ndarray of float, shape (n,)
        Distance of the row from the second best of them; 0 where there is one
        only.
    """

    _columns = "residual", "min_eigenvalue", "certified", "parts", "second"

    residual: Array
    min_eigenvalue: Array
    certified: npt.NDArray[np.bool_] | None
    parts: npt.NDArray[np.int64]
    second: Array
    _index: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        n = len(self.residual)
        if not n:
            return "ProjectionReport(0 rows)"
        sure, far = "", self.residual
        if self.certified is not None:
            sure = f", {int(self.certified.sum())} certified"
        return (
            f"ProjectionReport({n} rows{sure}, {int((self.parts > 1).sum())} with a "
            f"second place; residuals: median {np.median(far):.4g}, largest "
            f"{far.max():.4g} of row {int(far.argmax())})"
        )


def notes_of(remaining: float, most: float) -> list[str]:
    """Return the warnings of influences of which the largest is known."""
    if remaining <= most / 10:
        return []
    return [
        f"one more step of the fit would move the sheet by {remaining:.3g}, the most "
        f"influential row moves it by {most:.3g}: fit with a smaller tolerance first"
    ]
