"""Problems on manifolds whose functions are written in Python.

What is computed, and what comes of functions that raise, return nonsense, keep what
they are given, call the library themselves, fork, or take too long.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import scqm
from scqm.manifolds import (
    SPD,
    Euclidean,
    FixedRank,
    Grassmann,
    Hyperbolic,
    Oblique,
    Rotations,
    Sphere,
    Stiefel,
)

Array = npt.NDArray[np.float64]
SOLVERS = ["auto", "rgd", "cg", "lbfgs", "trust_region"]

A = np.diag([1.0, 2.0, 5.0, 7.0])
SPHERE = Sphere(4)
START = SPHERE.random_point(0)


def cost(x: Array) -> float:
    return float(-(x @ A @ x))


def gradient(x: Array) -> Array:
    return -2 * (A @ x)


def hessian(x: Array, v: Array) -> Array:
    return -2 * (A @ v)


def eigenvector(**changed: Any) -> scqm.optimize.MinimizeResult:
    """Minimise the Rayleigh quotient, with something changed."""
    given: dict[str, Any] = {"cost": cost, "x0": START, "manifold": SPHERE}
    return scqm.optimize.minimize(**(given | {"gradient": gradient} | changed))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("second", [None, hessian])
def test_an_eigenvector(solver: str, second: Any) -> None:
    calls = [0, 0, 0]

    def counted(k: int, f: Callable[..., Any]) -> Callable[..., Any]:
        def count(*x: Any) -> Any:
            calls[k] += 1
            return f(*x)

        return count

    r = eigenvector(
        cost=counted(0, cost),
        gradient=counted(1, gradient),
        hessian=None if second is None else counted(2, second),
        solver=solver,
    )
    assert (r.status, r.success) == ("converged", True)
    assert r.fun == pytest.approx(-7)
    assert abs(r.x[3]) == pytest.approx(1)
    assert r.grad_norm <= 1e-6
    g = SPHERE.riemannian_gradient(r.x, gradient(r.x))
    assert r.grad_norm == pytest.approx(np.linalg.norm(g), rel=1e-6, abs=1e-12)
    assert (r.nfev, r.ngev, r.nhev) == tuple(calls)
    takes = solver in ("auto", "lbfgs", "trust_region")
    assert (r.nhev > 0) == (second is not None and takes)
    assert r.nit > 0


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_history_is_what_a_callback_sees(solver: str) -> None:
    seen: list[scqm.optimize.MinimizeResult] = []
    r = eigenvector(solver=solver, hessian=hessian, callback=seen.append)
    assert list(r.history) == ["iteration", "cost", "grad_norm", "seconds"]
    assert r.history["iteration"].tolist() == list(range(r.nit + 1))
    assert r.history["cost"].tolist() == [s.fun for s in seen]
    norms = [s.grad_norm for s in seen]
    np.testing.assert_array_equal(r.history["grad_norm"], norms)
    assert np.isfinite(norms).all()
    assert norms[-1] <= 1e-6
    assert (np.diff(r.history["seconds"]) >= 0).all()
    assert all(s.history == {} for s in seen)


def quadratic(T: Any) -> tuple[Callable[..., Any], ...]:
    """Return |x - T|^2, its gradient and its Hessian for points of any form."""

    def mapped(f: Callable[..., Any], *points: Any) -> Any:
        if isinstance(points[0], dict):
            return {k: mapped(f, *(p[k] for p in points)) for k in points[0]}
        if isinstance(points[0], tuple):
            return tuple(mapped(f, *p) for p in zip(*points, strict=True))
        return f(*points)

    def total(x: Any) -> float:
        if isinstance(x, dict):
            return sum(map(total, x.values()))
        if isinstance(x, tuple):
            return sum(map(total, x))
        return float(np.sum(x**2))

    return (
        lambda x: total(mapped(lambda a, b: a - b, x, T)),
        lambda x: mapped(lambda a, b: 2 * (a - b), x, T),
        lambda x, v: mapped(lambda a: 2 * a, v),
    )


@pytest.mark.parametrize(
    "m",
    [
        Euclidean(3),
        Euclidean(2, 2),
        Oblique(3, 2),
        Stiefel(4, 2),
        SPD(2),
        Rotations(3, copies=2),
        Hyperbolic(2),
    ],
    ids=repr,
)
def test_the_nearest_point(m: Any) -> None:
    T = m.random_point(7)
    f, g, h = quadratic(T)
    x0 = m.retraction(T, 0.3 * m.projection(T, np.ones(m.shape)))
    assert scqm.optimize.check_gradient(f, x0, manifold=m, gradient=g, hessian=h)
    for solver in ("lbfgs", "trust_region"):
        r = scqm.optimize.minimize(
            f, x0, manifold=m, gradient=g, hessian=h, solver=solver
        )
        assert r.success
        assert r.x.shape == m.shape
        np.testing.assert_allclose(r.x, T, atol=1e-5)


def test_subspaces() -> None:
    m = Grassmann(5, 2)
    B = np.diag([9.0, 5.0, 3.0, 2.0, 1.0])
    r = scqm.optimize.minimize(
        lambda X: -np.trace(X.T @ B @ X),
        m.random_point(1),
        manifold=m,
        gradient=lambda X: -2 * (B @ X),
        hessian=lambda X, V: -2 * (B @ V),
        tol=1e-9,
    )
    assert r.success
    assert r.fun == pytest.approx(-14)
    assert m.dist(r.x, np.eye(5)[:, :2]) < 1e-8


def test_completion_of_a_matrix() -> None:
    m = FixedRank(8, 6, 2)
    rng = np.random.default_rng(5)
    W = rng.normal(size=(8, 2)) @ rng.normal(size=(2, 6))
    seen = rng.random((8, 6)) < 0.8

    def residual(x: Any) -> Array:
        found: Array = np.where(seen, m.matrix(x) - W, 0)
        return found

    def f(x: Any) -> float:
        return float(np.sum(residual(x) ** 2))

    def g(x: Any) -> Any:
        G = 2 * residual(x)
        return m.factored_gradient(x, G @ x[2], G.T @ x[0])

    x0 = m.truncation(np.where(seen, W, 0))
    assert scqm.optimize.check_gradient(f, x0, manifold=m, gradient=g)
    r = scqm.optimize.minimize(f, x0, manifold=m, gradient=g, tol=1e-9)
    assert r.success
    assert [part.shape for part in r.x] == [(8, 2), (2, 2), (6, 2)]
    np.testing.assert_allclose(m.matrix(r.x), W, atol=1e-6)


POSE = {"R": Rotations(3), "t": Euclidean(3)}


def test_blocks_by_name() -> None:
    T = {name: m.random_point(9) for name, m in POSE.items()}
    f, g, h = quadratic(T)
    # The order of the names in points does not matter.
    x0 = {"t": np.zeros(3), "R": POSE["R"].random_point(1)}
    assert scqm.optimize.check_gradient(f, x0, manifold=POSE, gradient=g, hessian=h)
    r = scqm.optimize.minimize(f, x0, manifold=POSE, gradient=g, hessian=h)
    assert r.success
    assert list(r.x) == ["R", "t"]
    np.testing.assert_allclose(r.x["R"], T["R"], atol=1e-5)
    np.testing.assert_allclose(r.x["t"], T["t"], atol=1e-5)
    assert r.grad_norm <= 1e-6
    norm = math.hypot(
        *(POSE[k].norm(r.x[k], POSE[k].riemannian_gradient(r.x[k], g(r.x)[k])) for k in POSE)
    )  # fmt: skip
    assert r.grad_norm == pytest.approx(norm, abs=1e-12)


def test_wrong_derivatives_are_found() -> None:
    report = scqm.optimize.check_gradient(
        cost, START, manifold=SPHERE, gradient=lambda x: A @ x
    )
    assert not report
    assert report.broken == ("gradient slope of x",)
    assert "BROKEN  gradient slope of x" in str(report)
    wrong = scqm.optimize.check_gradient(
        cost, START, manifold=SPHERE, gradient=gradient, hessian=lambda x, v: A @ v
    )
    assert wrong.broken == ("hessian slope",)
    T = {name: m.random_point(9) for name, m in POSE.items()}
    f, g, _ = quadratic(T)
    x = {name: m.random_point(1) for name, m in POSE.items()}
    half = scqm.optimize.check_gradient(
        f, x, manifold=POSE, gradient=lambda x: g(x) | {"t": x["t"]}
    )
    assert half.broken == ("gradient slope of t",)


def test_limits() -> None:
    r = eigenvector(max_iter=2, solver="rgd")
    assert (r.status, r.success, r.nit) == ("max_iter", False, 2)
    assert r.fun < cost(START)
    r = eigenvector(time_limit=1e-9)
    assert r.status == "time_limit"
    np.testing.assert_allclose(r.x, START)
    assert eigenvector(tol=0.0).status in ("stalled", "converged")
    loose = eigenvector(tol=1e9)
    assert (loose.nit, loose.success) == (0, True) or loose.nit == 1


@pytest.mark.parametrize("how", ["return", "raise"])
def test_a_callback_stops_the_run(how: str) -> None:
    seen: list[scqm.optimize.MinimizeResult] = []

    def stop(so_far: scqm.optimize.MinimizeResult) -> bool:
        seen.append(so_far)
        if so_far.nit == 3 and how == "raise":
            raise StopIteration
        return so_far.nit == 3

    r = eigenvector(callback=stop, solver="lbfgs")
    assert [s.nit for s in seen] == [0, 1, 2, 3]
    assert (r.status, r.success, r.nit) == ("cancelled", False, 3)
    assert "callback" in r.message
    assert all(s.status == "running" and not s.success for s in seen)
    assert [s.fun for s in seen] == sorted((s.fun for s in seen), reverse=True)
    for s in seen:
        assert s.fun == pytest.approx(cost(s.x))
    for s in seen[1:]:
        g = SPHERE.riemannian_gradient(s.x, gradient(s.x))
        assert s.grad_norm == pytest.approx(np.linalg.norm(g))
    assert r.fun == seen[-1].fun
    assert np.array_equal(r.x, seen[-1].x)
    g = SPHERE.riemannian_gradient(r.x, gradient(r.x))
    assert r.grad_norm == pytest.approx(np.linalg.norm(g))


def test_a_callback_that_watches_changes_nothing() -> None:
    quiet, watched = eigenvector(), eigenvector(callback=lambda r: None)
    assert np.array_equal(quiet.x, watched.x)
    assert (quiet.nit, quiet.nfev, quiet.fun) == (
        watched.nit,
        watched.nfev,
        watched.fun,
    )


class Mine(Exception):
    """An exception of the user's."""


