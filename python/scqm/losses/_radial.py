"""Radial losses: functions of the norm of a residual row.

They do not change under rotations of the rows, so that the sheet has no preferred
axes. Outliers among whole rows are theirs.
"""

from __future__ import annotations

from .._validation import check_number
from ._native import NativeLoss


class L2(NativeLoss):
    r"""Norm \|r\|: outliers among whole rows, isotropic Laplace noise."""


class SquaredL2(NativeLoss):
    r"""Squared norm \|r\|^2: least squares, Gaussian noise without outliers."""

    name = "squared_l2"


class Huber(NativeLoss):
    r"""Half of \|r\|^2 where \|r\| <= delta, else delta \|r\| - delta^2/2.

    Parameters
    ----------
    delta : float, optional
        The norm at which the loss turns linear, above 0, in the unit of the
        data. By default 1.345 times a robust scale of the residuals of the best
        flat sheet, computed in ``fit``.
    """

    def __init__(self, delta: float | None = None) -> None:
        self.delta = None if delta is None else check_number("delta", delta)
