"""Data to try things on: noisy curves and surfaces, and handwritten digits.

Every ``make_`` function returns rows and what they would be without noise. The
same ``random_state`` gives the same rows.
"""

from __future__ import annotations

from importlib import resources
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state as check_state

from ._las import LasScan, read_las
from ._native import Array
from ._validation import check_real, check_seed
from .exceptions import InputError

__all__ = [
    "Digits",
    "LasScan",
    "generalized_gaussian_noise",
    "load_digits_sample",
    "make_arc",
    "make_sphere",
    "make_torus",
    "radial_laplace_noise",
    "read_las",
]

RandomState = int | np.random.RandomState | np.random.Generator | None


def generalized_gaussian_noise(
    shape: tuple[int, ...],
    p: float = 2.0,
    scale: float = 1.0,
    *,
    random_state: RandomState = None,
) -> Array:
    r"""Draw entries with a density proportional to exp(-\|e / scale\|^p).

    This is the noise whose maximum likelihood is the loss "lp": p = 1 is the
    Laplace distribution, p = 2 the Gaussian of standard deviation
    scale / sqrt(2).

    Parameters
    ----------
    shape : tuple of int
        Shape of the result.
    p : float, default=2.0
        Power, above 0.
    scale : float, default=1.0
        Scale, at least 0, in the unit of the data.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness.

    Returns
    -------
    ndarray
        Independent entries.

    Examples
    --------
    >>> from scqm.datasets import generalized_gaussian_noise
    >>> e = generalized_gaussian_noise((100000,), p=1.0, random_state=0)
    >>> round(float(abs(e).mean()), 1)
    1.0
    """
    check_real("p", p, 0, True)
    check_real("scale", scale, 0, False)
    rng = _random(random_state)
    # |e/scale|^p has the gamma distribution of shape 1/p.
    size = rng.gamma(1 / p, size=shape) ** (1 / p)
    noise: Array = scale * size * rng.choice([-1.0, 1.0], size=shape)
    return noise


def radial_laplace_noise(
    n_samples: int,
    n_features: int,
    scale: float = 1.0,
    *,
    random_state: RandomState = None,
) -> Array:
    r"""Draw rows with a density proportional to exp(-\|e\| / scale).

    This is the noise whose maximum likelihood is the loss "l2": the direction
    of a row is uniform, and its norm has the gamma distribution of shape
    n_features.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of the result.
    scale : float, default=1.0
        Scale, at least 0, in the unit of the data. The mean norm of a row is
        n_features times as large.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        Independent rows.
    """
    check_real("scale", scale, 0, False)
    rng = _random(random_state)
    direction = _directions(rng, n_samples, n_features)
    noise: Array = scale * direction * rng.gamma(n_features, size=(n_samples, 1))
    return noise