@pytest.mark.parametrize("which", ["cost", "gradient", "hessian", "callback"])
@pytest.mark.parametrize("kind", [Mine, KeyboardInterrupt, SystemExit, MemoryError])
@pytest.mark.parametrize("call", [1, 3])
def test_exceptions_come_out(which: str, kind: type[BaseException], call: int) -> None:
    calls = [0]
    usual = {"cost": cost, "gradient": gradient, "hessian": hessian}

    def fails_in_a_function_of_mine(*x: Any) -> Any:
        calls[0] += 1
        if calls[0] == call:
            raise kind("mine")
        return usual[which](*x) if which in usual else None  # type: ignore[operator]  # of three kinds

    changed = {"hessian": hessian, which: fails_in_a_function_of_mine}
    with pytest.raises(kind, match="mine") as caught:
        eigenvector(solver="trust_region", **changed)
    assert calls[0] == call, "nothing is called after an exception"
    assert "fails_in_a_function_of_mine" in {
        frame.name for frame in traceback.extract_tb(caught.value.__traceback__)
    }
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert eigenvector().success


WRONG: list[tuple[str, Any, str]] = [
    ("cost", lambda x: np.ones(2), r"cost returned an array of shape \(2,\)"),
    ("cost", lambda x: None, "cost returned None"),
    ("cost", lambda x: "low", "cost returned 'low'"),
    ("cost", lambda x: 1j, "cost returned 1j"),
    ("gradient", lambda x: x[:2], r"gradient has shape \(2,\); want \(4,\)"),
    ("gradient", lambda x: None, "gradient has dtype object"),
    ("gradient", lambda x: 1j * x, "gradient has dtype complex"),
    ("gradient", lambda x: {"x": x}, "gradient has dtype object"),
    ("hessian", lambda x, v: v[None], r"hessian has shape \(1, 4\)"),
    ("gradient", None, "gradient is None; want a function of a point, 'jax'"),
    ("gradient", "numpy", "gradient is 'numpy'"),
    ("hessian", 3, "hessian is 3; want a function of a point and a vector"),
    ("cost", 3, "cost is 3"),
    ("callback", 3, "callback is 3"),
    ("x0", None, r"x0 is None; give a point .* manifold.random_point\(\)"),
    ("x0", np.ones(3), r"x0 has shape \(3,\); want \(4,\)"),
    ("x0", np.ones(4), r"block x of the start is off the manifold \(sphere 4\) by 3"),
    ("x0", np.full(4, np.nan), "block x of the start has NaN"),
    ("manifold", "sphere", "manifold is 'sphere'"),
    ("manifold", {}, "manifold is {}"),
    ("manifold", {"a": 3}, "block a is 3"),
    ("manifold", {1: Sphere(4)}, "block name 1"),
    ("solver", "bfgs", 'no solver "bfgs"; there are'),
    ("solver", None, "solver is None"),
    ("solver", "newton", "use cg, lbfgs, rgd or trust_region"),
    ("tol", -1, "tol is -1"),
    ("tol", math.nan, "tol is nan"),
    ("max_iter", 0, "max_iter is 0"),
    ("time_limit", 0, "time_limit is 0"),
]


