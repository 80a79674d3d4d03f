"""Solvers written in Python, and ours against those of others.

A solver in Python can only lower the cost, within its limits, and a problem ends with
its fit. Pymanopt and SciPy minimise the same objective.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.linalg
import scipy.optimize

import scqm
from scqm import SCQM
from scqm.datasets import make_sphere
from scqm.solvers import Point, Problem, Solver

Array = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def X() -> Array:
    rows, _ = make_sphere(40, noise=0.02, random_state=3)
    return rows[rows[:, 2] > -0.3]


def orthonormalized(Y: Array) -> tuple[Array, Array]:
    """Return Q and R of Y = Q R with positive diagonal."""
    Q, R = np.linalg.qr(Y)
    signs = np.sign(np.diag(R))
    return Q * signs, R * signs[:, None]


class ScipyLBFGS(Solver):
    """SciPy's L-BFGS in a vector space: Q is the factor of a free matrix Y = Q R.

    The gradient with respect to Y comes from that with respect to Q by the
    adjoint of the QR factorization (Seeger et al., arXiv 1710.08717).
    """

    name = "scipy_lbfgs"

    def minimize(self, problem: Problem, x0: Point) -> Point:
        def to_point(v: Array) -> tuple[Point, Array]:
            x = problem.unpack(v)
            x[1], R = orthonormalized(x[1])
            return x, R

        def evaluate(v: Array) -> tuple[float, Array]:
            x, R = to_point(v)
            cost, gradient = problem.cost(x), problem.euclidean_gradient(x)
            G, Q = gradient[1], x[1]
            M = -G.T @ Q
            M = np.tril(M) + np.tril(M, -1).T
            gradient[1] = scipy.linalg.solve_triangular(R, (G + Q @ M).T).T
            return cost, problem.pack(gradient)

        found = scipy.optimize.minimize(
            evaluate,
            problem.pack(x0),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 1000, "maxfun": 1000, "ftol": 1e-15, "gtol": 1e-9},
        )
        return to_point(found.x)[0]


class PymanoptCG(Solver):
    """Conjugate gradients of pymanopt on the same product of manifolds."""

    name = "pymanopt_cg"

    def minimize(self, problem: Problem, x0: Point) -> Any:
        import pymanopt
        from pymanopt.manifolds import Euclidean, Product, Stiefel
        from pymanopt.optimizers import ConjugateGradient

        parts = [
            Stiefel(*b.shape) if b.name == "Q" else Euclidean(*b.shape)
            for b in problem.blocks
        ]
        manifold = Product(parts)

        @pymanopt.function.numpy(manifold)
        def cost(*x: Array) -> float:
            return problem.cost(x)

        @pymanopt.function.numpy(manifold)
        def gradient(*x: Array) -> Point:
            return problem.euclidean_gradient(x)

        task = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient)
        optimizer = ConjugateGradient(
            max_iterations=600, min_gradient_norm=1e-8, verbosity=0
        )
        return optimizer.run(task, initial_point=x0).point


@pytest.mark.parametrize("solver", [ScipyLBFGS(), PymanoptCG()], ids=lambda s: s.name)
@pytest.mark.parametrize("loss", ["squared_l2", "lp"])
def test_ours_against_theirs(X: Array, solver: Solver, loss: Any) -> None:
    p = 1.5 if loss == "lp" else None
    ours = SCQM(2, loss=loss, p=p).fit(X)
    theirs = SCQM(2, loss=loss, p=p, solver=solver).fit(X)
    assert theirs.solver_ == solver.name
    assert ours.objective_ <= theirs.objective_ * (1 + 1e-6)
    assert theirs.objective_ == pytest.approx(ours.objective_, rel=1e-3)


class Laws(Solver):
    """Try what a problem offers."""

    def minimize(self, problem: Problem, x0: Point) -> None:
        rng = np.random.default_rng(0)
        v = problem.project(x0, [rng.normal(size=b.shape) for b in problem.blocks])
        self.slope(problem, x0, v)
        again = problem.project(x0, v)
        for a, b in zip(v, again, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)
        Q = problem.retract(x0, v)[1]
        np.testing.assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-12)
        with pytest.raises(scqm.exceptions.InputError, match="block Q has shape"):
            problem.cost([x0[0], x0[1][:1], x0[2], x0[3]])
        with pytest.raises(scqm.exceptions.InputError, match="point has 1 blocks"):
            problem.cost([x0[0]])
        with pytest.raises(scqm.exceptions.InputError, match="NaN"):
            problem.cost([x0[0] * np.nan, *x0[1:]])
        names = [b.name for b in problem.blocks]
        assert names == ["c", "Q", "Theta", "Tau"]
        assert [b.shape for b in problem.blocks] == [part.shape for part in x0]
        assert problem.norm(x0, v) == pytest.approx(np.linalg.norm(problem.pack(v)))

    def slope(self, problem: Problem, x: Point, v: Point) -> None:
        """The Taylor error of the Riemannian gradient falls with slope 2."""
        cost, gradient = problem.cost_and_gradient(x)
        linear = problem.inner(x, gradient, v)
        errors = [
            abs(
                problem.cost(problem.retract(x, [t * p for p in v])) - cost - t * linear
            )
            for t in (1e-3, 1e-4)
        ]
        assert np.log10(errors[0] / errors[1]) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("linear", [False, True])
def test_what_a_problem_offers(X: Array, linear: bool) -> None:
    SCQM(2, loss="squared_l2", solver=Laws(), linear=linear, ridge=0.0).fit(X)


class Walk(Solver):
    """Evaluate many points and return whatever the test says."""

    def __init__(self, result: Any = None) -> None:
        self.result = result
        self.best = np.inf

    def minimize(self, problem: Problem, x0: Point) -> Any:
        rng = np.random.default_rng(0)
        for _ in range(20):
            v = problem.project(
                x0, [0.01 * rng.normal(size=b.shape) for b in problem.blocks]
            )
            self.best = min(self.best, problem.cost(problem.retract(x0, v)))
        self.best = min(self.best, problem.cost(x0))
        return self.result(x0) if callable(self.result) else self.result


def test_the_best_point_evaluated_is_kept(X: Array) -> None:
    walk = Walk()
    m = SCQM(2, loss="squared_l2", solver=walk).fit(X)
    assert m.objective_ + m.penalty_ == pytest.approx(walk.best, rel=1e-12)
    assert m.status_ == "stalled"


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda x: [x[0], 2 * x[1], x[2], x[3]], "off the manifold"),
        (lambda x: x[:2], "point has 2 blocks"),
        (lambda x: [np.nan * x[0], *x[1:]], "NaN|off the manifold"),
    ],
)
def test_points_that_are_none(X: Array, result: Any, message: str) -> None:
    with pytest.raises(scqm.exceptions.InputError, match=message):
        SCQM(2, solver=Walk(result)).fit(X)


class Endless(Solver):
    """Go on until the budget is used up."""

    def minimize(self, problem: Problem, x0: Point) -> None:
        while True:
            problem.cost(x0)


def test_the_time_limit_holds(X: Array) -> None:
    begin = time.monotonic()
    m = SCQM(2, solver=Endless(), time_limit=0.2).fit(X)
    assert m.status_ == "time_limit"
    assert time.monotonic() - begin < 5


class Fails(Solver):
    """Raise."""

    def minimize(self, problem: Problem, x0: Point) -> None:
        problem.cost(x0)
        raise KeyError("mine")


def test_exceptions_of_solvers(X: Array) -> None:
    with pytest.raises(KeyError, match="mine"):
        SCQM(2, solver=Fails()).fit(X)


def test_solver_and_loss_both_in_python(X: Array) -> None:
    def loss(R: Array) -> tuple[Array, Array]:
        return (R**2).sum(axis=1), 2 * R

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both = SCQM(2, loss=loss, solver=ScipyLBFGS()).fit(X)
    ours = SCQM(2, loss="squared_l2").fit(X)
    assert both.objective_ == pytest.approx(ours.objective_, rel=1e-3)


def test_a_problem_ends_with_its_fit(X: Array) -> None:
    kept: list[Problem] = []

    class Keeps(Solver):
        def minimize(self, problem: Problem, x0: Point) -> None:
            kept.append(problem)

    SCQM(2, solver=Keeps()).fit(X)
    with pytest.raises(scqm.exceptions.ScqmError, match="no such job"):
        kept[0].cost([np.zeros(b.shape) for b in kept[0].blocks])
