"""What residuals tell about noise: its power, and the loss to take under it.

Both allow for what a fit has taken out of the residuals, where they are given the
parts of the variance that it left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._native import Array, contiguous, run
from .._validation import check_integer
from ..exceptions import InputError
from ._loss import Loss
from ._radial import L2
from ._resolve import from_report


@dataclass(frozen=True)
class Power:
    r"""Generalised Gaussian noise, of density exp(-\|e / scale\|^p), as estimated.

    Attributes
    ----------
    p : float
        The power: 1 for Laplace noise, 2 for Gaussian.
    p_error : float
        Its standard error; infinite where the residuals leave the power open.
    scale : float
        That of noise of this power with the variance of the residuals, in their unit.
        The one of maximum likelihood would take residuals that a fit has mixed for
        noise.
    """

    p: float
    p_error: float
    scale: float


def estimate_power(
    residuals: npt.ArrayLike, parts: npt.ArrayLike | None = None
) -> Power:
    """Estimate generalised Gaussian noise, its power by maximum likelihood.

    Parameters
    ----------
    residuals : array-like
        Noise, or residuals of a fit; at least 10 that are not 0. Residuals of few
        directions off a sheet tell less than they seem to: see ``parts``.
    parts : array-like, optional
        For each residual the part of the variance of the noise that the fit has
        left in it, above 0 and up to 1: :meth:`scqm.SCQM.residual_parts`. By
        default 1, the noise itself.

    Returns
    -------
    Power
        The power with its standard error, and the scale.

    Raises
    ------
    InputError
        Residuals that say nothing about the noise; a ValueError.

    Examples
    --------
    >>> from scqm.datasets import generalized_gaussian_noise
    >>> from scqm.losses import estimate_power
    >>> noise = generalized_gaussian_noise((500, 10), p=1.0, random_state=0)
    >>> estimate = estimate_power(noise)
    >>> abs(estimate.p - 1.0) < 2 * estimate.p_error
    True
    """
    e = _finite("residuals", residuals)
    h = None if parts is None else _shares(parts, e.shape).reshape(1, -1)
    report, _ = run("power", {}, x=e.reshape(1, -1), parts=h)
    error = float("inf") if report["p_error"] is None else report["p_error"]
    return Power(report["p"], error, report["scale"])


@dataclass(frozen=True)
class Choice:
    """A loss with the reason for it.

    Attributes
    ----------
    loss : Loss
        The loss; L2 where the residuals cannot tell.
    decided : bool
        Whether they can.
    reason : str
        A sentence.
    """

    loss: Loss
    decided: bool
    reason: str


def choose(
    residuals: npt.ArrayLike, n_components: int, parts: npt.ArrayLike | None = None
) -> Choice:
    """Choose a loss by the residuals of a fit; ``SCQM(loss="auto")`` asks more.

    It compares the variance that estimates by each loss would have under noise
    such as the residuals, and keeps L2 unless another is better by more than
    chance. ``SCQM(loss="auto")`` also asks whether entries or rows are outlying,
    compares fits, and holds rows out. With fewer than 4 directions off the sheet
    residuals cannot tell.

    Parameters
    ----------
    residuals : array-like of shape (n, D)
        Rows less their points of the sheet.
    n_components : int
        Dimension d of the sheet.
    parts : array-like of shape (n, D), optional
        As for :func:`estimate_power`; by default 1 - d/D.

    Returns
    -------
    Choice
        The loss and why.

    Examples
    --------
    >>> from scqm.datasets import generalized_gaussian_noise
    >>> from scqm.losses import choose
    >>> noise = generalized_gaussian_noise((200, 12), p=1.0, random_state=0)
    >>> choose(noise, 0).loss.name in ("l1", "lp")
    True
    """
    e = _finite("residuals", residuals)
    if e.ndim != 2:
        raise InputError(f"residuals have {e.ndim} dimensions; want rows, (n, D)")
    d = check_integer("n_components", n_components, 0)
    if d >= e.shape[1]:
        raise InputError(f"n_components is {d}; want 0 to {e.shape[1] - 1}")
    h = (
        np.full(e.shape, 1 - d / e.shape[1])
        if parts is None
        else _shares(parts, e.shape)
    )
    report, _ = run("choice", {"d": d}, x=e, parts=h)
    loss = from_report(report["loss"], None) or L2()
    return Choice(loss, report["decided"], report["reason"])


def _finite(name: str, value: npt.ArrayLike) -> Array:
    array = contiguous(value)
    if not np.isfinite(array).all():
        raise InputError(f"{name} have NaN or infinite entries; remove them first")
    return array


def _shares(value: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
    parts = contiguous(value)
    if parts.shape != shape:
        raise InputError(f"parts have shape {parts.shape}; want {shape}")
    if not ((parts > 0) & (parts <= 1)).all():
        raise InputError("parts are not all above 0 and up to 1")
    return parts