@pytest.mark.parametrize(("what", "value", "message"), WRONG)
def test_what_is_wrong_is_named(what: str, value: Any, message: str) -> None:
    changed = {"solver": "trust_region", what: value}
    with pytest.raises(scqm.exceptions.InputError, match=message):
        eigenvector(**changed)


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (lambda x: {"R": x["R"], "t": np.ones(2)}, r"block t of gradient has shape"),
        (lambda x: {"R": x["R"]}, "gradient has the blocks R; want R, t"),
        (lambda x: [x["R"], x["t"]], "gradient is a list; want a dict with the blocks"),
    ],
)
def test_the_wrong_block_is_named(gradient: Any, message: str) -> None:
    T = {name: m.random_point(9) for name, m in POSE.items()}
    x0 = {name: m.random_point(1) for name, m in POSE.items()}
    with pytest.raises(scqm.exceptions.InputError, match=message):
        scqm.optimize.minimize(quadratic(T)[0], x0, manifold=POSE, gradient=gradient)
    with pytest.raises(
        scqm.exceptions.InputError, match=r"block R of x0 has shape \(2, 2\)"
    ):
        scqm.optimize.minimize(
            quadratic(T)[0],
            x0 | {"R": np.eye(2)},
            manifold=POSE,
            gradient=quadratic(T)[1],
        )


