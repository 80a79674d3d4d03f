"""Manifolds: the sets that constraints of optimization usually describe.

Each is what a point may be: a unit vector, a matrix of orthonormal columns, a
rotation. :func:`scqm.optimize.minimize` finds the lowest cost on one of them, or on
several at once; the operations here are for methods of your own. A subclass of
:class:`Manifold` is one of your own, which :func:`check` tries.

Points and tangent vectors are arrays of float64 in the shapes of Manopt. Row-major
order is the library's too, so that nothing is transposed or reordered at its boundary.
Where a manifold has ``copies``, those are the first axis: ``Rotations(3, copies=10)``
has points of shape (10, 3, 3). :class:`FixedRank` alone has tuples of three arrays.
The formulas, with their sources, are in the guide on manifolds.

========================  ===============  ==========================================
manifold                  shape            points
========================  ===============  ==========================================
``Euclidean(*shape)``     shape            all arrays
``Sphere(n)``             (n,)             unit vectors
``Oblique(n, m)``         (n, m)           matrices whose columns are unit vectors
``Stiefel(n, p)``         (n, p)           matrices of orthonormal columns
``Grassmann(n, p)``       (n, p)           subspaces, by orthonormal columns
``SPD(n)``                (n, n)           symmetric positive definite matrices
``Rotations(n)``          (n, n)           orthogonal matrices of determinant 1
``Hyperbolic(n)``         (n + 1,)         hyperbolic space, in the model of Lorentz
``FixedRank(m, n, r)``    (U, S, V)        m x n matrices U S V' of rank r
``Positive(*shape)``      shape            positive numbers, by their ratios
``Simplex(n)``            (n,)             positive entries of sum 1, Fisher-Rao
``Symmetric(n)``          (n, n)           symmetric matrices
``SkewSymmetric(n)``      (n, n)           skew-symmetric matrices
``ComplexCircle(n)``      (n, 2)           complex numbers of modulus 1, as pairs
``Unitary(n)``            (n, n, 2)        unitary matrices, entries as pairs
``PSDFixedRank(n, r)``    (n, r)           matrices YY' of rank r, by Y
``Elliptope(n, r)``       (n, r)           correlation matrices YY', by unit rows of Y
``SE(n)``                 (n + 1, n)       rigid motions: R, and t below
========================  ===============  ==========================================

Complex numbers are pairs of a real and an imaginary part: ``z.view(float).reshape(...,
2)`` of a complex array, and ``x.view(complex)[..., 0]`` back. Gradients have the
derivatives with respect to both.
"""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from inspect import cleandoc, signature
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from ._laws import CheckReport, read
from ._library import _core
from ._native import Array, address, call, contiguous, use_python
from ._own_manifold import Operations
from ._validation import check_integer, number
from .exceptions import InputError

__all__ = [
    "SE",
    "SPD",
    "ArrayManifold",
    "ComplexCircle",
    "Elliptope",
    "Euclidean",
    "FixedRank",
    "Grassmann",
    "Hyperbolic",
    "Manifold",
    "Oblique",
    "PSDFixedRank",
    "Positive",
    "Rotations",
    "Simplex",
    "SkewSymmetric",
    "Sphere",
    "Stiefel",
    "Symmetric",
    "Unitary",
    "check",
]

#: The factors U (m, r), S (r, r) and V (n, r) of a matrix of fixed rank.
Factors: TypeAlias = tuple[Array, Array, Array]
#: What points and vectors may be given as.
PointLike: TypeAlias = npt.ArrayLike | Sequence[npt.ArrayLike]

X = TypeVar("X")

# What docstrings of manifolds say of parameters.
PARAMETERS = """

Parameters
----------
{} : int
    What the shape of a point has: see the table of :mod:`scqm.manifolds`."""
COPIES = """
copies : int, optional
    Points are so many of them, the first axis of their arrays."""


