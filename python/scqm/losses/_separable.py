"""Separable losses: sums over the entries of a residual row.

Entries are taken one by one, in the columns as they are: outliers in single entries
are theirs.
"""

from __future__ import annotations

from .._validation import check_number
from ._native import NativeLoss


class L1(NativeLoss):
    r"""Sum of \|r_k\|: outliers in single entries, independent Laplace noise."""


class HuberEntries(NativeLoss):
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

    def __init__(self, delta: float | None = None) -> None:
        self.delta = None if delta is None else check_number("delta", delta)


class Lp(NativeLoss):
    r"""Sum of \|r_k\|^p: generalised Gaussian noise.

    Parameters
    ----------
    p : float
        Power, at least 1.
    """

    def __init__(self, p: float) -> None:
        self.p = check_number("p", p)
