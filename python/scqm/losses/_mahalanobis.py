"""The quadratic form of a residual row, for noise of known covariance.

It is the squared distance of Mahalanobis, the one loss whose parameter is a matrix,
which goes to the library as an array and not among the settings.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._native import Array
from ..exceptions import InputError
from ._native import NativeLoss


class Mahalanobis(NativeLoss):
    """The form r'Mr: Gaussian noise with the covariance M^-1.

    Parameters
    ----------
    M : array-like of shape (D, D)
        Symmetric positive definite matrix.
    """

    def __init__(self, M: npt.ArrayLike) -> None:
        matrix = np.array(M, dtype=np.float64, order="C")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
            raise InputError(f"precision has shape {matrix.shape}; want (D, D)")
        matrix.flags.writeable = False
        self.M = matrix

    def _params(self) -> dict[str, Any]:
        return {}

    def _matrix(self) -> Array | None:
        return self.M

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mahalanobis) and np.array_equal(self.M, other.M)

    def __hash__(self) -> int:
        return hash(self.M.tobytes())