def test_numbers_that_are_none() -> None:
    with pytest.raises(scqm.exceptions.NonFiniteError, match="at the start"):
        eigenvector(cost=lambda x: math.nan)
    with pytest.raises(scqm.exceptions.NonFiniteError, match="gradient of block x"):
        eigenvector(gradient=lambda x: math.nan * x)
    with pytest.raises(scqm.exceptions.NonFiniteError, match="block x"):
        eigenvector(hessian=lambda x, v: math.inf * v, solver="trust_region")
    # A cost may be undefined somewhere: steps there are shortened.
    seen: list[float] = []

    def barrier(x: Array) -> float:
        seen.append(-math.log(1 - x[0] / 10) - x[0] if x[0] < 10 else math.nan)
        return seen[-1]

    r = scqm.optimize.minimize(
        barrier,
        [9.999],
        manifold=Euclidean(1),
        gradient=lambda x: 1 / (10 - x) - 1,
        solver="rgd",
    )
    assert r.success
    assert r.x[0] == pytest.approx(9)


def test_points_are_copies() -> None:
    kept: list[Array] = []

    def spoil(f: Callable[..., Any]) -> Callable[..., Any]:
        def changes(*x: Array) -> Any:
            value = f(*x)
            kept.extend(x)
            for part in x:
                part[:] = np.nan
            return value

        return changes

    usual = eigenvector(hessian=hessian, solver="trust_region")
    spoilt = eigenvector(
        cost=spoil(cost),
        gradient=spoil(gradient),
        hessian=spoil(hessian),
        solver="trust_region",
        callback=lambda r: r.x.fill(np.nan),
    )
    assert np.array_equal(usual.x, spoilt.x)
    assert len({id(x.base if x.base is not None else x) for x in kept}) == len(kept)
    before = START.copy()
    assert np.array_equal(before, START)