class Manifold(ABC, Generic[X]):
    """A manifold; subclass it for one of your own.

    A subclass sets ``shape`` and ``dim`` and has :meth:`projection` and
    :meth:`retraction`; its points and vectors are arrays. It may have any of the other
    methods too, with their meaning here; what it does not have works by the two, or is
    refused. With an :meth:`inner` of its own goes :meth:`riemannian_gradient`, which is
    else found by solving with the matrix of the inner product. :func:`check` tries
    whether all is as :func:`scqm.optimize.minimize` relies on.

    Attributes
    ----------
    shape : tuple of int
        The shape of a point; :class:`FixedRank` has ``shapes``.
    dim : int
        The dimension.

    Examples
    --------
    The ellipsoid x'Bx = 1.

    >>> import numpy as np
    >>> import scqm
    >>> class Ellipsoid(scqm.manifolds.Manifold):
    ...     def __init__(self, B):
    ...         self.B, self.shape, self.dim = B, (len(B),), len(B) - 1
    ...
    ...     def projection(self, x, v):
    ...         normal = self.B @ x
    ...         return v - (normal @ v) / (normal @ normal) * normal
    ...
    ...     def retraction(self, x, v):
    ...         return (x + v) / np.sqrt((x + v) @ self.B @ (x + v))
    >>> B = np.diag([1.0, 2.0, 4.0])
    >>> bool(scqm.manifolds.check(Ellipsoid(B), [1, 0, 0]))
    True
    """

    shape: tuple[int, ...]
    dim: int

    @property
    def _size(self) -> int:
        """The number of entries of a point."""
        return math.prod(self.shape)

    def _flat(self, x: Any, what: str) -> Array:
        """Return a point or vector as one contiguous array; ``what`` is for errors."""
        array = real_array(x, what)
        if array.shape != tuple(self.shape):
            raise InputError(f"{what} has shape {array.shape}; want {self.shape}")
        return array

    def _shaped(self, flat: Array) -> Any:
        """Return a flat array as a point, which shares its memory."""
        return flat.reshape(self.shape)

    def _has(self, name: str) -> bool:
        """Whether the class has a method of its own."""
        return getattr(type(self), name) is not getattr(Manifold, name)

    def _lacks(self, name: str) -> InputError:
        return InputError(f"{type(self).__name__} has no {name}; write that method")

    @abstractmethod
    def projection(self, x: Any, v: Any) -> X:
        """Return the orthogonal projection of v on the tangent space at x."""

    @abstractmethod
    def retraction(self, x: Any, v: Any) -> X:
        """Return the point reached from x along the tangent vector v.

        It agrees with x + v to first order in v. Those of this module agree with the
        geodesic to second order, on :class:`Stiefel` to first. Where a step is too
        long, yours returns NaN or raises InputError or LinAlgError, and solvers take a
        shorter one.

        Raises
        ------
        InputError
            The result would not be a finite point.
        """

    def transport(self, x: Any, y: Any, v: Any) -> X:
        """Return the tangent vector at y that corresponds to v, which is one at x."""
        return self.projection(y, v)

    def inner(self, x: Any, u: Any, v: Any) -> float:
        """Return the inner product of the tangent vectors u and v at x."""
        return float(np.vdot(u, v))

    def norm(self, x: Any, v: Any) -> float:
        """Return the length of the tangent vector v at x."""
        square = number(self.inner(x, v, v), f"{type(self).__name__}.inner")
        return math.sqrt(max(square, 0.0))

    def random_point(self, random_state: int | np.random.Generator | None = None) -> X:
        """Return a random point.

        Parameters
        ----------
        random_state : int, Generator or None, default=None
            The seed. Equal seeds give equal points on every machine.

        Returns
        -------
        ndarray, or tuple of three
            The point; uniformly distributed where that is possible.
        """
        raise self._lacks("random_point")

    def exp(self, x: Any, v: Any) -> X:
        """Return the end of the geodesic from x along the tangent vector v.

        Raises
        ------
        InputError
            The manifold has none (:class:`FixedRank`), or the end is not finite.
        """
        raise self._lacks("exp")

    def log(self, x: Any, y: Any) -> X:
        """Return the tangent vector at x whose geodesic is the shortest to y.

        Raises
        ------
        InputError
            The manifold has none (:class:`FixedRank`), x or y is not a point, or
            they are too far apart (:class:`Stiefel`).
        """
        raise self._lacks("log")

    def dist(self, x: Any, y: Any) -> float:
        """Return the length of the shortest geodesic from x to y.

        Raises
        ------
        InputError
            The manifold has none (:class:`FixedRank`), x or y is not a point, or
            they are too far apart (:class:`Stiefel`).
        """
        return self.norm(x, self.log(x, y))

    def riemannian_gradient(self, x: Any, g: Any) -> X:
        """Return the Riemannian gradient of a cost at x.

        Parameters
        ----------
        x : array-like
            The point.
        g : array-like
            The Euclidean gradient there: the derivatives with respect to entries.

        Returns
        -------
        ndarray, or tuple of three
            A tangent vector at x: its inner product with each tangent vector is that of
            the entries of g.
        """
        if not self._has("inner"):
            return self.projection(x, g)
        # Projections of the axes, of length 1, span the tangent space; the matrix of
        # their inner products has its rank.
        units: list[Any] = [
            self.projection(x, e) for e in np.eye(self._size).reshape(-1, *self.shape)
        ]
        lengths = [self.norm(x, u) for u in units]
        span = [u / n for u, n in zip(units, lengths, strict=True) if n > 0]
        values, vectors = np.linalg.eigh(
            [[self.inner(x, u, v) for u in span] for v in span]
        )
        values, vectors = values[-self.dim :], vectors[:, -self.dim :]
        slopes = [np.vdot(u, g) for u in span]
        parts = vectors @ (vectors.T @ slopes / values)
        found: X = sum(a * u for a, u in zip(parts, span, strict=True))
        return found

    def riemannian_hessian(self, x: Any, g: Any, h: Any, v: Any) -> X:
        """Return the product of the Riemannian Hessian of a cost at x with v.

        On a manifold of your own without this method, solvers take differences of
        gradients, also where ``hessian`` is given.

        Parameters
        ----------
        x : array-like
            The point.
        g : array-like
            The Euclidean gradient there.
        h : array-like
            The product of the Euclidean Hessian with v.
        v : array-like
            A tangent vector at x.

        Returns
        -------
        ndarray, or tuple of three
            A tangent vector at x.
        """
        raise self._lacks("riemannian_hessian")

    def violation(self, x: Any) -> float:
        """Return how far x is from being a point; ``inf`` where it is not finite.

        The unit is that of the constraint, such as the largest entry of X'X - I. A
        manifold of your own without this method takes every finite array for a point;
        with it, a retraction that ends off the manifold is no step.
        """
        return 0.0 if np.isfinite(x).all() else math.inf

    def nearest_point(self, x: Any) -> X:
        """Return the point nearest to x, which need not be one, or one as good.

        For a manifold of your own, by default, a retraction by 0.

        Raises
        ------
        InputError
            There is none, such as for the origin and a sphere.
        """
        return self.retraction(x, np.zeros(self.shape))


