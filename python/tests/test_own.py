"""Manifolds and solvers written in Python, and runs that are made of them.

They go the way of the built-in ones to the bit where they compute the same; the laws
find what is wrong with them; and their mistakes come out by name.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import pytest

import scqm
from scqm.manifolds import Manifold
from scqm.solvers import Point, Problem, Solver

Array: TypeAlias = Any  # which NumPy's operators return


class Circle(Manifold[Array]):
    """The unit vectors, as the built-in sphere computes them."""

    def __init__(self, n: int) -> None:
        self.shape, self.dim = (n,), n - 1

    def projection(self, x: Array, v: Array) -> Array:
        return v - (x @ v) * x

    def retraction(self, x: Array, v: Array) -> Array:
        y = x + v
        return y / np.linalg.norm(y)

    def random_point(self, random_state: Any = None) -> Array:
        x = np.random.default_rng(random_state).normal(size=self.shape)
        return x / np.linalg.norm(x)

    def violation(self, x: Array) -> float:
        return abs(float(x @ x) - 1)


class GeodesicCircle(Circle):
    """With all that a manifold may have."""

    def exp(self, x: Array, v: Array) -> Array:
        n = float(np.linalg.norm(v))
        y = np.cos(n) * x + np.sinc(n / np.pi) * v
        return y / np.linalg.norm(y)

    def log(self, x: Array, y: Array) -> Array:
        w = self.projection(x, y - x)
        n = float(np.linalg.norm(w))
        return w * (math.atan2(n, float(x @ y)) / n if n else 1)

    def dist(self, x: Array, y: Array) -> float:
        return 2 * math.asin(min(float(np.linalg.norm(x - y)) / 2, 1))

    def transport(self, x: Array, y: Array, v: Array) -> Array:
        return v - (y @ v) / (1 + x @ y) * (x + y)

    def nearest_point(self, x: Array) -> Array:
        return x / np.linalg.norm(x)


class CurvedCircle(Circle):
    """With the conversion of Hessians."""

    def riemannian_hessian(self, x: Array, g: Array, h: Array, v: Array) -> Array:
        return self.projection(x, h) - (x @ g) * v


class Simplex(Manifold[Array]):
    """Probability vectors with the metric of Fisher and Rao."""

    def __init__(self, n: int) -> None:
        self.shape, self.dim = (n,), n - 1

    def projection(self, x: Array, v: Array) -> Array:
        return v - v.sum() * x

    def retraction(self, x: Array, v: Array) -> Array:
        with np.errstate(all="ignore"):
            y = x * np.exp(v / x)
            found: Array = np.maximum(y / y.sum(), 1e-300)
        return found

    def inner(self, x: Array, u: Array, v: Array) -> float:
        return float(np.sum(u * v / x))

    def transport(self, x: Array, y: Array, v: Array) -> Array:
        return self.projection(y, v * np.sqrt(y / x))

    def random_point(self, random_state: Any = None) -> Array:
        return np.random.default_rng(random_state).dirichlet(np.ones(self.shape))


class FastSimplex(Simplex):
    """With the gradient in closed form."""

    def riemannian_gradient(self, x: Array, g: Array) -> Array:
        return x * (g - x @ g)


class CurvedSimplex(FastSimplex):
    """With the conversion of Hessians of the metric of Fisher and Rao."""

    def riemannian_hessian(self, x: Array, g: Array, h: Array, v: Array) -> Array:
        slope = self.riemannian_gradient(x, g)
        change = v * (g - x @ g) + x * (h - v @ g - x @ h)
        product = self.inner(x, v, slope)
        found: Array = change - (v * slope / x - product * x) / 2
        return found


class Positive(Manifold[Array]):
    """Symmetric positive definite matrices: two axes, and steps that fail."""

    def __init__(self, n: int) -> None:
        self.shape, self.dim = (n, n), n * (n + 1) // 2

    def projection(self, x: Array, v: Array) -> Array:
        return (v + v.T) / 2

    def retraction(self, x: Array, v: Array) -> Array:
        L = np.linalg.cholesky(x + v + v @ np.linalg.solve(x, v) / 2)
        return L @ L.T


A = np.diag([1.0, 2.0, 5.0, 7.0])


def cost(x: Array) -> float:
    return float(-(x @ A @ x))


def gradient(x: Array) -> Array:
    return -2 * (A @ x)


def eigenvector(**changed: Any) -> scqm.optimize.MinimizeResult:
    m = changed.setdefault("manifold", Circle(4))
    given = {"cost": cost, "x0": Circle(4).random_point(0), "gradient": gradient}
    return scqm.optimize.minimize(**(given | {"manifold": m} | changed))


@pytest.mark.parametrize("m", [Circle(4), GeodesicCircle(3), CurvedCircle(4), Simplex(5), FastSimplex(4), CurvedSimplex(4)], ids=lambda m: type(m).__name__)  # fmt: skip
def test_laws_hold(m: Any) -> None:
    report = scqm.manifolds.check(m)
    assert report, str(report)
    assert report.subject == f"manifold {type(m).__name__}"
    laws = {v.law for v in report.verdicts}
    assert {"retraction slope", "dimension", "metric", "gradient"} <= laws
    geodesic = {"geodesic", "distance", "logarithm"}
    assert (geodesic <= laws) == isinstance(m, GeodesicCircle)
    assert ({"hessian", "hessian symmetric"} <= laws) == isinstance(
        m, CurvedCircle | CurvedSimplex
    )
    assert scqm.manifolds.check(m, m.random_point(3), random_state=9)


def test_laws_at_a_point() -> None:
    m = Positive(3)
    with pytest.raises(
        scqm.exceptions.InputError, match="Positive has no random_point; give"
    ):
        scqm.manifolds.check(m)
    assert scqm.manifolds.check(m, np.diag([1.0, 2.0, 3.0]))


def changed(base: type[Any], **methods: Any) -> Any:
    return type("Changed", (base,), methods)


@pytest.mark.parametrize(
    ("base", "methods", "law"),
    [
        (Circle, {"projection": lambda m, x, v: v - 2 * (x @ v) * x}, "projection idempotent"),
        (Circle, {"projection": lambda m, x, v: v - v[0] * x / x[0]}, "gradient"),
        (Circle, {"retraction": lambda m, x, v: (x + 2 * v) / np.linalg.norm(x + 2 * v)}, "retraction slope"),
        (Circle, {"retraction": lambda m, x, v: x + v}, "retraction on manifold"),
        (Circle, {"__init__": lambda m, n: m.__dict__.update(shape=(n,), dim=n)}, "dimension"),
        (Circle, {"random_point": lambda m, random_state=None: np.ones(4)}, "points"),
        (Circle, {"random_point": lambda m, random_state=None: Circle(4).random_point()}, "points"),
        (GeodesicCircle, {"exp": lambda m, x, v: m.retraction(x, v)}, "geodesic"),
        (GeodesicCircle, {"log": lambda m, x, y: m.projection(x, y)}, "logarithm"),
        (GeodesicCircle, {"dist": lambda m, x, y: np.linalg.norm(x - y)}, "distance of steps"),
        (GeodesicCircle, {"transport": lambda m, x, y, v: v}, "transport tangent"),
        (FastSimplex, {"riemannian_gradient": lambda m, x, g: m.projection(x, g)}, "gradient"),
        (CurvedCircle, {"riemannian_hessian": lambda m, x, g, h, v: m.projection(x, h)}, "hessian"),
        (CurvedCircle, {"riemannian_hessian": lambda m, x, g, h, v: h - (x @ g) * v}, "hessian symmetric"),
        (CurvedSimplex, {"riemannian_hessian": lambda m, x, g, h, v: m.riemannian_gradient(x, h)}, "hessian"),
        (FastSimplex, {"inner": lambda m, x, u, v: u[0] * v[1]}, "metric"),
    ],
    ids=lambda v: v if isinstance(v, str) else None,
)  # fmt: skip
def test_laws_that_are_broken(base: Any, methods: Any, law: str) -> None:
    report = scqm.manifolds.check(changed(base, **methods)(4))
    assert not report
    assert law in report.broken, str(report)


@pytest.mark.parametrize("solver", ["auto", "rgd", "cg", "lbfgs", "trust_region"])
def test_own_and_built_in_manifolds_agree(solver: Any) -> None:
    own, usual = eigenvector(solver=solver), eigenvector(solver=solver, manifold=scqm.manifolds.Sphere(4))  # fmt: skip
    assert own.success
    assert own.fun == pytest.approx(-7)
    assert abs(own.nfev - usual.nfev) <= 0.2 * usual.nfev + 2
    # As a block, beside another that is an own one too.
    p = np.array([0.1, 0.2, 0.3, 0.4])
    blocks: dict[str, Any] = {
        "u": Circle(4),
        "s": Simplex(4),
        "t": scqm.manifolds.Euclidean(2),
    }
    x0: dict[str, Any] = {k: m.random_point(1) for k, m in blocks.items()}

    def f(x: dict[str, Array]) -> float:
        s = x["s"]
        return cost(x["u"]) + float(np.sum(s * np.log(s / p))) + float(x["t"] @ x["t"])

    def g(x: dict[str, Array]) -> dict[str, Array]:
        return {"u": gradient(x["u"]), "s": np.log(x["s"] / p) + 1, "t": 2 * x["t"]}

    assert scqm.optimize.check_gradient(f, x0, manifold=blocks, gradient=g)
    r = scqm.optimize.minimize(f, x0, manifold=blocks, gradient=g, solver=solver)
    assert r.success
    np.testing.assert_allclose(r.x["s"], p, atol=1e-5)
    assert r.fun == pytest.approx(-7, abs=1e-6)
    # The gradient that is solved for is that in closed form.
    x = Simplex(4).random_point(2)
    np.testing.assert_allclose(
        Simplex(4).riemannian_gradient(x, p), FastSimplex(4).riemannian_gradient(x, p), atol=1e-12
    )  # fmt: skip


@pytest.mark.parametrize("own", [CurvedCircle(4), CurvedSimplex(4)], ids=lambda m: type(m).__name__)  # fmt: skip
def test_hessians_are_converted(own: Any) -> None:
    # Trust regions then evaluate no gradients for their products.
    x0 = own.random_point(2)
    given = {"x0": x0, "solver": "trust_region", "hessian": lambda x, v: -2 * (A @ v)}
    r = eigenvector(manifold=own, **given)
    base: Any = type(own).__bases__[0]
    differences = eigenvector(manifold=base(4), **given)
    assert r.success
    assert r.fun == pytest.approx(differences.fun)
    assert r.nhev > 0
    assert differences.nhev == 0
    assert r.nfev < differences.nfev


def test_steps_that_fail_are_shortened() -> None:
    T = np.diag([1e-3, 1.0, 10.0])
    r = scqm.optimize.minimize(
        lambda X: float(np.trace(np.linalg.solve(X, T)) + np.linalg.slogdet(X)[1]),
        np.eye(3),
        manifold=Positive(3),
        gradient=lambda X: np.linalg.inv(X) - np.linalg.solve(X, np.linalg.solve(X, T).T),
    )  # fmt: skip
    np.testing.assert_allclose(r.x, T, atol=1e-4)
    assert np.linalg.eigvalsh(r.x).min() > 0


class Mine(Exception):
    """An exception of the user's."""