def test_inputs_of_other_types() -> None:
    r = eigenvector(
        cost=lambda x: np.float32(cost(x)) if False else np.array(cost(x)),
        gradient=lambda x: gradient(x).tolist(),
        x0=START.tolist(),
    )
    assert np.array_equal(r.x, eigenvector().x)
    x0 = np.asfortranarray(Stiefel(4, 2).random_point(0))
    m = Stiefel(4, 2)
    f, g, _ = quadratic(m.random_point(1))
    a = scqm.optimize.minimize(f, x0, manifold=m, gradient=g)
    b = scqm.optimize.minimize(
        f, x0.copy("C"), manifold=m, gradient=lambda X: np.asfortranarray(g(X))
    )
    assert np.array_equal(a.x, b.x)


def test_nested_calls() -> None:
    inner: list[bool] = []

    def outer(x: Array) -> float:
        if len(inner) < 3:
            inner.append(eigenvector().success)
        return cost(x)

    usual = eigenvector()
    assert np.array_equal(eigenvector(cost=outer).x, usual.x)
    assert inner == [True] * 3
    # An exception within goes through both, and a fit within is a fit.
    with pytest.raises(Mine):
        eigenvector(cost=lambda x: eigenvector(cost=failing).fun)
    X = np.random.default_rng(0).normal(size=(20, 3))
    fit: list[float] = []

    def watch(_: scqm.optimize.MinimizeResult) -> None:
        fit.append(scqm.SCQM(1, loss="squared_l2", max_iter=5).fit(X).objective_)

    eigenvector(callback=watch, max_iter=2)
    assert len(set(fit)) == 1


def failing(x: Array) -> float:
    raise Mine("deep")


def test_endless_recursion() -> None:
    def recurse(x: Array) -> float:
        return eigenvector(cost=recurse).fun

    with pytest.raises(RecursionError):
        recurse(START)
    assert eigenvector().success