class _BuiltIn(Manifold[X]):
    """A manifold of the library.

    Two are equal if they are of one class and have the same parameters.

    Attributes
    ----------
    dim : int
        The dimension, that of all copies together.
    """

    _kind: ClassVar[str]

    def __init__(self, arguments: tuple[int, ...], copies: int | None) -> None:
        self._arguments = arguments
        self._copies = None if copies is None else check_integer("copies", copies, 1)
        self._text = json.dumps(self._describe(type(self).__name__))
        self.dim = call(_core.bindings_ManifoldDim, self._text)

    def _constructor(self) -> tuple[int, ...]:
        """Return the arguments of the constructor in Go."""
        return self._arguments

    def _describe(self, name: str) -> dict[str, Any]:
        """Return what the library is told of the manifold."""
        return {
            "name": name,
            "kind": self._kind,
            "shape": self._constructor(),
            "copies": self._copies or 0,
        }

    def __repr__(self) -> str:
        parts = [str(n) for n in self._arguments]
        if self._copies is not None:
            parts.append(f"copies={self._copies}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _BuiltIn)
            and type(self) is type(other)
            and (self._arguments, self._copies) == (other._arguments, other._copies)
        )

    def __hash__(self) -> int:
        return hash((type(self), self._arguments, self._copies))

    def random_point(self, random_state: int | np.random.Generator | None = None) -> X:
        seed = int(np.random.default_rng(random_state).integers(2**63))
        flat = np.empty(self._size)
        call(_core.bindings_ManifoldRandom, self._text, seed, flat)
        point: X = self._shaped(flat)
        return point

    def projection(self, x: PointLike, v: PointLike) -> X:
        return self._map("projection", x=x, v=v)

    def retraction(self, x: PointLike, v: PointLike) -> X:
        return self._map("retraction", x=x, v=v)

    def transport(self, x: PointLike, y: PointLike, v: PointLike) -> X:
        return self._map("transport", x=x, y=y, v=v)

    def exp(self, x: PointLike, v: PointLike) -> X:
        return self._map("exp", x=x, v=v)

    def log(self, x: PointLike, y: PointLike) -> X:
        return self._map("log", x=x, y=y)

    def dist(self, x: PointLike, y: PointLike) -> float:
        return self._measure("dist", x=x, y=y)

    def inner(self, x: PointLike, u: PointLike, v: PointLike) -> float:
        return self._measure("inner", x=x, u=u, v=v)

    def norm(self, x: PointLike, v: PointLike) -> float:
        return self._measure("norm", x=x, v=v)

    def riemannian_gradient(self, x: PointLike, g: PointLike) -> X:
        return self._map("gradient", x=x, g=g)

    def riemannian_hessian(
        self, x: PointLike, g: PointLike, h: PointLike, v: PointLike
    ) -> X:
        return self._map("hessian", x=x, g=g, h=h, v=v)

    def violation(self, x: PointLike) -> float:
        return self._measure("violation", x=x)

    def nearest_point(self, x: PointLike) -> X:
        return self._map("restoration", x=x)

    def _map(self, operation: str, **operands: Any) -> X:
        flat = [self._flat(x, name) for name, x in operands.items()]
        dst = np.empty(self._size)
        places = [address(x) for x in flat] + [0] * (4 - len(flat))
        call(_core.bindings_ManifoldMap, self._text, operation, dst, *places)
        point: X = self._shaped(dst)
        return point

    def _measure(self, operation: str, **operands: Any) -> float:
        flat = [self._flat(x, name) for name, x in operands.items()]
        places = [address(x) for x in flat] + [0] * (3 - len(flat))
        return call(_core.bindings_ManifoldMeasure, self._text, operation, *places)


