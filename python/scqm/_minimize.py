"""Minimisation on manifolds of a cost that is a function in Python.

The run is the library's; the functions are called from within it, on the thread that
has called. An exception in one of them ends the run and is raised here as it is.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from ._autodiff import Derivatives, derivatives
from ._constraints import Constraints
from ._domain import Buffer, Domain
from ._library import _core
from ._native import Array, Job, address, call, use_python
from ._validation import check_count, check_real, number
from .exceptions import InputError
from .manifolds import Manifold
from .solvers import Solver, SolverName, answer

#: A point or a vector: an array, a tuple of arrays on FixedRank, or a dict of those.
Point: TypeAlias = Any
Manifolds: TypeAlias = Manifold[Any] | Mapping[str, Manifold[Any]]
Cost: TypeAlias = Callable[[Point], Any]
Gradient: TypeAlias = Callable[[Point], Point] | Literal["jax", "torch"]
Hessian: TypeAlias = Callable[[Point, Point], Point] | Literal["jax", "torch"] | None

# The entries of the progress; see bindings/minimize.go.
_ITERATION, _COST, _GRADIENT, _COSTS, _GRADIENTS, _PRODUCTS, _SECONDS = range(7)


@dataclass(frozen=True)
class MinimizeResult:
    """The outcome of :func:`scqm.optimize.minimize`.

    Attributes
    ----------
    x : ndarray, tuple of ndarray, or dict of those by block
        The best point found, in the form of the start.
    fun : float
        The cost there.
    grad_norm : float
        The norm of the Riemannian gradient there; NaN where it is not known.
    status : str
        Why the run ended: "converged", "stalled", "max_iter", "time_limit", or
        "cancelled" by the callback; "running" in what a callback is shown.
    success : bool
        Whether the status is "converged".
    message : str
        The status in a sentence.
    nit : int
        Iterations.
    nfev, ngev, nhev : int
        Evaluations of the cost, of its gradient, and Hessian-vector products.
    solver : str
        The solver that has run.
    seconds : float
        How long it took.
    violation : float
        How far x is from the constraints, the largest of them.
    multipliers : ndarray
        The multipliers of the constraints, entry by entry: positive at an upper bound,
        negative at a lower one, as that of "ineq" is. ``grad_norm`` is that of the cost
        plus their sum.
    history : dict of ndarray
        The way, an entry for the start and for every iteration: "iteration", "cost",
        "grad_norm" and "seconds". Empty in what a callback is shown.
    """

    x: Point
    fun: float
    grad_norm: float
    status: str
    success: bool
    message: str
    nit: int
    nfev: int
    ngev: int
    nhev: int
    solver: str
    seconds: float
    violation: float = 0.0
    multipliers: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    history: dict[str, Array] = field(default_factory=dict, repr=False)


class Functions:
    """The functions of a problem as the library calls them: without arguments.

    They read points and write results in arrays that the library knows. A point that
    users are given is a copy, which they may keep and change.
    """

    def __init__(
        self,
        domain: Domain,
        functions: Derivatives,
        callback: Callable[[MinimizeResult], object] | None,
        solver: str,
    ) -> None:
        self.domain = domain
        self.functions = functions
        self.callback = callback
        self.solver = solver
        self.advance: Callable[[], None] | None = None
        self.at, self.grad, self.v, self.product, self.iterate = (
            Buffer(domain, what) for what in ("x", "gradient", "v", "hessian", "x0")
        )
        self.progress = np.zeros(7)
        self.raised: list[BaseException] = []

    def begin(self, x0: Point) -> None:
        """Hand the start to the library."""
        if x0 is None:
            raise InputError(
                "x0 is None; give a point to begin with, such as "
                "manifold.random_point()"
            )
        self.iterate.write(x0)

    def cost(self) -> float:
        """Return the cost."""
        return number(self.functions.cost(self.at.read()), "cost")

    def gradient(self) -> None:
        """Write the gradient."""
        gradient = self.functions.gradient(self.at.read())
        self.grad.write(gradient)

    def both(self) -> float:
        """Return the cost and write the gradient."""
        if self.functions.both is None:
            cost = self.cost()
            self.gradient()
            return cost
        cost, gradient = self.functions.both(self.at.read())
        self.grad.write(gradient)
        return number(cost, "cost")

    def multiply(self) -> None:
        """Write the product of the Hessian with a vector."""
        assert self.functions.hessian is not None
        x, v = self.at.read(), self.v.read()
        self.product.write(self.functions.hessian(x, v))

    def observe(self) -> float:
        """Return 1 to stop the run, else 0."""
        assert self.callback is not None
        told = self.progress.tolist()
        so_far = MinimizeResult(
            x=self.iterate.read(),
            fun=told[_COST],
            grad_norm=told[_GRADIENT],
            status="running",
            success=False,
            message=f"iteration {int(told[_ITERATION])}",
            nit=int(told[_ITERATION]),
            nfev=int(told[_COSTS]),
            ngev=int(told[_GRADIENTS]),
            nhev=int(told[_PRODUCTS]),
            solver=self.solver,
            seconds=told[_SECONDS],
        )
        try:
            stop = self.callback(so_far)
            return float(isinstance(stop, bool | np.bool_) and bool(stop))
        except StopIteration:
            return 1.0

    def run(
        self,
        function: Callable[[str, int], str],
        settings: dict[str, Any],
    ) -> str:
        """Call Minimize or CheckProblem."""
        use_python()
        buffers = (self.at, self.grad, self.v, self.product, self.iterate)
        # Bound methods are made anew each time they are looked up: these stay.
        functions: list[object] = [self.cost, self.gradient, self.both]
        functions.append(self.multiply if self.functions.hessian else None)
        functions.append(self.observe if self.callback is not None else None)
        functions += [self.advance, self.raised]
        places = [address(b.flat) for b in buffers] + [address(self.progress)]
        places += [0 if f is None else id(f) for f in functions]
        table = np.array(places, np.uint64)
        described, own = self.domain.describe(self.raised)
        report = call(
            function, json.dumps(settings | {"blocks": described}), address(table)
        )
        del own  # whose addresses the library was told
        if self.raised:
            error = self.raised[0]
            self.raised.clear()
            try:
                raise error
            finally:
                del error  # which holds this frame
        return report


def minimize(
    cost: Cost,
    x0: Point,
    *,
    manifold: Manifolds,
    gradient: Gradient,
    hessian: Hessian = None,
    solver: SolverName | Solver = "auto",
    tol: float = 1e-8,
    max_iter: int | None = None,
    time_limit: float | None = None,
    callback: Callable[[MinimizeResult], object] | None = None,
    constraints: Any = (),
    bounds: Any = None,
) -> MinimizeResult:
    """Minimise a cost on a manifold, or on several at once.

    Parameters
    ----------
    cost : callable
        The cost at a point: ``cost(x)`` returns a number. It may be infinite or NaN
        where it is not defined, but not at the start. A point is an array of the
        manifold's shape, a tuple of three on ``FixedRank``, or a dict of those by
        block where ``manifold`` is a dict. Functions are given copies.
    x0 : ndarray, tuple of three, or dict by block
        Where to begin, such as ``manifold.random_point()``.
    manifold : Manifold or dict of Manifold
        What x is on: one of :mod:`scqm.manifolds`, an object of your own class of
        :class:`scqm.manifolds.Manifold`, or a dict of those by the names of blocks, for
        their product.
    gradient : callable, "jax" or "torch"
        The Euclidean gradient: ``gradient(x)`` returns the derivatives with respect
        to the entries of x, in the form of x, as if there were no constraint. With
        "jax" or "torch" that library differentiates ``cost``, which must be written
        in it, twice where a solver asks for it.
    hessian : callable, "jax", "torch" or None, default=None
        The Euclidean Hessian-vector product: ``hessian(x, v)`` returns the derivative
        of the gradient along v, in the form of x. None takes that of jax or torch
        where they have the gradient; otherwise solvers that need it take differences
        of gradients.
    solver : str or Solver, default="auto"
        "rgd", "cg", "lbfgs", "trust_region", or "auto", which chooses; or an object of
        your own class of :class:`scqm.solvers.Solver`.
    tol : float, default=1e-8
        The norm of the Riemannian gradient, relative to that at the start, at which a
        run has converged. A gradient that changes of x in its last digits make counts
        as none.
    max_iter : int or None, default=None
        The largest number of iterations; None for 10,000.
    time_limit : float or None, default=None
        The seconds after which the run ends with the best point so far.
    callback : callable, optional
        ``callback(result_so_far)`` is called after the start and after every
        iteration with a :class:`MinimizeResult` of status "running". The run ends
        where it returns True, of NumPy or not, or raises StopIteration.
    constraints : dict, LinearConstraint, NonlinearConstraint, or list, default=()
        Constraints beside the manifold, as SciPy spells them: dicts with ``type``, "eq"
        for fun(x) = 0 or "ineq" for fun(x) >= 0, ``fun``, ``jac`` and ``args``, or
        objects of ``scipy.optimize``. ``jac`` returns an array with a row for every
        entry of ``fun``, or a dict of those by block; without it differences are taken.
        The solver minimises augmented Lagrangians.
    bounds : list of pairs, Bounds, dict by block, or None, default=None
        Bounds of the entries of x, as SciPy spells them: pairs (min, max), None for
        none, or ``scipy.optimize.Bounds``.

    Returns
    -------
    MinimizeResult
        The best point found and why the run ended.

    Raises
    ------
    InputError
        A point, gradient or product has the wrong form, which the message names by
        its block; the start is not on the manifold; a solver does not exist.
    NonFiniteError
        The cost at the start, or a gradient, is NaN or infinite.

    Notes
    -----
    An exception in one of the functions, KeyboardInterrupt included, ends the run and
    comes out as it is. Functions may call ``minimize`` themselves.

    Examples
    --------
    The eigenvector of the largest eigenvalue.

    >>> import numpy as np
    >>> import scqm
    >>> A = np.diag([1.0, 2.0, 5.0])
    >>> sphere = scqm.manifolds.Sphere(3)
    >>> r = scqm.optimize.minimize(
    ...     lambda x: -(x @ A @ x),
    ...     sphere.random_point(0),
    ...     manifold=sphere,
    ...     gradient=lambda x: -2 * (A @ x),
    ... )
    >>> r.success, round(-r.fun, 6)
    (True, 5.0)
    """
    domain = Domain(manifold)
    if callback is not None and not callable(callback):
        raise InputError(f"callback is {callback!r}; want a function or None")
    if not isinstance(solver, str | Solver):
        raise InputError(f"solver is {solver!r}; want the name of one, or a Solver")
    settings: dict[str, Any] = {
        "solver": solver if isinstance(solver, str) else solver.name,
        "tol": check_real("tol", tol, 0, above=False),
        "max_iter": check_count("max_iter", max_iter) or 0,
        "time_limit": 0.0
        if time_limit is None
        else check_real("time_limit", time_limit, 0, above=True),
    }
    functions = derivatives(cost, gradient, hessian)
    shown = Functions(domain, functions, callback, settings["solver"])
    shown.begin(x0)
    count, limits, table = 0, None, None
    if bounds is not None or not isinstance(constraints, Sequence) or constraints:
        start = shown.iterate.read()
        limits = Constraints(constraints, bounds, domain, shown.at, shown.grad, start)
        count, table = limits.count, limits.table()
        settings |= {"count": count, "constraints": address(table)}
    with Job() if isinstance(solver, Solver) else nullcontext() as job:
        if job is not None and isinstance(solver, Solver):
            job.raised = shown.raised
            shapes = {
                name: getattr(block, "shape", (block._size,))
                for name, block in domain.blocks.items()
            }
            shown.advance = partial(answer, solver, job, shapes, max_iter, tol)
            settings["job"] = job.number
        report = json.loads(shown.run(_core.bindings_Minimize, settings))
    violation = report.pop("violation")
    multipliers = np.array(report.pop("multipliers") or [], np.float64)
    norm, fun = report.pop("grad_norm"), report.pop("fun")
    history = {
        name: np.array(column, np.float64)
        for name, column in report.pop("history").items()
    }
    return MinimizeResult(
        x=shown.iterate.read(),
        fun=float(fun),
        grad_norm=math.nan if norm is None else norm,
        success=report["status"] == "converged",
        history=history,
        violation=math.nan if violation is None else violation,
        multipliers=multipliers[len(multipliers) - count :],
        **report,
    )
