"""Separable losses: sums over the entries of a residual row.

Entries are taken one by one, in the columns as they are: outliers in single entries
are theirs.
"""

from __future__ import annotations

from .._validation import check_number
from ._native import NativeLoss


class L1(NativeLoss):
    r"""Sum of \|r_k\|: outliers in single entries, independent Laplace noise."""


class Lp(NativeLoss):
    r"""Sum of \|r_k\|^p: generalised Gaussian noise.

    Parameters
    ----------
    p : float
        Power, at least 1.
    """

    def __init__(self, p: float) -> None:
        self.p = check_number("p", p)