def real_array(value: Any, what: str) -> Array:
    """Return what is an array of real numbers as contiguous float64."""
    try:
        array = np.asarray(value)
        if not np.can_cast(array.dtype, np.float64, "same_kind"):
            raise InputError(f"{what} has dtype {array.dtype}; want real numbers")
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{what} is no array: {error}") from None
    return contiguous(array)


class ArrayManifold(_BuiltIn[Array]):
    """A manifold of the library whose points are arrays.

    Attributes
    ----------
    shape : tuple of int
        The shape of a point, copies first.
    dim : int
        The dimension, that of all copies together.
    """

    def __init__(
        self,
        arguments: tuple[int, ...],
        shape: tuple[int, ...],
        copies: int | None,
    ) -> None:
        self.shape = shape if copies is None else (copies, *shape)
        super().__init__(arguments, copies)

    def __init_subclass__(cls) -> None:
        """Describe the parameters, which mean the same in all classes."""
        text, *examples = re.split(r"(?=\n\n *Examples\n)", cleandoc(cls.__doc__ or ""))
        sizes = [str(p).partition(":")[0] for p in signature(cls).parameters.values()]
        text += PARAMETERS.format(", ".join(n for n in sizes if n != "copies"))
        if "copies" in sizes:
            text += COPIES
        cls.__doc__ = "".join([text, *examples])