def raises(*_: Any) -> Any:
    raise Mine("mine")


@pytest.mark.parametrize("name", ["projection", "retraction", "transport", "violation", "nearest_point"])  # fmt: skip
def test_exceptions_of_manifolds_come_out(name: str) -> None:
    m = changed(GeodesicCircle, **{name: raises})(4)
    with pytest.raises(Mine):
        scqm.manifolds.check(m)
    if name == "nearest_point":  # asked for where a point has drifted
        m.violation = lambda x: 1e-9
    if name == "transport":
        m = changed(FastSimplex, transport=raises)(4)
    with pytest.raises(Mine, match="mine"):
        eigenvector(manifold=m, x0=m.random_point(0))
    assert eigenvector().success


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"projection": lambda m, x, v: v[:2]}, r"Changed\.projection has shape \(2,\); want \(4,\)"),
        ({"retraction": lambda m, x, v: None}, r"Changed\.retraction has dtype object"),
        ({"retraction": lambda m, x, v: scqm.manifolds.Sphere(3).retraction(x, v)}, r"x has shape \(4,\)"),
        ({"violation": lambda m, x: "far"}, r"Changed\.violation returned 'far'"),
        ({"violation": lambda m, x: 1.0}, r"off the manifold \(Changed\) by 1; "),
        ({"__init__": lambda m, n: m.__dict__.update(shape=n, dim=n)}, r"Changed\.shape is 4"),
        ({"__init__": lambda m, n: m.__dict__.update(shape=(n,), dim="3")}, r"Changed\.dim is '3'"),
        ({"inner": lambda m, x, u, v: u}, r"Changed\.inner returned an array"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_wrong_with_a_manifold_is_named(methods: Any, message: str) -> None:
    with pytest.raises(scqm.exceptions.InputError, match=message):
        eigenvector(manifold=changed(Circle, **methods)(4))


def test_manifolds_that_lack_something() -> None:
    m = Circle(3)
    x, y = np.eye(3)[:2]
    for operation in (lambda: m.exp(x, y), lambda: m.log(x, y), lambda: m.dist(x, y)):
        with pytest.raises(
            scqm.exceptions.InputError, match=r"Circle has no (exp|log); write"
        ):
            operation()
    abstract: Any = Manifold
    with pytest.raises(TypeError, match="abstract"):
        abstract()
    assert GeodesicCircle(3).norm(x, GeodesicCircle(3).log(x, y)) == pytest.approx(np.pi / 2)  # fmt: skip
    with pytest.raises(scqm.exceptions.NonFiniteError):
        eigenvector(manifold=changed(Circle, projection=lambda m, x, v: v * np.nan)(4))


class BarzilaiBorwein(Solver):
    """Gradient descent with the steps of Barzilai and Borwein, over ten costs."""

    def minimize(self, problem: Problem, x0: Point) -> Iterator[Point]:
        x = x0
        cost, g = problem.cost_and_gradient(x)
        recent, step = [cost], 1 / (1 + problem.norm(x, g))
        while step > 1e-14:
            y = problem.retract(x, [-step * part for part in g])
            cost, new = problem.cost_and_gradient(y)
            if not cost <= max(recent[-10:]) + 1e-12 * abs(cost):
                step /= 4
                continue
            s = problem.transport(x, y, [-step * part for part in g])
            old = problem.transport(x, y, g)
            bend = problem.inner(y, s, [b - a for a, b in zip(old, new, strict=True)])
            step = problem.inner(y, s, s) / bend if bend > 0 else 2 * step
            x, g = y, new
            recent.append(cost)
            yield x


def test_a_solver_keeps_the_laws() -> None:
    report = scqm.solvers.check(BarzilaiBorwein())
    assert report, str(report)
    assert report.subject == "solver barzilaiborwein"
    assert len(report.verdicts) > 50


def slowly(x: Array) -> float:
    time.sleep(0.06)
    return cost(x)


class Still(BarzilaiBorwein):
    """Stay where it is."""

    def minimize(self, problem: Problem, x0: Point) -> Any:
        return x0


class Forgetful(BarzilaiBorwein):
    """Depend on what is no part of the problem."""

    def minimize(self, problem: Problem, x0: Point) -> Iterator[Point]:
        self.seed = getattr(self, "seed", 0) + 1
        v = np.random.default_rng(self.seed)
        x = problem.retract(
            x0, problem.project(x0, [0.1 * v.normal(size=p.shape) for p in x0])
        )
        yield from super().minimize(problem, x)


@pytest.mark.parametrize(
    ("solver", "law"),
    [(Still(), "known answer on least squares"), (Forgetful(), "deterministic on frames")],
    ids=lambda v: v if isinstance(v, str) else None,
)  # fmt: skip
def test_laws_that_a_solver_breaks(solver: Solver, law: str) -> None:
    assert law in scqm.solvers.check(solver).broken


BLOCKS: dict[str, Any] = {"u": Circle(4), "R": scqm.manifolds.Rotations(3), "W": scqm.manifolds.FixedRank(3, 3, 1)}  # fmt: skip


def test_a_solver_of_ones_own() -> None:
    seen: list[scqm.optimize.MinimizeResult] = []
    r = eigenvector(solver=BarzilaiBorwein(), callback=seen.append)
    assert (r.status, r.solver) == ("converged", "barzilaiborwein")
    assert r.fun == pytest.approx(-7)
    assert r.grad_norm <= 1e-6
    assert [s.nit for s in seen] == list(range(r.nit + 1))
    assert r.history["cost"].tolist() == [s.fun for s in seen]
    assert np.isfinite(r.history["grad_norm"]).all()
    again = eigenvector(solver=BarzilaiBorwein())
    assert np.array_equal(r.x, again.x)
    assert r.nfev == again.nfev
    # On blocks of all kinds.
    T = {k: m.random_point(7) for k, m in BLOCKS.items()}
    x0 = {k: m.random_point(1) for k, m in BLOCKS.items()}
    W = BLOCKS["W"]

    def f(x: Any) -> float:
        far = [x["u"] - T["u"], x["R"] - T["R"], W.matrix(x["W"]) - W.matrix(T["W"])]
        return float(sum(np.sum(d**2) for d in far))

    def g(x: Any) -> Any:
        G = 2 * (W.matrix(x["W"]) - W.matrix(T["W"]))
        U, _, V = x["W"]
        return {
            "u": 2 * (x["u"] - T["u"]),
            "R": 2 * (x["R"] - T["R"]),
            "W": W.factored_gradient(x["W"], G @ V, G.T @ U),
        }

    shapes: list[Any] = []

    class Looks(BarzilaiBorwein):
        def minimize(self, problem: Problem, x0: Point) -> Iterator[Point]:
            shapes.extend((b.name, b.shape) for b in problem.blocks)
            yield from super().minimize(problem, x0)

    r = scqm.optimize.minimize(f, x0, manifold=BLOCKS, gradient=g, solver=Looks())
    assert shapes == [("u", (4,)), ("R", (3, 3)), ("W", (7,))]
    assert r.success
    assert r.fun < 1e-10


@pytest.mark.parametrize("kind", ["generator", "function"])
def test_limits_of_a_solver_of_ones_own(kind: str) -> None:
    solver: Solver = BarzilaiBorwein()
    if kind == "function":

        class Whole(Solver):
            def minimize(self, problem: Problem, x0: Point) -> Any:
                return [*BarzilaiBorwein().minimize(problem, x0)][-1]

        solver = Whole()
    slow = eigenvector(solver=solver, time_limit=0.2, cost=slowly)
    assert slow.status == "time_limit"
    assert slow.seconds < 2
    assert slow.fun <= cost(Circle(4).random_point(0))
    if kind == "generator":
        r = eigenvector(solver=solver, max_iter=3)
        assert (r.status, r.nit) == ("max_iter", 3)
        r = eigenvector(solver=solver, callback=lambda r: np.bool_(r.nit >= 2))
        assert (r.status, r.nit) == ("cancelled", 2)
    else:
        r = eigenvector(solver=solver)
        assert (r.status, r.nit) == ("converged", 1)
        assert eigenvector(solver=Still()).status == "stalled"


@pytest.mark.parametrize(
    ("stop", "status"),
    [
        (True, "cancelled"),
        (np.True_, "cancelled"),
        (np.False_, "converged"),
        (1, "converged"),
        ("yes", "converged"),
        (np.ones(2, bool), "converged"),
    ],
    ids=repr,
)
def test_what_a_callback_returns(stop: Any, status: str) -> None:
    assert eigenvector(callback=lambda _: stop).status == status


@pytest.mark.parametrize("which", ["solver", "cost", "gradient", "callback"])
@pytest.mark.parametrize("kind", [Mine, KeyboardInterrupt, StopIteration])
def test_exceptions_in_a_run_of_ones_own_solver(which: str, kind: Any) -> None:
    calls = [0]

    def fails(usual: Callable[..., Any]) -> Callable[..., Any]:
        def f(x: Any) -> Any:
            calls[0] += 1
            if calls[0] == 4:
                raise kind("mine")
            return usual(x)

        return f

    class Failing(BarzilaiBorwein):
        def minimize(self, problem: Problem, x0: Point) -> Iterator[Point]:
            for x in super().minimize(problem, x0):
                if which == "solver":
                    fails(lambda x: x)(x)
                yield x

    usual = {"cost": cost, "gradient": gradient, "callback": lambda r: None}
    given: dict[str, Any] = {"solver": Failing()}
    if which != "solver":
        given[which] = fails(usual[which])
    if which == "callback" and kind is StopIteration:
        assert eigenvector(**given).status == "cancelled"
    elif which == "solver" and kind is StopIteration:
        with pytest.raises(RuntimeError, match="StopIteration"):
            eigenvector(**given)
    else:
        with pytest.raises((kind, RuntimeError), match=r"mine|StopIteration"):
            eigenvector(**given)
    assert eigenvector(solver=BarzilaiBorwein()).success


def test_a_solver_cannot_hide_an_exception() -> None:
    class Swallows(Solver):
        def minimize(self, problem: Problem, x0: Point) -> Point:
            for _ in range(3):
                try:
                    problem.cost(x0)
                except Mine:
                    continue
            return x0

    calls = [0]

    def once(x: Array) -> float:
        calls[0] += 1
        return raises() if calls[0] == 3 else cost(x)

    with pytest.raises(Mine):
        eigenvector(solver=Swallows(), cost=once)
    assert calls[0] == 3, "nothing is called after an exception"


def test_points_of_a_solver_that_are_none() -> None:
    def returns(point: Any) -> Solver:
        class Returns(Solver):
            def minimize(self, problem: Problem, x0: Point) -> Any:
                return point(x0)

        return Returns()

    with pytest.raises(scqm.exceptions.InputError, match="off the manifold"):
        eigenvector(solver=returns(lambda x: [2 * x[0]]))
    with pytest.raises(scqm.exceptions.InputError, match=r"NaN|off the manifold"):
        eigenvector(solver=returns(lambda x: [np.nan * x[0]]))
    with pytest.raises(
        scqm.exceptions.InputError, match="point has 2 blocks, the problem 1"
    ):
        eigenvector(solver=returns(lambda x: [x[0], x[0]]))
    with pytest.raises(
        scqm.exceptions.InputError, match=r"block x has shape \(3,\); want \(4,\)"
    ):
        eigenvector(solver=returns(lambda x: [x[0][:3]]))
    assert eigenvector(solver=returns(lambda x: None)).status == "stalled"


def test_a_problem_ends_with_its_run() -> None:
    kept: list[Problem] = []

    class Keeps(Solver):
        def minimize(self, problem: Problem, x0: Point) -> None:
            kept.append(problem)

    x0 = Circle(4).random_point(0)
    eigenvector(solver=Keeps(), x0=x0)
    with pytest.raises(scqm.exceptions.ScqmError, match="no such job"):
        kept[0].cost([x0])


def test_the_same_solver_fits_a_sheet() -> None:
    t = np.linspace(-1, 1, 40)
    X = np.column_stack([t, t**2])
    own = scqm.SCQM(1, loss="squared_l2", solver=BarzilaiBorwein(), max_iter=300).fit(X)
    usual = scqm.SCQM(1, loss="squared_l2").fit(X)
    assert 1 < own.n_iter_ <= 300
    assert own.objective_ == pytest.approx(usual.objective_, rel=1e-3)
