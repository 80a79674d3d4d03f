"""Problems and manifolds of this library as those of pymanopt, and back.

Points are the same arrays on both sides. Tangent vectors of rotations are not: those
of pymanopt are skew matrices W, and those here X W. Pymanopt turns the former into
the latter before it calls a Euclidean Hessian (``embedding``), but its products, up
to version 2.2 at least, do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from ._autodiff import Derivatives, derivatives
from ._domain import Domain
from .exceptions import InputError
from .manifolds import (
    SPD,
    ArrayManifold,
    Euclidean,
    Grassmann,
    Manifold,
    Oblique,
    Rotations,
    Sphere,
    Stiefel,
)

# The manifolds that are known there by a shape, a rank and a number of copies.
_POWERS: tuple[type[ArrayManifold], ...] = (Stiefel, Grassmann, SPD, Rotations)

#: A cost, its manifold, gradient and Hessian.
Parts: TypeAlias = tuple[Any, Any, Any, Any]


def _pymanopt() -> Any:
    try:
        import pymanopt
    except ImportError:
        raise InputError("pymanopt is not installed") from None
    return pymanopt


def export_problem(problem: Parts) -> Any:
    """Return a problem of pymanopt."""
    pymanopt = _pymanopt()
    cost, manifold, gradient, hessian = problem
    domain = Domain(manifold)
    functions = derivatives(cost, gradient, hessian)
    factors = [m.to_pymanopt() for m in domain.blocks.values()]
    theirs = factors[0] if domain.single else _product(pymanopt, factors)
    decorate = pymanopt.function.numpy(theirs)
    named = _by_position(domain, functions)
    return pymanopt.Problem(
        theirs,
        decorate(named.cost),
        euclidean_gradient=decorate(named.gradient),
        euclidean_hessian=None if named.hessian is None else decorate(named.hessian),
    )


def _product(pymanopt: Any, factors: list[Any]) -> Any:
    """Return a product whose Hessians are given tangent vectors as they are here."""
    known: Any = pymanopt.manifolds.Product
    if _embeds(pymanopt, known):
        return known(factors)

    class Product(known):  # type: ignore[misc]  # a class found at run time
        """A product that embeds the tangent vectors of its factors."""

        def embedding(self, point: Any, tangent_vector: Any) -> Any:
            return type(tangent_vector)(
                m.embedding(x, v)
                for m, x, v in zip(self.manifolds, point, tangent_vector, strict=True)
            )

    return Product(factors)


def _embeds(pymanopt: Any, product: type[Any]) -> bool:
    """Whether a class of products embeds the tangent vectors of its factors."""
    base = pymanopt.manifolds.manifold.Manifold
    return bool(product.embedding is not base.embedding)


def _by_position(domain: Domain, functions: Derivatives) -> Derivatives:
    """Return functions of one argument for each block."""
    shapes = {
        name: m.shape if isinstance(m, ArrayManifold) else ()
        for name, m in domain.blocks.items()
    }
    count = len(shapes)

    def point(parts: tuple[Any, ...]) -> Any:
        # One copy is an array of pymanopt without an axis for it.
        arrays = {
            name: np.reshape(part, shape)
            for (name, shape), part in zip(shapes.items(), parts, strict=True)
        }
        return next(iter(arrays.values())) if domain.single else arrays

    def parts(vector: Any, like: tuple[Any, ...]) -> Any:
        if domain.single:
            return np.reshape(vector, np.shape(like[0]))
        return [
            np.reshape(vector[name], np.shape(part))
            for name, part in zip(shapes, like, strict=True)
        ]

    def cost(*x: Any) -> Any:
        return functions.cost(point(x))

    def gradient(*x: Any) -> Any:
        return parts(functions.gradient(point(x)), x)

    def hessian(*both: Any) -> Any:
        assert functions.hessian is not None
        x, v = both[:count], both[count:]
        return parts(functions.hessian(point(x), point(v)), x)

    return Derivatives(
        cost, gradient, None, hessian if functions.hessian is not None else None
    )


def _import_manifold(theirs: Any) -> Manifold[Any]:
    """Return the manifold of this library for one of pymanopt."""
    kind = type(theirs).__name__
    if kind in ("Euclidean", "Sphere"):
        shape = theirs._shape
        if kind == "Euclidean":
            return Euclidean(*shape)
        if len(shape) == 1:
            return Sphere(*shape)
    if kind == "Oblique":
        return Oblique(theirs._m, theirs._n)
    for own in _POWERS:
        if kind == own._in_pymanopt:
            sizes = [theirs._n] + ([theirs._p] if hasattr(theirs, "_p") else [])
            copies = None if theirs._k == 1 else theirs._k
            made: Callable[..., Manifold[Any]] = own
            return made(*sizes, copies=copies)
    raise InputError(f"scqm has no manifold for pymanopt's {theirs}")


def import_problem(theirs: Any) -> Parts:
    """Return the problem of this library for one of pymanopt."""
    pymanopt = _pymanopt()
    if not isinstance(theirs, pymanopt.Problem):
        raise InputError(f"problem is {theirs!r}; want a pymanopt.Problem")
    product = isinstance(theirs.manifold, pymanopt.manifolds.Product)
    factors = theirs.manifold.manifolds if product else [theirs.manifold]
    blocks = {f"x{i}": _import_manifold(m) for i, m in enumerate(factors)}
    names = list(blocks)

    def point(x: Any) -> Any:
        return [x[name] for name in names] if product else x

    def named(vector: Any) -> Any:
        return dict(zip(names, vector, strict=True)) if product else vector

    def skew(name: str, x: Any, v: Any) -> Any:
        return np.swapaxes(x, -1, -2) @ v if isinstance(blocks[name], Rotations) else v

    def along(x: Any, v: Any) -> Any:
        if not product:
            return skew(names[0], x, v)
        if not _embeds(pymanopt, type(theirs.manifold)):
            return point(v)
        return [skew(name, x[name], v[name]) for name in names]

    if theirs._euclidean_gradient is None and theirs._riemannian_gradient is not None:
        raise InputError("the problem has a Riemannian gradient only")
    try:
        gradient = theirs.euclidean_gradient
    except NotImplementedError:
        raise InputError("the problem has no Euclidean gradient") from None
    try:
        hessian = theirs.euclidean_hessian
    except NotImplementedError:
        hessian = None
    manifold: Manifold[Any] | Mapping[str, Manifold[Any]] = (
        blocks if product else blocks["x0"]
    )

    def second(x: Any, v: Any) -> Any:
        return named(hessian(point(x), along(x, v)))

    return (
        lambda x: theirs.cost(point(x)),
        manifold,
        lambda x: named(gradient(point(x))),
        None if hessian is None else second,
    )
