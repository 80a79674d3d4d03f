"""Solvers, those of the library and your own.

A subclass of :class:`Solver` minimises the objective of a fit in Python. The
:class:`Problem` it is given computes costs, gradients, tangent projections and
retractions in Go.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _native
from ._library import _core
from ._names import lookup
from ._native import Array, Job, address, call
from .exceptions import BudgetError, InputError, NonFiniteError

__all__ = ["Block", "Point", "Problem", "Solver", "Stochastic", "names"]

if not TYPE_CHECKING:
    __getattr__ = lookup(__name__)

#: The names of solvers.
SolverName: TypeAlias = Literal[
    "auto",
    "alternating",
    "cg",
    "lbfgs",
    "newton",
    "rgd",
    "stochastic",
    "streaming",
    "trust_region",
]

#: A point, tangent vector or gradient: one array per block.
Point: TypeAlias = list[Array]


@dataclass(frozen=True)
class Block:
    """A block of the domain of a problem.

    Attributes
    ----------
    name : str
        ``"c"``, ``"Q"``, ``"Theta"`` or ``"Tau"``.
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


@dataclass(frozen=True)
class Stochastic:
    """The solver "stochastic" with a setting.

    Blocks of 1024 rows are drawn in a random order; then all rows are read until the
    fit has converged. Under "l2", "squared_l2" and "huber" what blocks say is
    averaged. Under "mahalanobis", "l1", "lp" and "huber_entries" growing samples of
    them are fitted by Newton's method; that takes bent sheets, of up to 50 columns or
    so, and there is no :meth:`scqm.SCQM.partial_fit`.

    Attributes
    ----------
    reads : int
        Number of times that all rows are drawn, at least 1. A sample counts by its
        part of the rows, every time that it is read.
    """

    reads: int = 1

    @property
    def name(self) -> str:
        """The name of the solver."""
        return "stochastic"


