"""The base class of losses and the description of their parameters.

What a plugin declares in the body of its class becomes what the host is told at the
start: name, structure, and the parameters as a JSON Schema. A declaration that cannot
be is refused here, before a process serves it.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]

_TYPES = {float: "number", int: "integer", bool: "boolean", str: "string"}
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_BOUNDS = {
    "exclusiveMinimum": ("above", operator.gt),
    "exclusiveMaximum": ("below", operator.lt),
    "minimum": ("at least", operator.ge),
    "maximum": ("at most", operator.le),
}
STRUCTURES = ("black box", "radial", "separable")


class ParameterError(ValueError):
    """A parameter that the loss does not take, or a value that it cannot use."""


class parameter:  # noqa: N801 - reads like a function where it is used
    """A parameter of a loss, declared in the body of its class.

    Parameters
    ----------
    default : float, int, bool or str
        Value where the user gives none; its type is that of the parameter.
    above, below : float, optional
        Bounds that the value must not reach.
    at_least, at_most : float, optional
        Bounds that the value may reach.
    choices : sequence, optional
        The values allowed.
    doc : str
        Meaning and unit, in a few words.
    """

    def __init__(
        self,
        default: float | bool | str,
        *,
        above: float | None = None,
        below: float | None = None,
        at_least: float | None = None,
        at_most: float | None = None,
        choices: Sequence[float | bool | str] | None = None,
        doc: str = "",
    ) -> None:
        if type(default) not in _TYPES:
            raise TypeError(
                f"the default of a parameter is {default!r}; "
                "it must be a float, int, bool or str"
            )
        self.default = default
        self.schema: dict[str, Any] = {
            "type": _TYPES[type(default)],
            "default": default,
        }
        for key, bound in zip(_BOUNDS, (above, below, at_least, at_most), strict=True):
            if bound is not None:
                self.schema[key] = float(bound)
        if choices is not None:
            self.schema["enum"] = list(choices)
        if doc:
            self.schema["description"] = doc
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return (
            self if instance is None else instance.__dict__.get(self.name, self.default)
        )

    def __set__(self, instance: object, value: Any) -> None:
        instance.__dict__[self.name] = self._checked(value)

    def _checked(self, value: Any) -> float | bool | str:
        kind = type(self.default)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if kind is int and isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is not kind:
            raise ParameterError(
                f"{self.name} = {value!r} is not a {self.schema['type']}"
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise ParameterError(f"{self.name} = {value!r} is not finite")
        s = self.schema
        for key, (words, holds) in _BOUNDS.items():
            if key in s and not holds(value, s[key]):
                raise ParameterError(f"{self.name} = {value!r} is not {words} {s[key]}")
        if "enum" in s and value not in s["enum"]:
            raise ParameterError(f"{self.name} = {value!r} is none of {s['enum']}")
        checked: float | bool | str = value
        return checked


class Loss:
    """A loss of residual rows, to be subclassed.

    A subclass sets `name` and writes `evaluate`. It may also set the other
    attributes, declare parameters with `parameter`, and write any of the
    methods below, which solvers then use; all get and return float64 arrays,
    must not change their arguments, and may be called by several threads.

    ``weights(r)``
        The weights w of a quadratic upper bound: ``loss(s) <= loss(r) + 1/2
        sum_k w_k (s_k^2 - r_k^2)`` for every s. Shape (n,) for a radial loss,
        else (n, D).
    ``hessian_product(r, v)``
        Row by row, the product of the Hessian at r with v. Shape (n, D).
    ``profile(x)``
        Needed where `structure` is not "black box": rho, rho' and rho'' of a
        radial loss ``rho(|r|^2)`` at squared norms x, or phi, phi' and phi''
        of a separable one ``sum_k phi(r_k)`` at entries x. Three arrays of the
        shape of x.
    ``smooth(eps)``
        The loss with its kinks rounded over eps > 0, as a `Loss`.
    ``validate()``
        Raises `ParameterError` where parameters do not fit each other.

    Parameters
    ----------
    **params
        Values of the parameters.

    Raises
    ------
    ParameterError
        For a parameter that does not exist, or a value out of its bounds.
    """

    name: ClassVar[str] = ""
    version: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    formula: ClassVar[str] = ""
    structure: ClassVar[str] = "black box"
    convex: ClassVar[bool] = True
    dim: ClassVar[int] = 0
    """The only row length that the loss takes; 0 for any."""

    def __init__(self, **params: Any) -> None:
        known = self.parameters()
        for name, value in params.items():
            if name not in known:
                raise ParameterError(
                    f"there is no parameter {name}; "
                    f"there are {', '.join(known) or 'none'}"
                )
            setattr(self, name, value)
        validate = getattr(self, "validate", None)
        if validate is not None:
            validate()

    def evaluate(self, r: Array) -> tuple[Array, Array]:
        """Score residual rows.

        Parameters
        ----------
        r : ndarray of shape (n, D)
            Residuals, one row per sample; not to be changed.

        Returns
        -------
        values : ndarray of shape (n,)
            Losses, finite and at least 0.
        gradients : ndarray of shape (n, D)
            At a kink any subgradient.
        """
        raise NotImplementedError(f"{type(self).__name__} must define evaluate")

    @classmethod
    def parameters(cls) -> dict[str, parameter]:
        """Return the parameters by name, in the order of their declaration."""
        found: dict[str, parameter] = {}
        for owner in reversed(cls.__mro__):
            found |= {
                name: p for name, p in vars(owner).items() if isinstance(p, parameter)
            }
        return found

    def offers(self, method: str) -> bool:
        """Tell whether the loss has one of the optional methods."""
        return callable(getattr(self, method, None))


def check_declaration(loss: Loss) -> None:
    """Raise a TypeError that says what is wrong with the class of a loss."""
    who = type(loss).__name__
    if not _NAME.fullmatch(loss.name):
        raise TypeError(
            f"{who}.name is {loss.name!r}; "
            "want a lower case letter and up to 63 of a-z, 0-9 and _"
        )
    if loss.structure not in STRUCTURES:
        raise TypeError(
            f"{who}.structure is {loss.structure!r}; "
            f"want one of {', '.join(STRUCTURES)}"
        )
    if type(loss).evaluate is Loss.evaluate:
        raise TypeError(f"{who} must define evaluate")
    if loss.structure != "black box" and not loss.offers("profile"):
        raise TypeError(f"{who} is {loss.structure} and must define profile")
    if loss.structure != "black box" and loss.dim:
        raise TypeError(f"{who} is {loss.structure} and must take rows of any length")


def schema_of(loss: Loss) -> dict[str, Any] | None:
    """Return the JSON Schema of the parameters; their values are the defaults."""
    properties: Mapping[str, Any] = {
        name: p.schema | {"default": getattr(loss, name)}
        for name, p in loss.parameters().items()
    }
    return {"type": "object", "properties": properties} if properties else None
