"""Radial losses: functions of the norm of a residual row.

They do not change under rotations of the rows, so that the sheet has no preferred
axes. Outliers among whole rows are theirs.
"""

from __future__ import annotations

from .._validation import check_real
from ._native import NativeLoss


class L2(NativeLoss):
    r"""Norm \|r\|: outliers among whole rows, isotropic Laplace noise."""


class SquaredL2(NativeLoss):
    r"""Squared norm \|r\|^2: least squares, Gaussian noise without outliers."""

    name = "squared_l2"


class WidthLoss(NativeLoss):
    """A loss with a width, which the rows suggest where it is left out."""

    def __init__(self, delta: float | None = None) -> None:
        self.delta = None if delta is None else check_real("delta", delta)


class Huber(WidthLoss):
    r"""Half of \|r\|^2 where \|r\| <= delta, else delta \|r\| - delta^2/2.

    Parameters
    ----------
    delta : float, optional
        The norm at which the loss turns linear, above 0, in the unit of the
        data. By default 1.345 times a robust scale of the residuals of the best
        flat sheet, computed in ``fit``.
    """


class Tukey(WidthLoss):
    r"""Tukey's biweight: no weight from delta on.

    delta^2/6 (1 - (1 - \|r\|^2/delta^2)^3) where \|r\| <= delta, else delta^2/6:
    half of \|r\|^2 near 0. Rows weigh the less the farther out they are. It is not
    convex; a fit starts at that by ``L2``, then at that with a third of delta.
    The width decides what counts as outlying: where rows near another sheet pull the
    fit, halve it.

    Parameters
    ----------
    delta : float, optional
        The norm from which on a row has no weight, above 0, in the unit of the data.
        By default 4.685 times a robust scale of the residuals of the fit with a third
        of the delta of that by ``L2``, without outliers, or of the best flat sheet
        where rows are streamed, computed in ``fit``.
    """


class Cauchy(WidthLoss):
    r"""Cauchy's loss: see :class:`Tukey`; no row loses all weight.

    delta^2/2 log(1 + \|r\|^2/delta^2).

    Parameters
    ----------
    delta : float, optional
        The norm at which a row has half of its weight. By default as of
        :class:`Tukey`, with the factor 2.385.
    """


class Welsch(WidthLoss):
    r"""Welsch's loss delta^2/2 (1 - exp(-\|r\|^2/delta^2)): see :class:`Tukey`.

    Parameters
    ----------
    delta : float, optional
        The norm at which a row has 37 % of its weight. By default as of
        :class:`Tukey`, with the factor 2.985.
    """


class GemanMcClure(WidthLoss):
    r"""Half of \|r\|^2 / (1 + \|r\|^2/delta^2): see :class:`Tukey`.

    Parameters
    ----------
    delta : float, optional
        The norm at which a row has a quarter of its weight. By default as of
        :class:`Tukey`, with the factor 3.787.
    """

    name = "geman_mcclure"