class Problem:
    """The objective of a fit on a product of manifolds.

    The blocks are c (D,), Q (D, d+s) on the Stiefel manifold Q'Q = I, Theta
    (q, s) and Tau (n, d); the cost is the sum of the losses of the rows of
    c + [Tau, Phi(Tau) Theta] Q' - X, and of the penalty. Points, tangent
    vectors and gradients are lists of one array per block.

    A problem is of use inside :meth:`Solver.minimize` only.

    Attributes
    ----------
    blocks : tuple of Block
        What points are made of.
    max_iter : int or None
        The parameter of the estimator, for solvers that have iterations.
    tol : float or None
        The parameter of the estimator. The library judges convergence itself.
    """

    def __init__(
        self,
        job: Job,
        rows: dict[str, int],
        max_iter: int | None,
        tol: float | None,
    ) -> None:
        self._job = job
        blocks = []
        for b in json.loads(call(_core.bindings_ProblemBlocks, job.number)):
            size = b["rows"] * b["size"]
            count = rows.get(b["name"], b["rows"])
            shape = (size,) if b["name"] == "c" else (count, size // count)
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
            The time limit of the fit is over. The fit ends with the best point
            evaluated.
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
        at, gradient, result = self.pack(x), np.empty(self._size), np.empty(self._size)
        cost = self._evaluate(at, gradient)
        call(
            _core.bindings_ProblemGradient, self._job.number,
            address(result), address(at), address(gradient),
        )  # fmt: skip
        return cost, self.unpack(result)

    def project(self, x: Sequence[npt.ArrayLike], v: Sequence[npt.ArrayLike]) -> Point:
        """Return the orthogonal projection of v on the tangent space at x."""
        at, vector, result = self.pack(x), self.pack(v), np.empty(self._size)
        call(
            _core.bindings_ProblemProject, self._job.number,
            address(result), address(at), address(vector),
        )  # fmt: skip
        return self.unpack(result)

    def retract(self, x: Sequence[npt.ArrayLike], v: Sequence[npt.ArrayLike]) -> Point:
        """Return the point reached from x along the tangent vector v."""
        at, vector, result = self.pack(x), self.pack(v), np.empty(self._size)
        call(
            _core.bindings_ProblemRetract, self._job.number,
            address(result), address(at), address(vector),
        )  # fmt: skip
        return self.unpack(result)

    def inner(
        self,
        x: Sequence[npt.ArrayLike],
        u: Sequence[npt.ArrayLike],
        v: Sequence[npt.ArrayLike],
    ) -> float:
        """Return the inner product of the tangent vectors u and v at x."""
        at, left, right = self.pack(x), self.pack(u), self.pack(v)
        return call(
            _core.bindings_ProblemInner, self._job.number,
            address(at), address(left), address(right),
        )  # fmt: skip

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

    def _start(self) -> Point:
        packed = np.empty(self._size)
        call(_core.bindings_ProblemStart, self._job.number, address(packed))
        return self.unpack(packed)

    def _evaluate(self, at: Array, gradient: Array | None) -> float:
        job = self._job
        kept = len(job.keep)
        job.keep += [at, gradient]
        try:
            call(_core.bindings_StartCost, job.number, address(at), address(gradient))
            job.wait(_native.EVALUATED)
            cost = call(_core.bindings_Cost, job.number)
        except (InputError, NonFiniteError, BudgetError):
            raise
        except BaseException:
            # The evaluation goes on and uses the arrays; nothing may follow it.
            call(_core.bindings_Cancel, job.number)
            raise
        del job.keep[kept:]
        return cost


class Solver(ABC):
    """An algorithm that minimises the objective of a fit; subclass it.

    The library evaluates the point that :meth:`minimize` returns and keeps the
    best of all points evaluated, so that a solver can only lower the objective.

    Attributes
    ----------
    name : str
        What the solver is called in reports and files; by default the name of
        the class in small letters.

    Examples
    --------
    >>> import numpy as np
    >>> from scqm import SCQM, Solver
    >>> class Descent(Solver):
    ...     def minimize(self, problem, x0):
    ...         x, step = x0, 1.0
    ...         cost, gradient = problem.cost_and_gradient(x)
    ...         while step > 1e-8:
    ...             trial = problem.retract(x, [-step * g for g in gradient])
    ...             if problem.cost(trial) < cost:
    ...                 x, step = trial, 2 * step
    ...                 cost, gradient = problem.cost_and_gradient(x)
    ...             else:
    ...                 step /= 2
    ...         return x
    >>> t = np.linspace(-1, 1, 30)
    >>> X = np.column_stack([t, t**2])
    >>> flat = SCQM(1, loss="squared_l2", linear=True).fit(X)
    >>> curved = SCQM(1, loss="squared_l2", solver=Descent()).fit(X)
    >>> bool(curved.objective_ < 0.01 * flat.objective_)
    True
    """

    name: str = ""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__.lower()

    @abstractmethod
    def minimize(self, problem: Problem, x0: Point) -> Sequence[npt.ArrayLike] | None:
        """Look for a point of low cost.

        Parameters
        ----------
        problem : Problem
            The objective.
        x0 : list of ndarray
            Where to begin: the principal components. The arrays are yours. A
            fit may call again, from where the last call ended but with rows
            moved to parts of the sheet that turned out to be nearer.

        Returns
        -------
        list of array-like, or None
            The point found; None for the best one that was evaluated.
        """


def answer(
    solver: Solver,
    job: Job,
    rows: dict[str, int],
    max_iter: int | None,
    tol: float | None,
) -> None:
    """Run a solver written in Python for a job that asks for it."""
    problem = Problem(job, rows, max_iter, tol)
    try:
        found = solver.minimize(problem, problem._start())
    except BudgetError:
        found = None
    packed = None if found is None else problem.pack(found)
    call(_core.bindings_AnswerPoint, job.number, address(packed))


def names() -> list[str]:
    """Return the names of the solvers of the library.

    Examples
    --------
    >>> import scqm.solvers
    >>> "rgd" in scqm.solvers.names()
    True
    """
    return [solver["name"] for solver in json.loads(call(_core.bindings_Solvers))]
