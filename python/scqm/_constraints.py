"""Constraints and bounds as SciPy spells them, as the library calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._domain import ALONE, Buffer, Domain
from ._native import Array, address
from .exceptions import InputError
from .manifolds import real_array

# Steps of central differences, relative to the size of an entry.
_STEP = 2.0**-17


@dataclass(frozen=True)
class Part:
    """One constraint of the user: lower <= fun(x) <= upper, entry by entry."""

    what: str
    fun: Callable[[Any], Any]
    jac: Callable[[Any], Any] | None  # None: by differences
    lower: Array
    upper: Array

    def values(self, x: Any) -> Array:
        """Return the entries at x."""
        return np.atleast_1d(real_array(self.fun(x), f"{self.what}.fun")).ravel()


def _sides(what: str, count: int, *given: Any) -> list[Array]:
    """Return the lower and the upper bounds of so many entries."""
    sides = [np.ravel(real_array(side, f"a bound of {what}")) for side in given]
    if any(len(side) not in (1, count) for side in sides):
        raise InputError(f"{what} has {len(sides[0])} bounds; want {count}")
    lower, upper = (np.broadcast_to(side, count).copy() for side in sides)
    if not (lower <= upper).all():
        raise InputError(f"{what}: a lower bound is above the upper one, or NaN")
    return [lower, upper]


def _part(given: Any, what: str, x: Any) -> Part:
    """Return a constraint in one of SciPy's three forms, tried at x."""
    fun: Any
    lower: Any
    upper: Any
    if isinstance(given, Mapping):
        kind, fun, jac = (given.get(name) for name in ("type", "fun", "jac"))
        if kind not in ("eq", "ineq") or not callable(fun):
            raise InputError(f"{what} is {given!r}; want type 'eq' or 'ineq', and fun")
        lower, upper = 0.0, 0.0 if kind == "eq" else np.inf
        more = tuple(given.get("args", ()))
        if more:
            fun, jac = (f and (lambda x, f=f: f(x, *more)) for f in (fun, jac))
    elif hasattr(given, "A"):  # LinearConstraint
        A, lower, upper = given.A, given.lb, given.ub
        A = A if hasattr(A, "tocsr") else np.atleast_2d(A)
        fun, jac = (lambda x: A @ np.ravel(x)), (lambda _: A)
    elif hasattr(given, "fun") and hasattr(given, "lb"):  # NonlinearConstraint
        fun, jac, lower, upper = given.fun, given.jac, given.lb, given.ub
    else:
        raise InputError(
            f"{what} is {given!r}; want a dict with type, fun and jac, a "
            "LinearConstraint or a NonlinearConstraint of SciPy"
        )
    if np.any(getattr(given, "keep_feasible", False)):
        raise InputError(f"{what} has keep_feasible; points may leave constraints")
    jac = jac if callable(jac) else None
    count = len(Part(what, fun, jac, np.zeros(0), np.zeros(0)).values(x))
    return Part(what, fun, jac, *_sides(what, count, lower, upper))


def _box(bounds: Any, domain: Domain) -> list[Array]:
    """Return the bounds of all entries of a point."""
    given = {ALONE: bounds} if domain.single else bounds
    if not isinstance(given, Mapping) or not given.keys() <= domain.blocks.keys():
        names = ", ".join(domain.blocks)
        raise InputError(f"bounds is {bounds!r}; want a dict by blocks, {names}")
    sides: list[list[Array]] = []
    for name, block in domain.blocks.items():
        what = "bounds" if domain.single else f"bounds of block {name}"
        pairs: Any = given.get(name, [(None, None)])
        if hasattr(pairs, "lb"):  # Bounds
            pairs = zip(*np.broadcast_arrays(pairs.lb, pairs.ub), strict=True)
        try:
            lower, upper = np.array(
                [
                    (-np.inf if low is None else low, np.inf if up is None else up)
                    for low, up in pairs
                ],
                np.float64,
            ).T
        except (TypeError, ValueError):
            raise InputError(
                f"{what} is {pairs!r}; want pairs (min, max), or Bounds of SciPy"
            ) from None
        sides.append(_sides(what, block._size, lower, upper))
    return [np.concatenate(side) for side in zip(*sides, strict=True)]


