"""Losses that the library computes, in Go.

They carry a name and parameters, and are evaluated where the data are: a fit never
comes back to Python for them. Every family of them has a file of its own;
:class:`RegisteredLoss` is any other that the library knows by a name.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from .. import _native
from .._native import Array, contiguous
from ..exceptions import InputError
from ._loss import Loss


class NativeLoss(Loss):
    """A loss of the library. Equal losses compare equal."""

    def _params(self) -> dict[str, Any]:
        return dict(vars(self))

    def _choice(self) -> dict[str, Any]:
        return {"name": self.name, **self._params()}

    def evaluate(self, R: npt.ArrayLike) -> tuple[Array, Array]:
        """Return values and gradients of residual rows.

        Parameters
        ----------
        R : array-like of shape (n, D)
            Residual rows.

        Returns
        -------
        values : ndarray of shape (n,)
        gradients : ndarray of shape (n, D)

        Examples
        --------
        >>> from scqm.losses import L2
        >>> values, gradients = L2().evaluate([[0.0, 2.0]])
        >>> values.tolist(), gradients.tolist()
        ([2.0], [[0.0, 1.0]])
        """
        rows = contiguous(R)
        if rows.ndim != 2:
            raise InputError(
                f"residuals have {rows.ndim} dimensions; want rows, (n, D)"
            )
        _, made = _native.run("loss", self._choice(), x=rows, precision=self._matrix())
        return made["values"], made["grad"].reshape(rows.shape)

    def __repr__(self) -> str:
        params = ", ".join(f"{k}={v!r}" for k, v in vars(self).items() if v is not None)
        return f"{type(self).__name__}({params})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))


class RegisteredLoss(NativeLoss):
    """A loss that the library knows under a name, with its parameters."""

    def __init__(self, name: str, extra: dict[str, float]) -> None:
        self.name = name
        self.extra = extra

    def _params(self) -> dict[str, Any]:
        return {"extra": self.extra}

    def __hash__(self) -> int:
        return hash((self.name, *sorted(self.extra.items())))
