"""Separable losses: sums over the entries of a residual row.

Entries are taken one by one, in the columns as they are: outliers in single entries
are theirs.
"""

from __future__ import annotations

from .._validation import check_real
from ._native import NativeLoss
from ._radial import WidthLoss


class L1(NativeLoss):
    r"""Sum of \|r_k\|: outliers in single entries, independent Laplace noise."""


class HuberEntries(WidthLoss):
    r"""Half of r_k^2 where \|r_k\| <= delta, else delta \|r_k\| - delta^2/2, summed.

    Least squares for entries of ordinary size, with outliers in single ones; without
    the kinks of :class:`L1`.

    Parameters
    ----------
    delta : float, optional
        The size of an entry at which the loss turns linear, above 0, in the unit of
        the data. By default 1.345 times a robust scale of the entries of the
        residuals of the best flat sheet, computed in ``fit``.
    """

    name = "huber_entries"


class Lp(NativeLoss):
    r"""Sum of \|r_k\|^p: generalised Gaussian noise.

    Parameters
    ----------
    p : float
        Power, at least 1.
    """

    def __init__(self, p: float) -> None:
        self.p = check_real("p", p)


class Quantile(NativeLoss):
    r"""Sum of (1-p) r_k where r_k >= 0, else -p r_k, of residuals r = fit - data.

    That of quantile regression: about the part p of the data lies below the sheet.
    ``Quantile(0.5)`` is half of :class:`L1`.

    Parameters
    ----------
    p : float
        Part of the data below, between 0 and 1.
    """

    def __init__(self, p: float) -> None:
        self.p = check_real("p", p)
