"""Try the laws of losses on the loss of a plugin, in this process.

``scqm plugin check`` tries more, on the finished plugin; this is for tests and
notebooks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from scqm.plugin._loss import Array, Loss, check_declaration

if TYPE_CHECKING:
    from scqm._laws import CheckReport


def check(loss: Loss | type[Loss], *, seed: int = 0) -> CheckReport:
    """Try the laws of :func:`scqm.losses.check` on a loss; that needs all of scqm.

    Parameters
    ----------
    loss : Loss or subclass of Loss
        A class is tried with the defaults of its parameters.
    seed : int
        Seed of the residuals.

    Returns
    -------
    CheckReport
        True where every law holds; its text lists all of them. Profiles are tried by
        ``scqm plugin check``.

    Raises
    ------
    LossError
        Results of a wrong shape or type.
    """
    # As a name: losses themselves look for plugins here.
    losses = import_module("scqm.losses")
    own = loss() if isinstance(loss, type) else loss
    check_declaration(own)

    class Tried(losses.Loss):  # type: ignore[misc, name-defined]  # found at run time
        """The loss as one of :mod:`scqm.losses`."""

        name = own.name
        separable = own.structure == "separable"

        def evaluate(self, R: Array) -> tuple[Array, Array]:
            return own.evaluate(R)

    def weights(_: object, R: Array) -> Array:
        w = np.asarray(own.weights(R))  # type: ignore[attr-defined]  # optional
        return w if w.ndim > 1 else np.repeat(w[:, None], R.shape[1], axis=1)

    def hessian_product(_: object, R: Array, V: Array) -> Array:
        product: Array = own.hessian_product(R, V)  # type: ignore[attr-defined]  # optional
        return product

    for method in weights, hessian_product:
        if own.offers(method.__name__):
            setattr(Tried, method.__name__, method)
    with np.errstate(all="ignore"):
        report: CheckReport = losses.check(
            Tried(), dim=own.dim or 5, convex=own.convex, random_state=seed
        )
    return report