def make_arc(
    n_samples: int = 200,
    *,
    angle: float = np.pi,
    noise: float = 0.05,
    p: float = 2.0,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Make a noisy arc of the unit circle.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    angle : float, default=pi
        Length of the arc, which begins at (1, 0), in radians. One quadratic
        arc fits no more than about half of a circle.
    noise : float, default=0.05
        Scale of the noise.
    p : float, default=2.0
        Power of the noise; see :func:`generalized_gaussian_noise`.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Rows with noise.
    clean : ndarray of shape (n_samples, 2)
        The same rows without.
    """
    rng = _random(random_state)
    t = angle * rng.uniform(size=n_samples)
    return _with_noise(np.column_stack([np.cos(t), np.sin(t)]), noise, p, rng)


def make_sphere(
    n_samples: int = 500,
    *,
    n_components: int = 2,
    noise: float = 0.05,
    p: float = 2.0,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Make a noisy unit sphere.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows.
    n_components : int, default=2
        Dimension of the sphere; rows have one entry more.
    noise : float, default=0.05
        Scale of the noise.
    p : float, default=2.0
        Power of the noise; see :func:`generalized_gaussian_noise`.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, n_components + 1)
        Rows with noise.
    clean : ndarray of shape (n_samples, n_components + 1)
        The same rows without, uniform on the sphere.
    """
    rng = _random(random_state)
    return _with_noise(_directions(rng, n_samples, n_components + 1), noise, p, rng)


def make_torus(
    n_samples: int = 500,
    *,
    radius: float = 2.0,
    tube: float = 1.0,
    noise: float = 0.05,
    p: float = 2.0,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Make a noisy torus in space.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows.
    radius : float, default=2.0
        Distance of the middle of the tube from the axis; more than ``tube``.
    tube : float, default=1.0
        Radius of the tube.
    noise : float, default=0.05
        Scale of the noise.
    p : float, default=2.0
        Power of the noise; see :func:`generalized_gaussian_noise`.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness.

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
        Rows with noise.
    clean : ndarray of shape (n_samples, 3)
        The same rows without, uniform on the surface.
    """
    check_real("tube", tube, 0, True)
    if not radius > tube:
        raise InputError(f"radius is {radius}; want more than tube, {tube}")
    rng = _random(random_state)
    around = rng.uniform(0, 2 * np.pi, size=n_samples)
    # The outer side of the tube has more surface than the inner one.
    inside = np.empty(0)
    while len(inside) < n_samples:
        t = rng.uniform(0, 2 * np.pi, size=2 * n_samples)
        kept = rng.uniform(size=len(t)) * (radius + tube) <= radius + tube * np.cos(t)
        inside = np.concatenate([inside, t[kept]])
    inside = inside[:n_samples]
    distance = radius + tube * np.cos(inside)
    clean = np.column_stack(
        [distance * np.cos(around), distance * np.sin(around), tube * np.sin(inside)]
    )
    return _with_noise(clean, noise, p, rng)


class Digits(NamedTuple):
    """Images of handwritten digits.

    Attributes
    ----------
    data : ndarray of shape (n, 784)
        One image of 28 x 28 pixels per row, 0 for paper and 1 for ink.
    target : ndarray of shape (n,)
        The digits.
    """

    data: Array
    target: npt.NDArray[np.int64]


def load_digits_sample(digits: Any = None, n_per_digit: int | None = None) -> Digits:
    """Load handwritten digits, a small sample of MNIST.

    There are 100 images of each of the digits 2, 4, 6, 8 and 9, from the
    database of Y. LeCun, C. Cortes and C. J. C. Burges.

    Parameters
    ----------
    digits : int or sequence of int, optional
        The digits to keep; by default all.
    n_per_digit : int, optional
        Number of images of each, the first ones; by default all.

    Returns
    -------
    Digits
        ``data`` and ``target``.

    Examples
    --------
    >>> from scqm.datasets import load_digits_sample
    >>> load_digits_sample([4, 9], 50).data.shape
    (100, 784)
    """
    place = resources.files("scqm") / "data" / "digits.npz"
    with place.open("rb") as file:
        stored = np.load(file)
        images, target = stored["images"], stored["labels"].astype(np.int64)
    wanted = np.unique(target) if digits is None else np.atleast_1d(digits)
    keep = np.zeros(len(target), dtype=bool)
    for digit in wanted:
        of_digit = np.flatnonzero(target == digit)
        if not len(of_digit):
            raise InputError(
                f"there is no digit {digit}; there are {np.unique(target).tolist()}"
            )
        keep[of_digit[:n_per_digit]] = True
    return Digits(images[keep].reshape(-1, 784) / 255.0, target[keep])


def _random(state: RandomState) -> np.random.RandomState:
    """Return a source of randomness, from a Generator one that it seeds."""
    if isinstance(state, np.random.Generator):
        state = check_seed(state)
    found: np.random.RandomState = check_state(state)
    return found


def _directions(rng: np.random.RandomState, n: int, dim: int) -> Array:
    rows = rng.normal(size=(n, dim))
    unit: Array = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def _with_noise(
    clean: Array, noise: float, p: float, rng: np.random.RandomState
) -> tuple[Array, Array]:
    return clean + generalized_gaussian_noise(
        clean.shape, p, noise, random_state=rng
    ), clean
