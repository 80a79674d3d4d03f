"""Constraints and bounds of minimize, beside SciPy's and on manifolds."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint
from scipy.sparse import csr_array
from test_own import BarzilaiBorwein

import scqm
from scqm.manifolds import Euclidean, FixedRank, Rotations, Sphere, Stiefel

Array: TypeAlias = Any


def eq(fun: Any, jac: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": "eq", "fun": fun, **({"jac": jac} if jac else {}), **more}


ROOT = 3**0.5

#: Problems of Hock and Schittkowski: cost, gradient, start, constraints, bounds, optimum.
HOCK: dict[int, tuple[Any, Any, list[float], Any, Any, float]] = {
    6: (
        lambda x: (1 - x[0]) ** 2,
        lambda x: np.array([2 * x[0] - 2, 0]),
        [-1.2, 1],
        eq(lambda x: 10 * (x[1] - x[0] ** 2), lambda x: [-20 * x[0], 10]),
        None,
        0,
    ),
    7: (
        lambda x: np.log(1 + x[0] ** 2) - x[1],
        lambda x: np.array([2 * x[0] / (1 + x[0] ** 2), -1]),
        [2, 2],
        eq(lambda x: (1 + x[0] ** 2) ** 2 + x[1] ** 2 - 4),
        None,
        -ROOT,
    ),
    21: (
        lambda x: 0.01 * x[0] ** 2 + x[1] ** 2 - 100,
        lambda x: np.array([0.02 * x[0], 2 * x[1]]),
        [2, 0],
        LinearConstraint(csr_array([[10.0, -1.0]]), 10, np.inf),
        [(2, 50), (-50, 50)],
        -99.96,
    ),
    24: (
        lambda x: ((x[0] - 3) ** 2 - 9) * x[1] ** 3 / (27 * ROOT),
        lambda x: np.array([2 * (x[0] - 3) * x[1] ** 3, 3 * ((x[0] - 3) ** 2 - 9) * x[1] ** 2]) / (27 * ROOT),
        [1, 0.5],
        LinearConstraint([[1 / ROOT, -1], [1, ROOT], [-1, -ROOT]], [0, 0, -6], np.inf),
        Bounds(0, np.inf),
        -1,
    ),
    28: (
        lambda x: (x[0] + x[1]) ** 2 + (x[1] + x[2]) ** 2,
        lambda x: 2 * np.array([x[0] + x[1], x[0] + 2 * x[1] + x[2], x[1] + x[2]]),
        [-4, 1, 1],
        LinearConstraint([1, 2, 3], 1, 1),
        None,
        0,
    ),
    35: (
        lambda x: 9 - x @ [8, 6, 4] + 2 * x[0] ** 2 + 2 * x[1] ** 2 + x[2] ** 2 + 2 * x[0] * (x[1] + x[2]),
        lambda x: np.array([4 * x[0] + 2 * x[1] + 2 * x[2] - 8, 4 * x[1] + 2 * x[0] - 6, 2 * x[2] + 2 * x[0] - 4]),
        [0.5, 0.5, 0.5],
        NonlinearConstraint(lambda x: x @ [1, 1, 2], -np.inf, 3),
        [(0, None)] * 3,
        1 / 9,
    ),
    71: (
        lambda x: x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2],
        lambda x: np.array([x[3] * (2 * x[0] + x[1] + x[2]), x[0] * x[3], x[0] * x[3] + 1, x[0] * (x[0] + x[1] + x[2])]),
        [1, 5, 5, 1],
        (
            {"type": "ineq", "fun": lambda x: np.prod(x) - 25},
            eq(lambda x, c: x @ x - c, lambda x, c: 2 * x, args=(40,)),
        ),
        [(1, 5)] * 4,
        17.0140173,
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "solver",
    ["auto", "trust_region", BarzilaiBorwein()],
    ids=["auto", "trust_region", "own"],
)
@pytest.mark.parametrize("number", HOCK)
def test_known_answers(number: int, solver: Any) -> None:
    f, g, x0, constraints, bounds, best = HOCK[number]
    if number == 24 and solver != "auto":
        x0 = [2, 1]  # the axis x[1] = 0, which is nearer, is stationary too
    r = scqm.optimize.minimize(
        f, x0, manifold=Euclidean(len(x0)), gradient=g, solver=solver,
        constraints=constraints, bounds=bounds, tol=1e-6 if isinstance(solver, str) else 1e-5,
    )  # fmt: skip
    assert r.success, r.message
    assert r.violation < 1e-8
    assert r.fun == pytest.approx(best, abs=1e-6)
    theirs = scipy.optimize.minimize(
        f, x0, jac=g, constraints=constraints, bounds=bounds, method="SLSQP", tol=1e-12
    )
    assert r.fun == pytest.approx(theirs.fun, abs=1e-6)
    # Without a constraint that is active the optimum is elsewhere.
    if number in (7, 35, 71):
        free = scqm.optimize.minimize(f, x0, manifold=Euclidean(len(x0)), gradient=g, bounds=bounds, max_iter=200)  # fmt: skip
        assert free.fun < best - 0.1


def test_multipliers_and_what_a_callback_sees() -> None:
    f, g, x0, constraints, bounds, _ = HOCK[71]
    seen: list[scqm.optimize.MinimizeResult] = []
    given = {"manifold": Euclidean(4), "gradient": g, "constraints": constraints, "bounds": bounds}  # fmt: skip
    r = scqm.optimize.minimize(f, x0, callback=seen.append, **given)
    np.testing.assert_allclose(r.multipliers, [-0.5522937, 0.1614686], atol=1e-5)
    assert [s.nit for s in seen] == r.history["iteration"].tolist()
    stopped = scqm.optimize.minimize(f, x0, callback=lambda s: s.nit == 2, **given)
    assert stopped.status == "cancelled"
    assert scqm.optimize.minimize(f, x0, max_iter=2, **given).status == "max_iter"
    assert (
        scqm.optimize.minimize(f, x0, time_limit=1e-9, **given).status == "time_limit"
    )
    plain = scqm.optimize.minimize(f, x0, manifold=Euclidean(4), gradient=g, max_iter=3)
    assert (plain.violation, len(plain.multipliers)) == (0, 0)


def test_on_manifolds() -> None:
    """Nonnegative principal component, and one orthogonal to another."""
    A = np.diag([5.0, 3.0, 1.0]) + 0.5
    A[0, 1] = A[1, 0] = -2
    known = max(
        np.linalg.eigvalsh(A[np.ix_(rows, rows)])[-1]
        for rows in ([0, 1, 2], [0, 2], [1, 2], [0], [1], [2])
        if (np.linalg.eigh(A[np.ix_(rows, rows)])[1][:, -1] * np.linalg.eigh(A[np.ix_(rows, rows)])[1][0, -1] >= 0).all()
    )  # fmt: skip
    r = scqm.optimize.minimize(
        lambda x: float(-(x @ A @ x)), np.ones(3) / ROOT, manifold=Sphere(3),
        gradient=lambda x: -2 * A @ x, bounds=[(0, None)] * 3,
    )  # fmt: skip
    assert r.success
    assert -r.fun == pytest.approx(known, abs=1e-7)
    assert r.x.min() > -1e-8
    u = np.linalg.eigh(A)[1][:, -1]
    r = scqm.optimize.minimize(
        lambda x: float(-(x @ A @ x)), Sphere(3).random_point(1), manifold=Sphere(3),
        gradient=lambda x: -2 * A @ x, constraints=LinearConstraint(u, 0, 0),
    )  # fmt: skip
    assert -r.fun == pytest.approx(np.linalg.eigvalsh(A)[-2])
    X = Stiefel(3, 2)
    r = scqm.optimize.minimize(
        lambda x: float(-np.sum(x * (A @ x))), X.random_point(0), manifold=X,
        gradient=lambda x: -2 * A @ x, constraints=eq(lambda x: u @ x, lambda x: np.einsum("i,jk->kij", u, np.eye(2))),
    )  # fmt: skip
    assert r.success
    assert -r.fun == pytest.approx(np.linalg.eigvalsh(A)[:2].sum())


def test_blocks() -> None:
    """A rigid motion whose translation is bounded, and a point of fixed rank."""
    pose = {"R": Rotations(3), "t": Euclidean(3)}
    T = {name: m.random_point(3) for name, m in pose.items()}
    x0 = {"R": np.eye(3), "t": np.zeros(3)}

    def f(x: Any) -> float:
        return float(np.sum((x["R"] - T["R"]) ** 2) + np.sum((x["t"] - T["t"]) ** 2))

    def g(x: Any) -> Any:
        return {k: 2 * (x[k] - T[k]) for k in x}

    low = abs(T["t"]).max()
    for jac in (None, lambda x: {"R": np.zeros((1, 3, 3)), "t": np.ones((1, 3))}):
        r = scqm.optimize.minimize(
            f, x0, manifold=pose, gradient=g, bounds={"t": [(None, low)] * 3},
            constraints=eq(lambda x: x["t"].sum() - 1, jac),
        )  # fmt: skip
        assert r.success
        np.testing.assert_allclose(r.x["R"], T["R"], atol=1e-5)
        shift = (1 - T["t"].sum()) / 3
        assert r.x["t"].sum() == pytest.approx(1, abs=1e-8)
        if (T["t"] + shift).max() < low:
            np.testing.assert_allclose(r.x["t"], T["t"] + shift, atol=1e-5)
    m = FixedRank(3, 3, 1)
    W = m.matrix(m.random_point(0))

    def slope(x: Any) -> Any:
        G = 2 * (m.matrix(x) - W)
        return m.factored_gradient(x, G @ x[2], G.T @ x[0])

    r = scqm.optimize.minimize(
        lambda x: float(np.sum((m.matrix(x) - W) ** 2)), m.random_point(2), manifold=m,
        gradient=slope, constraints=eq(lambda x: np.trace(m.matrix(x)) - np.trace(W) - 1),
    )  # fmt: skip
    assert r.success
    assert np.trace(m.matrix(r.x)) == pytest.approx(np.trace(W) + 1)


SQUARE: dict[str, Any] = {
    "cost": lambda x: float(x @ x),
    "x0": np.ones(2),
    "manifold": Euclidean(2),
    "gradient": lambda x: 2 * x,
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"constraints": 3}, "constraints is 3; want a dict with type"),
        ({"constraints": [eq(np.sum), {"type": "lt", "fun": np.sum}]}, r"constraints\[1\] is .*want type"),
        ({"constraints": eq(lambda x: 1j)}, r"constraints\.fun has dtype complex"),
        ({"constraints": eq(lambda x: x[:1] if x[0] != 1 else x)}, r"constraints\.fun has 1 entries, not 2"),
        ({"constraints": eq(np.sum, lambda x: np.ones(3))}, "jac has rows of 3; want 2"),
        ({"constraints": eq(lambda x: x - 2, lambda x: np.ones(3))}, "want 2 rows"),
        ({"constraints": LinearConstraint([1, 1], 2, 1)}, "lower bound is above"),
        ({"constraints": LinearConstraint([1, 1], 0, 1, keep_feasible=True)}, "keep_feasible"),
        ({"bounds": [(0, 1)] * 3}, "bounds has 3 bounds; want 2"),
        ({"bounds": [0, 1]}, "want pairs"),
        ({"bounds": [(1, 0)] * 2}, "lower bound is above"),
        ({"bounds": [(np.nan, 0)] * 2}, "or NaN"),
        ({"manifold": {"a": Euclidean(2)}, "x0": {"a": np.ones(2)}, "bounds": [(0, 1)]}, "want a dict by blocks, a"),
    ],
    ids=lambda v: v if isinstance(v, str) else None,
)  # fmt: skip
def test_what_is_wrong_is_named(changed: Any, message: str) -> None:
    with pytest.raises(scqm.exceptions.InputError, match=message):
        scqm.optimize.minimize(**(SQUARE | changed))


@pytest.mark.parametrize("which", ["fun", "jac"])
@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt])
def test_exceptions_come_out(which: str, kind: type[BaseException]) -> None:
    calls = [0]

    def fails(x: Array) -> Any:
        calls[0] += 1
        if calls[0] == 3:
            raise kind("mine")
        return x.sum() - 1 if which == "fun" else np.ones(2)

    usual = {"fun": lambda x: x.sum() - 1, "jac": lambda x: np.ones(2)}
    with pytest.raises(kind, match="mine"):
        scqm.optimize.minimize(
            **SQUARE, constraints={"type": "eq", **usual, which: fails}
        )
    assert calls[0] == 3


def test_what_cannot_be_met() -> None:
    both = [eq(lambda x: x.sum() - 1), eq(lambda x: x.sum() + 1)]
    r = scqm.optimize.minimize(**SQUARE, constraints=both)
    assert not r.success
    assert r.violation == pytest.approx(1, abs=1e-3)