def _size(name: str, value: Any) -> int:
    return check_integer(name, value, 1)


class _OfShape(ArrayManifold):
    """What manifolds of arrays of any shape have in common."""

    def __init__(self, *shape: int) -> None:
        sizes = tuple(_size("shape", n) for n in shape)
        super().__init__(sizes, sizes, None)

    def _constructor(self) -> tuple[int, ...]:
        return (math.prod(self.shape),)


class _OfOrder(ArrayManifold):
    """What manifolds of one size have in common."""

    def __init__(self, n: int, *, copies: int | None = None) -> None:
        n = _size("n", n)
        super().__init__((n,), self._shape_of(n), copies)

    def _shape_of(self, n: int) -> tuple[int, ...]:
        """Return the shape of a point."""
        return (n,)


class Euclidean(_OfShape):
    """All arrays of a shape, with the inner product of the entries.

    Examples
    --------
    >>> from scqm.manifolds import Euclidean
    >>> Euclidean(2, 3).dim
    6
    """

    _kind = "euclidean"


class Sphere(_OfOrder):
    """The unit vectors of R^n, with the inner product u'v.

    Examples
    --------
    >>> from scqm.manifolds import Sphere
    >>> Sphere(3).dist([1, 0, 0], [0, 1, 0]) / 3.141592653589793
    0.5
    """

    _kind = "sphere"


class Oblique(ArrayManifold):
    """The n x m matrices whose columns are unit vectors."""

    _kind = "oblique"

    def __init__(self, n: int, m: int, *, copies: int | None = None) -> None:
        n, m = _size("n", n), _size("m", m)
        super().__init__((n, m), (n, m), copies)


class _Frames(ArrayManifold):
    """What matrices with orthonormal columns have in common."""

    def __init__(self, n: int, p: int, *, copies: int | None = None) -> None:
        n, p = _size("n", n), _size("p", p)
        if p > n:
            raise InputError(f"p is {p}; want at most n = {n}")
        super().__init__((n, p), (n, p), copies)


class Stiefel(_Frames):
    """The n x p matrices with orthonormal columns, X'X = I.

    The inner product is trace(U'V). Logarithms and distances are computed by Newton's
    method and exist up to the injectivity radius: geodesics that are shorter than pi
    are the shortest. With p = 1 and p = n they exist at any distance.
    """

    _kind = "stiefel"


class Grassmann(_Frames):
    """The subspaces of dimension p of R^n, each given by a basis X with X'X = I.

    A cost must not depend on the basis. The distance is the root of the sum of the
    squared principal angles.
    """

    _kind = "grassmann"


class _Square(_OfOrder):
    """What n x n matrices have in common."""

    def _shape_of(self, n: int) -> tuple[int, ...]:
        return (n, n)


class SPD(_Square):
    """The symmetric positive definite n x n matrices, affine-invariant.

    The inner product is trace(X^-1 U X^-1 V): A X A' is as far from A Y A' as X from
    Y for every invertible A.
    """

    _kind = "spd"


class Rotations(_Square):
    """The orthogonal n x n matrices of determinant 1, with trace(U'V).

    Rigid motions are a product: ``{"R": Rotations(3), "t": Euclidean(3)}``.

    Examples
    --------
    The nearest rotation to a matrix, and half of the way there.

    >>> import numpy as np
    >>> from scqm.manifolds import Rotations
    >>> m = Rotations(2)
    >>> Y = m.nearest_point([[0.1, -2.0], [2.0, 0.1]])
    >>> V = m.log(np.eye(2), Y)
    >>> half = m.exp(np.eye(2), V / 2)
    >>> bool(np.allclose(half @ half, Y))
    True
    """

    _kind = "rotations"


class Symmetric(_Square):
    """The symmetric n x n matrices, with trace(U'V)."""

    _kind = "symmetric"


class SkewSymmetric(_Square):
    """The skew-symmetric n x n matrices, with trace(U'V)."""

    _kind = "skew_symmetric"


