"""Which loss is meant: by a name, an object or a function, or by a model file.

``resolve`` makes one loss of the parameters that estimators have in common,
``from_report`` that of what the library says, and ``as_fitted`` fills in what a fit
has found out about it.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from .._native import Array, library
from .._validation import check_real
from ..exceptions import InputError
from ._loss import FunctionLoss, Loss, LossLike, LossName
from ._mahalanobis import Mahalanobis
from ._native import NativeLoss, RegisteredLoss
from ._plugin import Plugin
from ._radial import (
    L2,
    Cauchy,
    GemanMcClure,
    Huber,
    SquaredL2,
    Tukey,
    Welsch,
    WidthLoss,
)
from ._separable import L1, HuberEntries, Lp, Quantile

# The name that leaves the choice to the residuals.
AUTO = "auto"


_WIDE = (Huber, HuberEntries, Tukey, Cauchy, Welsch, GemanMcClure)

_BY_NAME: dict[str, type[NativeLoss]] = {
    c.name: c for c in (L1, L2, SquaredL2, Lp, Mahalanobis, Quantile, *_WIDE)
}

# The parameter that a loss takes.
_WANTED = {"lp": "p", "quantile": "p", "mahalanobis": "precision"} | dict.fromkeys(
    (c.name for c in _WIDE), "delta"
)


def by_name(name: str) -> type[NativeLoss]:
    """Return the class of the loss of a name."""
    return _BY_NAME.get(name, RegisteredLoss)


def names() -> list[LossName]:
    """Return the names of the losses of the library.

    Examples
    --------
    >>> import scqm.losses
    >>> "huber" in scqm.losses.names()
    True
    """
    return list(library()["losses"])


def resolve(
    loss: LossLike,
    p: float | None = None,
    delta: float | None = None,
    precision: npt.ArrayLike | None = None,
    *,
    shown: object = None,
) -> Loss:
    """Return the loss that the parameters of an estimator stand for.

    Errors about the parameters name what is shown, by default the loss.
    """
    given = {
        name: value
        for name, value in (("p", p), ("delta", delta), ("precision", precision))
        if value is not None
    }
    if isinstance(loss, str):
        return _by_name(loss, given, loss if shown is None else shown)
    if given:
        raise InputError(
            f"{', '.join(given)} goes with a loss given by name; give {loss!r} its "
            "parameters itself"
        )
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, type) and issubclass(loss, Loss):
        raise InputError(f"loss is the class {loss.__name__}; want an object of it")
    if callable(loss):
        return FunctionLoss(loss)
    raise InputError(
        f"loss is {loss!r}; want a name ({', '.join(names())}), a Loss or a function "
        "of residual rows"
    )


def _by_name(name: str, given: dict[str, Any], shown: object) -> Loss:
    wanted = _WANTED.get(name)
    for other in given:
        if other != wanted and name in _BY_NAME:
            raise InputError(f"loss {shown!r} takes no {other}")
    if wanted not in (None, "delta", *given):  # delta has a default
        raise InputError(f"loss {name!r} needs {wanted}")
    if name in _BY_NAME:
        return _BY_NAME[name](*given.values())
    if name not in names():
        # The library has the better message: it knows names that are near.
        RegisteredLoss(name, {}).evaluate(np.zeros((1, 1)))
    return RegisteredLoss(name, {k: check_real(k, v) for k, v in given.items()})


def from_report(report: dict[str, Any], matrix: Array | None) -> Loss | None:
    """Return the loss of a model file, None where it is not known here."""
    name, params = report["name"], report.get("params") or {}
    if program := report.get("plugin"):
        params = json.loads(program["params"])
        return Plugin._of(program["name"], program["sha256"], None, params)
    if name == "mahalanobis" and matrix is not None:
        return Mahalanobis(matrix)
    if name in _BY_NAME:
        return _BY_NAME[name](**params)
    return RegisteredLoss(name, params) if name in names() else None


def as_fitted(
    loss: Loss, params: dict[str, Any], program: dict[str, Any] | None = None
) -> Loss:
    """Return the loss of a fit, with what the library reports of it.

    That is the delta that was found, and the program that has computed it, to which
    it is held from then on.
    """
    if isinstance(loss, WidthLoss):
        return type(loss)(params["delta"])
    if isinstance(loss, Plugin) and program:
        return loss._learn(program)
    return loss