class Constraints:
    """The constraints of a problem as the library calls them: without arguments.

    Constraints and bounds are those of :func:`scqm.optimize.minimize`, tried at x0; the
    library has a point in ``at``, and wants a gradient in ``grad``.
    """

    def __init__(
        self,
        constraints: Any,
        bounds: Any,
        domain: Domain,
        at: Buffer,
        grad: Buffer,
        x0: Any,
    ) -> None:
        self._at, self._grad, self._domain = at, grad, domain
        given = constraints if isinstance(constraints, Sequence) else [constraints]
        self._parts = [
            _part(c, f"constraints[{k}]" if len(given) > 1 else "constraints", x0)
            for k, c in enumerate(given)
        ]
        self.count = sum(len(p.lower) for p in self._parts)
        self._values, self._weights = np.zeros((2, self.count))
        sides = [[p.lower for p in self._parts], [p.upper for p in self._parts]]
        self._sides = [np.concatenate([*side, []]) for side in sides]
        self._box = [] if bounds is None else _box(bounds, domain)
        # Bound methods are made anew each time they are looked up: these stay.
        self._calls = [self._evaluate, self._transposed]

    def table(self) -> npt.NDArray[np.uint64]:
        """Return where the arrays and functions are."""
        arrays = [self._values, self._weights, *self._sides]
        places = [address(a) for a in arrays] + [id(call) for call in self._calls]
        places += [address(a) for a in self._box] or [0, 0]
        return np.array(places, np.uint64)

    def _evaluate(self) -> None:
        """Write the entries of all constraints."""
        x = self._at.read()
        self._values[:] = np.concatenate([self._counted(p, x) for p in self._parts])

    def _transposed(self) -> None:
        """Write the transposed Jacobian times the weights."""
        total, start = np.zeros(self._domain.size), 0
        for part in self._parts:
            weights = self._weights[start : start + len(part.lower)]
            start += len(part.lower)
            if weights.any():
                total += (self._slope if part.jac else self._differences)(part, weights)
        self._grad.flat[:] = total

    def _counted(self, part: Part, x: Any) -> Array:
        values, count = part.values(x), len(part.lower)
        if len(values) != count:
            raise InputError(f"{part.what}.fun has {len(values)} entries, not {count}")
        return values

    def _slope(self, part: Part, weights: Array) -> Array:
        """Return the Euclidean gradient of the weighted sum of a constraint."""
        assert part.jac is not None
        jacobian = part.jac(self._at.read())
        blocks = {ALONE: jacobian} if self._domain.single else jacobian
        names = self._domain.blocks.keys()
        if not isinstance(blocks, Mapping) or blocks.keys() != names:
            raise InputError(
                f"{part.what}.jac: want a dict by blocks, {', '.join(names)}"
            )
        slopes, count = [], len(weights)
        for name in names:
            block = blocks[name]
            for piece in block if isinstance(block, tuple) else [block]:
                if hasattr(piece, "tocsr"):
                    slopes.append(piece.T @ weights)
                    continue
                rows = real_array(piece, f"{part.what}.jac")
                if rows.size % count:
                    raise InputError(
                        f"{part.what}.jac has shape {rows.shape}; want {count} rows"
                    )
                slopes.append(rows.reshape(count, -1).T @ weights)
        slope: Array = np.concatenate(slopes)
        if len(slope) != self._domain.size:
            raise InputError(
                f"{part.what}.jac has rows of {len(slope)}; want {self._domain.size}"
            )
        return slope

    def _differences(self, part: Part, weights: Array) -> Array:
        """Return that gradient by central differences."""
        trial, slope = Buffer(self._domain, "x"), np.zeros(self._domain.size)
        for k, entry in enumerate(self._at.flat):
            ends = []
            step = _STEP * max(1.0, abs(entry))
            for end in (entry - step, entry + step):
                trial.flat[:] = self._at.flat
                trial.flat[k] = end
                ends.append(self._counted(part, trial.read()) @ weights)
            slope[k] = (ends[1] - ends[0]) / (2 * step)
        return slope