class Positive(_OfShape):
    """Arrays of positive numbers, in which only ratios count.

    The inner product is the sum of u v / x^2: the logarithms are on a Euclidean space.
    """

    _kind = "positive"


class Simplex(_OfOrder):
    """The probability vectors of n positive entries, with the metric of Fisher and Rao.

    Entries have the sum 1; the inner product is the sum of u v / x.
    """

    _kind = "simplex"


class ComplexCircle(_OfOrder):
    """The vectors of n complex numbers of modulus 1, as pairs of real numbers."""

    _kind = "complex_circle"

    def _shape_of(self, n: int) -> tuple[int, ...]:
        return (n, 2)


class Unitary(_OfOrder):
    """The unitary n x n matrices, entries as pairs of numbers, with Re trace(U*V)."""

    _kind = "unitary"

    def _shape_of(self, n: int) -> tuple[int, ...]:
        return (n, n, 2)


class _Factors(ArrayManifold):
    """What the factors Y of matrices YY' have in common."""

    def __init__(self, n: int, r: int, *, copies: int | None = None) -> None:
        n, r = _size("n", n), _size("r", r)
        self._check(n, r)
        super().__init__((n, r), (n, r), copies)

    def _check(self, n: int, r: int) -> None:
        """Refuse shapes that there are not."""


class PSDFixedRank(_Factors):
    """The positive semidefinite n x n matrices YY' of rank r, by Y.

    A cost must not depend on the choice of Y, of which YQ with an orthogonal Q is
    another. Distances are those of Bures and Wasserstein.
    """

    _kind = "psd_fixed_rank"

    def _check(self, n: int, r: int) -> None:
        if r > n:
            raise InputError(f"r is {r}; want at most n = {n}")


class Elliptope(_Factors):
    """The correlation matrices YY' of order n and rank at most r, by unit rows of Y.

    A cost must not depend on the choice of Y, of which YQ with an orthogonal Q is
    another. There are no logarithms and no distances.
    """

    _kind = "elliptope"


class SE(_OfOrder):
    """The rigid motions of R^n: the rotation X[:n] and the translation X[n].

    The product of :class:`Rotations` and :class:`Euclidean`.
    """

    _kind = "se"

    def _shape_of(self, n: int) -> tuple[int, ...]:
        return (n + 1, n)


class Hyperbolic(_OfOrder):
    """Hyperbolic space of dimension n, in the model of Lorentz.

    Points x have n + 1 entries, with -x_0^2 + x_1^2 + ... + x_n^2 = -1 and x_0 > 0.
    The inner product is -u_0 v_0 + u_1 v_1 + ... + u_n v_n.
    """

    _kind = "hyperbolic"

    def _shape_of(self, n: int) -> tuple[int, ...]:
        return (n + 1,)