def test_threads() -> None:
    """Runs of several threads do not disturb each other."""
    usual = eigenvector()
    found: list[Array] = []
    errors: list[str] = []

    def work(k: int) -> None:
        try:
            for _ in range(5):
                found.append(eigenvector().x)
            eigenvector(cost=failing)
        except Mine as error:
            errors.append(str(error))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 20
    assert errors == ["deep"] * 4
    assert all(np.array_equal(x, usual.x) for x in found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize(("ends", "status"), [(True, 7), (False, 1)])
def test_forks(ends: bool, status: int, capfd: pytest.CaptureFixture[str]) -> None:
    """A child cannot go on with the run and says so; that of its parent goes on."""
    children: list[int] = []

    def forks(x: Array) -> float:
        if not children:
            children.append(os.fork())
            if ends and children[0] == 0:
                try:
                    eigenvector()
                except scqm.exceptions.ForkError:
                    os._exit(7)
        return cost(x)

    r = eigenvector(cost=forks)
    assert r.success
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == status
    assert ("has forked this process" in capfd.readouterr().err) == (not ends)


INTERRUPTED = """
import os, signal, threading, time
import numpy as np, scqm
m = scqm.manifolds.Sphere(50)
def cost(x):
    if {moment} == "in":
        os.kill(os.getpid(), signal.SIGINT)
    return float(-x[0])
def gradient(x):
    return -np.eye(50)[0]
def later():
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)
if {moment} != "in":
    threading.Thread(target=later).start()
try:
    while True:
        scqm.optimize.minimize(cost, m.random_point(0), manifold=m, gradient=gradient)
except KeyboardInterrupt:
    print("interrupted")
r = scqm.optimize.minimize(lambda x: float(x[0]), m.random_point(0), manifold=m, gradient=lambda x: -gradient(x))
print(r.status)
"""


@pytest.mark.parametrize("moment", ["in", "between"])
def test_ctrl_c(moment: str) -> None:
    """Ctrl-C at any moment ends a run, and the next one works."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(moment=repr(moment))],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.split() == ["interrupted", "converged"], done.stderr
    assert done.stderr == ""
    assert signal.SIGINT


def pose_problem() -> scqm.optimize.ManifoldProblem:
    rng = np.random.default_rng(3)
    P, B = rng.normal(size=(8, 3)), rng.normal(size=(8, 3))
    W = np.diag([1.0, 2.0, 3.0])

    def residual(x: dict[str, Array]) -> Array:
        found: Array = (P @ x["R"].T + x["t"] - B) @ W
        return found

    return scqm.optimize.ManifoldProblem(
        cost=lambda x: float(np.sum(residual(x) ** 2) / 2),
        manifold=POSE,
        gradient=lambda x: {
            "R": (residual(x) @ W).T @ P,
            "t": (residual(x) @ W).sum(axis=0),
        },
        hessian=lambda x, v: {
            "R": ((P @ v["R"].T + v["t"]) @ W @ W).T @ P,
            "t": ((P @ v["R"].T + v["t"]) @ W @ W).sum(axis=0),
        },
    )


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_automatic_derivatives(library: Any) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    if library == "jax":
        import jax
        import jax.numpy as jnp

        x0 = {name: m.random_point(1) for name, m in POSE.items()}
        with pytest.raises(scqm.exceptions.InputError, match="jax_enable_x64"):
            scqm.optimize.minimize(lambda x: 0.0, x0, manifold=POSE, gradient="jax")
        jax.config.update("jax_enable_x64", True)
        total, array = jnp.sum, jnp.asarray
    else:
        import torch

        total, array = torch.sum, torch.from_numpy
    rng = np.random.default_rng(3)
    P, B = array(rng.normal(size=(8, 3))), array(rng.normal(size=(8, 3)))
    W = array(np.diag([1.0, 2.0, 3.0]))

    def automatic(x: Any) -> Any:
        return total(((P @ x["R"].T + x["t"] - B) @ W) ** 2) / 2

    by_hand = pose_problem()
    x0 = {name: m.random_point(1) for name, m in POSE.items()}
    problem = scqm.optimize.ManifoldProblem(automatic, POSE, library)
    assert problem.check_gradient(x0)
    r = problem.minimize(x0, tol=1e-9, solver="trust_region")
    assert r.success
    assert r.nhev > 0
    want = by_hand.minimize(x0, tol=1e-9, solver="trust_region")
    np.testing.assert_allclose(r.x["R"], want.x["R"], atol=1e-8)
    assert isinstance(r.x["t"], np.ndarray)
    assert (r.nit, r.nhev) == (want.nit, want.nhev)
    # A block that the cost does not depend on, and a linear one.
    r = scqm.optimize.minimize(
        lambda x: total(x["R"] * W),
        x0,
        manifold=POSE,
        gradient=library,
        solver="trust_region",
    )
    assert r.success
    np.testing.assert_array_equal(r.x["t"], x0["t"])
    m = FixedRank(5, 4, 2)
    T = array(rng.normal(size=(5, 4)))
    y = m.random_point(0)
    assert scqm.optimize.check_gradient(
        lambda x: total((x[0] @ x[1] @ x[2].T - T) ** 2),
        y,
        manifold=m,
        gradient=library,
    )

    def failing_cost(x: Any) -> Any:
        raise Mine("mine")

    with pytest.raises(Mine):
        scqm.optimize.minimize(failing_cost, x0, manifold=POSE, gradient=library)


def test_libraries_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("jax", "torch"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("jax", "torch"):
        with pytest.raises(
            scqm.exceptions.InputError, match=f"{name} is not installed"
        ):
            eigenvector(gradient=name)
