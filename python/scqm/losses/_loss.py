"""The interface of losses: what the library asks of one written in Python.

:class:`Loss` is the class to subclass; a function of residual rows becomes one too.
What a loss says of itself to the library is in its methods ``_choice`` and
``_matrix``.
"""

from __future__ import annotations

import copy
import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy.typing as npt

from .._native import Array
from ..exceptions import InputError


class Loss(ABC):
    """A loss of residual rows; subclass it to write your own.

    A subclass defines :meth:`evaluate`. It may also define

    ``weights(R)``
        weights (n, D), at least 0, of a quadratic upper bound:
        loss(r) <= loss(r0) + 1/2 sum_k w_k (r_k^2 - r0_k^2), w = weights(r0);
    ``hessian_product(R, V)``
        the products (n, D) of the Hessian at each row of R with that row of V,

    which some solvers use. Losses must be at least 0 and finite. They are never
    called from two threads at a time by one fit.

    Attributes
    ----------
    name : str
        What the loss is called in reports and files; by default the name of
        the class in small letters.
    separable : bool
        Whether the loss is a sum over the entries of a row, of one and the same
        function of each; by default False. Such a loss is evaluated for rows of one
        entry too, and goes with ``missing="ignore"``. :func:`scqm.losses.check` tries
        whether it is one.

    Examples
    --------
    >>> import numpy as np
    >>> from scqm import SCQM
    >>> from scqm.losses import Loss
    >>> class LogCosh(Loss):
    ...     def evaluate(self, R):
    ...         a = np.abs(R)
    ...         values = (a + np.log1p(np.exp(-2 * a)) - np.log(2)).sum(axis=1)
    ...         return values, np.tanh(R)
    >>> t = np.linspace(-1, 1, 50)
    >>> X = np.column_stack([t, t**2])
    >>> SCQM(1, loss=LogCosh()).fit(X).loss_.name
    'log_cosh'
    """

    name: str = ""
    separable: bool = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()

    @abstractmethod
    def evaluate(self, R: Array) -> tuple[npt.ArrayLike, npt.ArrayLike]:
        """Return values and gradients of residual rows.

        Parameters
        ----------
        R : ndarray of shape (n, D)
            Residual rows, float64. The array is yours.

        Returns
        -------
        values : array-like of shape (n,)
            The loss of every row; it depends on that row only.
        gradients : array-like of shape (n, D)
            Its gradient, at a kink any subgradient.
        """

    # Parameters as scikit-learn has them: a grid can have loss__delta.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the loss, those that it keeps by their names.

        Parameters
        ----------
        deep : bool, default=True
            Ignored.

        Returns
        -------
        dict
            Values by name.
        """
        names = inspect.signature(type(self)).parameters
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    def set_params(self, **params: Any) -> Loss:
        """Set parameters of the loss.

        Parameters
        ----------
        **params
            Values by name, as the constructor takes them.

        Returns
        -------
        Loss
            The loss itself.
        """
        known = self.get_params()
        if unknown := params.keys() - known.keys():
            raise InputError(f"loss {self.name} has no parameter {min(unknown)!r}")
        vars(self).update(vars(type(self)(**known | params)))
        return self

    def __sklearn_clone__(self) -> Loss:
        return copy.deepcopy(self)

    # What the library is told about the loss.

    def _choice(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "python": True,
            "weights": callable(getattr(self, "weights", None)),
            "hessian": callable(getattr(self, "hessian_product", None)),
            "separable": bool(self.separable),
        }

    def _matrix(self) -> Array | None:
        return None


#: The names of losses. Those of losses that a program registers are not among them.
LossName: TypeAlias = Literal[
    "auto",
    "l1",
    "l2",
    "squared_l2",
    "lp",
    "huber",
    "huber_entries",
    "tukey",
    "cauchy",
    "welsch",
    "geman_mcclure",
    "quantile",
    "mahalanobis",
]

#: What a parameter ``loss`` may be.
LossLike: TypeAlias = (
    LossName | Loss | Callable[[Array], tuple[npt.ArrayLike, npt.ArrayLike]]
)


class FunctionLoss(Loss):
    """A function as a loss."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = str(getattr(function, "__name__", type(function).__name__))

    def evaluate(self, R: Array) -> tuple[npt.ArrayLike, npt.ArrayLike]:
        result: tuple[npt.ArrayLike, npt.ArrayLike] = self.function(R)
        return result