class FixedRank(_BuiltIn[Factors]):
    """The m x n matrices W of rank r, with trace(A'B).

    A point is the tuple (U, S, V) with W = U S V': U (m, r) and V (n, r) have
    orthonormal columns, and S (r, r) is invertible. A tangent vector is a tuple of
    velocities of the factors. A cost is a function of the factors that depends on W
    only, and its Euclidean gradient the tuple of the derivatives with respect to the
    factors; :meth:`factored_gradient` has that of a function of W.

    There are no geodesics, logarithms and distances in closed form.

    Parameters
    ----------
    m, n : int
        The numbers of rows and columns.
    r : int
        The rank, at most min(m, n).
    """

    _kind = "fixed_rank"

    def __init__(self, m: int, n: int, r: int) -> None:
        m, n, r = _size("m", m), _size("n", n), _size("r", r)
        if r > min(m, n):
            raise InputError(f"r is {r}; want at most min(m, n) = {min(m, n)}")
        #: The shapes of U, S and V.
        self.shapes = ((m, r), (r, r), (n, r))
        super().__init__((m, n, r), None)

    @property
    def _size(self) -> int:
        return sum(math.prod(s) for s in self.shapes)

    def _flat(self, x: Any, what: str) -> Array:
        if not isinstance(x, tuple | list) or len(x) != 3:
            raise InputError(
                f"{what} is a {type(x).__name__}; want a tuple of U, S and V"
            )
        parts = []
        for name, part, shape in zip("USV", x, self.shapes, strict=True):
            array = real_array(part, f"{what}, {name},")
            if array.shape != shape:
                raise InputError(
                    f"{what}, {name}, has shape {array.shape}; want {shape}"
                )
            parts.append(array.ravel())
        return np.concatenate(parts)

    def _shaped(self, flat: Array) -> Factors:
        parts, at = [], 0
        for shape in self.shapes:
            size = math.prod(shape)
            parts.append(flat[at : at + size].reshape(shape))
            at += size
        return parts[0], parts[1], parts[2]

    def matrix(self, x: PointLike) -> Array:
        """Return the matrix W = U S V', of shape (m, n)."""
        U, S, V = self._shaped(self._flat(x, "x"))
        W: Array = U @ S @ V.T
        return W

    def factored_gradient(
        self, x: PointLike, GV: npt.ArrayLike, GtU: npt.ArrayLike
    ) -> Factors:
        """Return the gradient in the factors of a function of W.

        Parameters
        ----------
        x : tuple of three array-like
            The point (U, S, V).
        GV : array-like of shape (m, r)
            G V, where G (m, n) is the gradient of the function at W.
        GtU : array-like of shape (n, r)
            G' U. Both are thin: G itself may be sparse or never be formed.

        Returns
        -------
        tuple of three ndarray
            G V S', U' G V and G' U S.
        """
        U, S, _ = self._shaped(self._flat(x, "x"))
        wide, tall = real_array(GV, "GV"), real_array(GtU, "GtU")
        for what, array, shape in (
            ("GV", wide, self.shapes[0]),
            ("GtU", tall, self.shapes[2]),
        ):
            if array.shape != shape:
                raise InputError(f"{what} has shape {array.shape}; want {shape}")
        return wide @ S.T, U.T @ wide, tall @ S

    def truncation(self, W: npt.ArrayLike) -> Factors:
        """Return the point nearest to a matrix, its truncated singular values.

        Parameters
        ----------
        W : array-like of shape (m, n)
            A matrix of rank r at least.

        Returns
        -------
        tuple of three ndarray
            The point, with a diagonal S.
        """
        array = real_array(W, "W")
        m, n, r = self._arguments
        if array.shape != (m, n):
            raise InputError(f"W has shape {array.shape}; want {(m, n)}")
        U, s, Vt = np.linalg.svd(array, full_matrices=False)
        if not s[r - 1] > s[0] * 2.0**-50:
            raise InputError(f"W has a rank below {r}")
        return U[:, :r].copy(), np.diag(s[:r]), Vt[:r].T.copy()


def check(
    manifold: Manifold[Any], x: Any = None, *, random_state: int = 0
) -> CheckReport:
    """Try whether a manifold written in Python keeps the laws of manifolds.

    Among them: the projection is linear and orthogonal, its rank the dimension; the
    retraction agrees with x + v to first order, stays finite, and refuses NaN; gradient
    and inner product fit each other; geodesics have no acceleration, logarithms and
    distances belong to them; equal arguments give equal results.

    Parameters
    ----------
    manifold : Manifold
        An object of a class of your own.
    x : array-like, optional
        A point at which to try the laws, beside random ones. It is needed where there
        is no ``random_point``.
    random_state : int, default=0
        Seed of the points and vectors.

    Returns
    -------
    CheckReport
        True where every law holds; its text lists all of them.
    """
    raised: list[BaseException] = []
    own = Operations(manifold, raised)
    if x is None and not manifold._has("random_point"):
        raise InputError(f"{own.name} has no random_point; give a point x")
    point = None if x is None else manifold._flat(x, "x").ravel()
    use_python()
    verdicts = call(
        _core.bindings_CheckManifold,
        json.dumps(own.describe("x")),
        check_integer("random_state", random_state, 0),
        point,
    )
    if raised:
        raise raised[0]
    return read(f"manifold {own.name}", json.loads(verdicts))
