"""The surface at denoised rows, as users of the denoiser read it."""

from __future__ import annotations

from dataclasses import dataclass

from ._native import Array

__all__ = ["DenoiseGeometry"]


@dataclass(frozen=True)
class DenoiseGeometry:
    """The surface at denoised rows, as quadratic charts of the rows fitted show it.

    Attributes
    ----------
    normals : ndarray of float, shape (n, D), or None
        Unit normals where d = D - 1; 0 where no surface was found.
    principal_curvatures : ndarray of float, shape (n, d), or None
        Principal curvatures where d = D - 1, the largest first, in one over the unit
        of the rows; positive where the surface bends away from its normal, as a
        sphere does from the outward one.
    curvature : ndarray of float, shape (n,)
        Mean of the principal curvatures; where d < D - 1 the length of the mean
        curvature vector.
    error : ndarray of float, shape (n,)
        Standard error of the surface at the row in each direction away from it:
        the noise s times the root of the sum of the squared weights with which
        rows make up their chart. It knows of no bias; 0 where rows cannot tell.
    outlier_score : ndarray of float, shape (n,)
        Distance of the row, as it came, from the surface that the other rows make,
        in standard deviations of their noise. Above about 4.7, for d = D - 1,
        hardly one of 10^5 rows with normal noise is.
    """

    normals: Array | None
    principal_curvatures: Array | None
    curvature: Array
    error: Array
    outlier_score: Array
