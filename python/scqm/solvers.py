"""Solvers, those of the library and your own.

A subclass of :class:`Solver` minimises in Python, for :class:`scqm.SCQM` and for
:func:`scqm.optimize.minimize`. The :class:`Problem` it is given has costs, gradients,
tangent projections and retractions. :func:`check` tries whether it is right.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _native
from ._laws import CheckReport, read
from ._library import _core
from ._native import Array, Job, address, call, library
from .exceptions import BudgetError, InputError, NonFiniteError

__all__ = ["Block", "Point", "Problem", "Solver", "check", "names"]

#: The names of solvers.
SolverName: TypeAlias = Literal[
    "auto",
    "alternating",
    "cg",
    "lbfgs",
    "newton",
    "rgd",
    "streaming",
    "trust_region",
]

#: A point, tangent vector or gradient: one array per block.
Point: TypeAlias = list[Array]


#: The shapes of blocks by name, or their numbers of rows.
Rows: TypeAlias = Mapping[str, int | tuple[int, ...]]


@dataclass(frozen=True)
class Block:
    """A block of the domain of a problem.

    Attributes
    ----------
    name : str
        Such as ``"c"``, ``"Q"``, ``"Theta"`` or ``"Tau"``.
    manifold : str
        The manifold of the block, such as ``"stiefel 784x5"``.
    shape : tuple of int
        The shape of its array.
    dim : int
        Its dimension.
    """

    name: str
    manifold: str
    shape: tuple[int, ...]
    dim: int


class Problem:
    """A cost on a product of manifolds.

    Points, tangent vectors and gradients are lists of one array per block. A problem of
    :func:`scqm.optimize.minimize` has the blocks of its manifold, or one, "x"; a point
    of ``FixedRank`` is one array of its entries. That of a fit has the blocks c (D,), Q
    (D, d+s) on the Stiefel manifold Q'Q = I, Theta (q, s) and Tau (n, d); the cost is
    the sum of the losses of the rows of c + [Tau, Phi(Tau) Theta] Q' - X, and of the
    penalty.

    A problem is of use inside :meth:`Solver.minimize` only.

    Attributes
    ----------
    blocks : tuple of Block
        What points are made of.
    max_iter : int or None
        The parameter of that name.
    tol : float or None
        The parameter of that name. The library judges convergence itself.
    """

    def __init__(
        self,
        job: Job,
        rows: Rows,
        max_iter: int | None,
        tol: float | None,
    ) -> None:
        self._job = job
        blocks = []
        for b in json.loads(call(_core.bindings_ProblemBlocks, job.number)):
            size = b["rows"] * b["size"]
            shape = rows.get(b["name"], b["rows"])
            if isinstance(shape, int):
                shape = (size,) if b["name"] == "c" else (shape, size // shape)
            blocks.append(Block(b["name"], b["manifold"], shape, b["dim"]))
        self.blocks = tuple(blocks)
        self.max_iter = max_iter
        self.tol = tol
        self._size = sum(math.prod(b.shape) for b in self.blocks)

    def cost(self, x: Sequence[npt.ArrayLike]) -> float:
        """Return the cost at a point.

        Parameters
        ----------
        x : list of ndarray
            One array per block.

        Returns
        -------
        float
            The cost, ``inf`` where it is not finite.

        Raises
        ------
        BudgetError
            A limit of the run is reached. It ends with the best point evaluated.
        """
        return self._evaluate(self.pack(x), None)

    def euclidean_gradient(self, x: Sequence[npt.ArrayLike]) -> Point:
        """Return the gradient at a point as if there were no constraints."""
        gradient = np.empty(self._size)
        self._evaluate(self.pack(x), gradient)
        return self.unpack(gradient)

    def gradient(self, x: Sequence[npt.ArrayLike]) -> Point:
        """Return the Riemannian gradient at a point."""
        return self.cost_and_gradient(x)[1]

    def cost_and_gradient(self, x: Sequence[npt.ArrayLike]) -> tuple[float, Point]:
        """Return the cost and the Riemannian gradient at a point, in one pass."""
        at, gradient = self.pack(x), np.empty(self._size)
        cost = self._evaluate(at, gradient)
        return cost, self._map("gradient", at, gradient)

    def project(self, x: Sequence[npt.ArrayLike], v: Sequence[npt.ArrayLike]) -> Point:
        """Return the orthogonal projection of v on the tangent space at x."""
        return self._map("projection", self.pack(x), self.pack(v))

    def retract(self, x: Sequence[npt.ArrayLike], v: Sequence[npt.ArrayLike]) -> Point:
        """Return the point reached from x along the tangent vector v."""
        return self._map("retraction", self.pack(x), self.pack(v))

    def transport(
        self,
        x: Sequence[npt.ArrayLike],
        y: Sequence[npt.ArrayLike],
        v: Sequence[npt.ArrayLike],
    ) -> Point:
        """Return the tangent vector at y that corresponds to v, which is one at x."""
        return self._map("transport", self.pack(x), self.pack(y), self.pack(v))

    def inner(
        self,
        x: Sequence[npt.ArrayLike],
        u: Sequence[npt.ArrayLike],
        v: Sequence[npt.ArrayLike],
    ) -> float:
        """Return the inner product of the tangent vectors u and v at x."""
        packed = self.pack(x), self.pack(u), self.pack(v)
        return call(_core.bindings_ProblemInner, self._job.number, *packed)

    def norm(self, x: Sequence[npt.ArrayLike], v: Sequence[npt.ArrayLike]) -> float:
        """Return the length of the tangent vector v at x."""
        return math.sqrt(max(self.inner(x, v, v), 0.0))

    def pack(self, x: Sequence[npt.ArrayLike]) -> Array:
        """Return the blocks of a point as one new vector."""
        if len(x) != len(self.blocks):
            raise InputError(
                f"point has {len(x)} blocks, the problem {len(self.blocks)}"
            )
        packed = np.empty(self._size)
        at = 0
        for block, part in zip(self.blocks, x, strict=True):
            array = np.asarray(part, dtype=np.float64)
            if array.shape != block.shape:
                raise InputError(
                    f"block {block.name} has shape {array.shape}; want {block.shape}"
                )
            packed[at : at + array.size] = array.ravel()
            at += array.size
        return packed

    def unpack(self, x: npt.ArrayLike) -> Point:
        """Return a vector as blocks, which share its memory where they can."""
        packed = np.asarray(x, dtype=np.float64)
        if packed.shape != (self._size,):
            raise InputError(f"vector has shape {packed.shape}; want ({self._size},)")
        parts, at = [], 0
        for block in self.blocks:
            size = math.prod(block.shape)
            parts.append(packed[at : at + size].reshape(block.shape))
            at += size
        return parts

    def _map(self, operation: str, a: Array, b: Array, c: Array | None = None) -> Point:
        """Return the result of an operation of the manifolds."""
        out = np.empty(self._size)
        call(_core.bindings_ProblemMap, self._job.number, operation, out, a, b, c)
        return self.unpack(out)

    def _start(self) -> Point:
        packed = np.empty(self._size)
        call(_core.bindings_ProblemStart, self._job.number, packed)
        return self.unpack(packed)

    def _evaluate(self, at: Array, gradient: Array | None) -> float:
        job = self._job
        kept = len(job.keep)
        job.keep += [at, gradient]
        try:
            places = address(at), address(gradient)
            if call(_core.bindings_StartCost, job.number, *places):
                job.wait(_native.EVALUATED)
            cost = call(_core.bindings_Cost, job.number)
        except (InputError, NonFiniteError, BudgetError):
            raise
        except BaseException:
            if job.raised:
                raise job.raised[0] from None
            # The evaluation goes on and uses the arrays; nothing may follow it.
            call(_core.bindings_Cancel, job.number)
            raise
        del job.keep[kept:]
        return cost


class Solver(ABC):
    """An algorithm that minimises a cost; subclass it.

    :meth:`minimize` may be a generator: each point that it yields is an iteration,
    after which the library tests for convergence, counts, and calls the callback, so
    that a solver needs no limits of its own. Where it returns a point instead, the run
    has one iteration.

    The library keeps the best of all points evaluated, so that a solver can only lower
    the cost.

    Attributes
    ----------
    name : str
        What the solver is called in reports and files; by default the name of
        the class in small letters.

    Examples
    --------
    >>> import numpy as np
    >>> import scqm
    >>> class Descent(scqm.solvers.Solver):
    ...     def minimize(self, problem, x):
    ...         step = 1.0
    ...         cost, gradient = problem.cost_and_gradient(x)
    ...         while True:
    ...             trial = problem.retract(x, [-step * g for g in gradient])
    ...             if problem.cost(trial) < cost:
    ...                 x, step = trial, 2 * step
    ...                 cost, gradient = problem.cost_and_gradient(x)
    ...                 yield x
    ...             elif step > 1e-12:
    ...                 step /= 2
    ...             else:
    ...                 return
    >>> t = np.linspace(-1, 1, 30)
    >>> X = np.column_stack([t, t**2])
    >>> flat = scqm.SCQM(1, loss="squared_l2", linear=True).fit(X)
    >>> curved = scqm.SCQM(1, loss="squared_l2", solver=Descent()).fit(X)
    >>> bool(curved.objective_ < 0.01 * flat.objective_)
    True
    """

    name: str = ""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__.lower()

    @abstractmethod
    def minimize(
        self, problem: Problem, x0: Point
    ) -> Iterator[Sequence[npt.ArrayLike]] | Sequence[npt.ArrayLike] | None:
        """Look for a point of low cost.

        Parameters
        ----------
        problem : Problem
            The cost.
        x0 : list of ndarray
            Where to begin: the start of the run; in a fit the principal components. The
            arrays are yours. A fit may call again, from where the last call ended but
            with rows moved to parts of the sheet that turned out to be nearer.

        Returns
        -------
        iterator, list of array-like, or None
            The points one by one, of which the last need not be the best; or the point
            found; or None for the best one that was evaluated.
        """


def answer(
    solver: Solver, job: Job, rows: Rows, max_iter: int | None, tol: float | None
) -> None:
    """Run an iteration of a solver written in Python for a job that asks for it."""
    if call(_core.bindings_ProblemStart, job.number, 0):
        job.iterations = _iterations(solver, Problem(job, rows, max_iter, tol))
    try:
        packed, more = next(job.iterations, (None, 0))
    except (BudgetError, NonFiniteError):  # which the library knows
        packed, more = None, 0
    call(_core.bindings_AnswerPoint, job.number, packed, more)


def _iterations(solver: Solver, problem: Problem) -> Iterator[tuple[Array | None, int]]:
    """Yield points, packed, and whether there may be others."""
    found = solver.minimize(problem, problem._start())
    if isinstance(found, Iterator):
        for x in found:
            yield None if x is None else problem.pack(x), 1
    elif found is not None:
        yield problem.pack(found), 0


def check(solver: Solver) -> CheckReport:
    """Try whether a solver written in Python keeps the laws of solvers.

    On seven problems with known answers, flat and curved, with and without a metric, it
    finds the answer, within 1e-8 of the cost; repeats itself to the bit; leaves the
    start as it is and depends on no constant added to the cost; keeps within a budget,
    ends where it is cancelled or the cost is no longer finite, with the best point; and
    sees a manifold through its inner product.

    Parameters
    ----------
    solver : Solver
        An object of a class of your own.

    Returns
    -------
    CheckReport
        True where every law holds; its text lists all of them.
    """
    verdicts, _ = _native.run(
        "solver check",
        {"name": solver.name},
        lambda job, _: answer(solver, job, {}, None, None),
    )
    return read(f"solver {solver.name}", verdicts)


def names() -> list[SolverName]:
    """Return the names of the solvers of the library.

    Examples
    --------
    >>> import scqm.solvers
    >>> "rgd" in scqm.solvers.names()
    True
    """
    return list(library()["solvers"])
