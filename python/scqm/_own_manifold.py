"""A manifold written in Python as the library calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._native import address
from ._validation import check_integer, number
from .exceptions import InputError, NonFiniteError

# The number of operands of what writes its result, and of what returns it.
_MAPS = {
    "projection": 2,
    "retraction": 2,
    "transport": 3,
    "riemannian_gradient": 2,
    "riemannian_hessian": 4,
    "nearest_point": 1,
    "exp": 2,
    "log": 2,
}
_MEASURES = {"inner": 3, "violation": 1, "dist": 2}
# What need not be defined everywhere.
_PARTIAL = ("retraction", "exp", "log", "nearest_point")
# What goes with another operation, whoever writes it.
_COMPANIONS = {"riemannian_gradient": "inner", "dist": "log"}


def validate(manifold: Any) -> None:
    """Raise InputError where the attributes are not as they have to be."""
    name, shape = type(manifold).__name__, getattr(manifold, "shape", None)
    if not isinstance(shape, tuple) or not shape:
        raise InputError(f"{name}.shape is {shape!r}; want a tuple of integers")
    for side in shape:
        check_integer(f"{name}.shape", side, 1)
    check_integer(f"{name}.dim", getattr(manifold, "dim", None), 0)


class Operations:
    """The operations of a manifold as the library calls them: without arguments.

    They read their operands from arrays that the library knows, and write there; the
    list ``raised`` gets an exception.
    """

    def __init__(self, manifold: Any, raised: list[BaseException]) -> None:
        self._manifold = manifold
        self._raised = raised
        self.name = type(manifold).__name__
        validate(manifold)
        self._dim = manifold.dim
        arrays = np.zeros((5, *manifold.shape))
        self._operands, self._result = arrays[:4], arrays[4]
        self._functions = {
            name: made(name, count)
            for made, operations in ((self._map, _MAPS), (self._measure, _MEASURES))
            for name, count in operations.items()
            if manifold._has(name) or manifold._has(_COMPANIONS.get(name, name))
        }
        if manifold._has("random_point"):
            self._functions["random_point"] = self._draw

    def describe(self, block: str) -> dict[str, Any]:
        """Return what the library is told; this object has to outlive its use."""
        return {
            "name": block,
            "kind": self.name,
            "shape": [self._result.size, self._dim],
            "own": {
                "functions": {name: id(f) for name, f in self._functions.items()},
                "arrays": [address(a) for a in (*self._operands, self._result)],
                "raised": id(self._raised),
            },
        }

    def _map(self, name: str, count: int) -> Callable[[], float]:
        operation = getattr(self._manifold, name)

        def write() -> float:
            x, *rest = (a.copy() for a in self._operands[:count])
            try:
                with np.errstate(all="ignore"):  # a step may be too long
                    result = operation(x, *rest)
            except (InputError, np.linalg.LinAlgError):
                if name not in _PARTIAL:
                    raise
                if name in ("retraction", "exp"):
                    operation(x, np.zeros_like(x))  # which has to be defined
                return 0.0
            return self._put(name, result)

        return write

    def _measure(self, name: str, count: int) -> Callable[[], float]:
        operation = getattr(self._manifold, name)

        def measure() -> float:
            try:
                result = operation(*(a.copy() for a in self._operands[:count]))
            except (InputError, np.linalg.LinAlgError):
                return np.nan
            return number(result, f"{self.name}.{name}")

        return measure

    def _draw(self) -> float:
        seed = int(self._operands[0].flat[0])
        return self._put("random_point", self._manifold.random_point(seed))

    def _put(self, name: str, result: Any) -> float:
        """Write a result, and return 1 where it is finite, else 0."""
        self._result[...] = self._manifold._flat(result, f"{self.name}.{name}")
        finite = np.isfinite(self._result).all()
        if not finite and name not in _PARTIAL and np.isfinite(self._operands).all():
            raise NonFiniteError(f"{self.name}.{name} returned NaN or infinite entries")
        return float(finite)
