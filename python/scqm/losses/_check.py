"""The laws of losses, tried on one.

The laws are those of the library's suite, which ``scqm plugin check`` tries too: the
trial runs in Go, and asks back for a loss written in Python.
"""

from __future__ import annotations

from .._laws import CheckReport, read
from ._answer import run
from ._loss import LossLike
from ._resolve import resolve


def check(
    loss: LossLike,
    *,
    dim: int = 5,
    scale: float = 1.0,
    convex: bool = True,
    tolerance: float = 1e-12,
    random_state: int = 0,
) -> CheckReport:
    """Try whether a loss keeps the laws of losses.

    Among them: values are finite and at least 0; the gradient is that of the
    values (by the slope of the Taylor error, which is 2); a row's result does
    not depend on its batch; the loss is convex. Residuals that are not finite never
    reach a loss in Python.

    Parameters
    ----------
    loss : str, Loss or callable
        The loss.
    dim : int, default=5
        Entries of a residual row.
    scale : float, default=1.0
        Size of ordinary residuals.
    convex : bool, default=True
        Whether the loss is meant to be convex.
    tolerance : float, default=1e-12
        Relative error up to which results count as equal. NumPy may round
        differently in batches of different length.
    random_state : int, default=0
        Seed of the residuals.

    Returns
    -------
    CheckReport
        True where every law holds; its text lists all of them.

    Examples
    --------
    >>> from scqm.losses import check
    >>> bool(check("l2"))
    True
    >>> check(lambda R: ((R**2).sum(axis=1), R)).broken
    ('gradient slope', 'convex')
    """
    resolved = resolve(loss)
    settings = {
        "dim": dim,
        "scale": scale,
        "non_convex": not convex,
        "tolerance": tolerance,
        "seed": random_state,
    }
    return read(f"loss {resolved.name}", run(resolved, "loss check", settings)[0])
