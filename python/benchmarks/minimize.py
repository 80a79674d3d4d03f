"""Measure what minimize adds to functions in Python, and compare with pymanopt.

The first table runs a cost twice, as functions in Python and as the same in Go, with
equal iterates: the difference, without the time in the functions themselves, is what
their calls cost. The second minimises ten problems in NumPy, with gradients and
Hessian products by hand, and the trust regions of pymanopt do the same: CPU time, least
of some runs, from the same start to a gradient of 1e-6, which is computed anew at the
point returned. Passes are calls of cost, gradient and Hessian together.

    make install-python
    OMP_NUM_THREADS=1 .venv/bin/python python/benchmarks/minimize.py
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import scqm
from scqm import _core, _native
from scqm._domain import Buffer, Domain
from scqm.manifolds import (
    SPD,
    Euclidean,
    Grassmann,
    Oblique,
    Rotations,
    Sphere,
    Stiefel,
)
from scqm.optimize import ManifoldProblem

Array = npt.NDArray[np.float64]
Random = np.random.Generator
TOLERANCE = 1e-6


def eigenvector(rng: Random) -> ManifoldProblem:
    """Find the largest eigenvalue of a symmetric matrix."""
    A = rng.normal(size=(300, 300))
    A = (A + A.T) / 2
    return ManifoldProblem(
        lambda x: -(x @ A @ x),
        Sphere(300),
        lambda x: -2 * (A @ x),
        lambda x, v: -2 * (A @ v),
    )


def subspace(rng: Random) -> ManifoldProblem:
    """Find the three largest eigenvalues together."""
    A = rng.normal(size=(128, 128))
    A = (A + A.T) / 2
    return ManifoldProblem(
        lambda X: -np.sum(X * (A @ X)),
        Grassmann(128, 3),
        lambda X: -2 * (A @ X),
        lambda X, V: -2 * (A @ V),
    )


def singular_values(rng: Random) -> ManifoldProblem:
    """Find singular vectors in order: the trace of U'AV diag(3, 2, 1)."""
    A, N = rng.normal(size=(40, 30)), np.array([3.0, 2.0, 1.0])
    return ManifoldProblem(
        lambda x: -np.sum(x["U"] * (A @ x["V"]) * N),
        {"U": Stiefel(40, 3), "V": Stiefel(30, 3)},
        lambda x: {"U": -(A @ x["V"]) * N, "V": -(A.T @ x["U"]) * N},
        lambda x, v: {
            "U": -(A @ v["V"]) * N,
            "V": -(A.T @ v["U"]) * N,
        },
    )


def brockett(rng: Random) -> ManifoldProblem:
    """Find eigenvectors in order: the trace of X'AX diag(1, ..., 4)."""
    A, N = rng.normal(size=(60, 60)), np.arange(1.0, 5.0)
    A = (A + A.T) / 2
    return ManifoldProblem(
        lambda X: np.sum(X * (A @ X) * N),
        Stiefel(60, 4),
        lambda X: 2 * (A @ X) * N,
        lambda X, V: 2 * (A @ V) * N,
    )


def procrustes(rng: Random) -> ManifoldProblem:
    """Find the frame X of the least |AX - B|, for a matrix of condition 100."""
    A = np.geomspace(1, 100, 50)[:, None] * rng.normal(size=(50, 50)) / 7
    B = A @ np.linalg.qr(rng.normal(size=(50, 5)))[0] + rng.normal(size=(50, 5))
    return ManifoldProblem(
        lambda X: np.sum((A @ X - B) ** 2) / 2,
        Stiefel(50, 5),
        lambda X: A.T @ (A @ X - B),
        lambda X, V: A.T @ (A @ V),
    )


def max_cut(rng: Random) -> ManifoldProblem:
    """Solve the relaxation of the maximal cut of a graph with 100 nodes."""
    A = np.triu(rng.random((100, 100)) < 0.1, 1).astype(float)
    L = np.diag((A + A.T).sum(axis=0)) - A - A.T
    return ManifoldProblem(
        lambda X: -np.sum((X @ L) * X) / 4,
        Oblique(15, 100),
        lambda X: -(X @ L) / 2,
        lambda X, V: -(V @ L) / 2,
    )


def pose(rng: Random) -> ManifoldProblem:
    """Find the rigid motion between two sets of points, in a metric of its own."""
    P, B, W = rng.normal(size=(50, 3)), rng.normal(size=(50, 3)), np.diag([1.0, 4, 9])

    def residual(x: Any) -> Array:
        found: Array = P @ x["R"].T + x["t"] - B
        return found

    return ManifoldProblem(
        lambda x: np.sum(residual(x) @ W * residual(x)) / 2,
        {"R": Rotations(3), "t": Euclidean(3)},
        lambda x: {
            "R": (residual(x) @ W).T @ P,
            "t": (residual(x) @ W).sum(axis=0),
        },
        lambda x, v: {
            "R": ((P @ v["R"].T + v["t"]) @ W).T @ P,
            "t": ((P @ v["R"].T + v["t"]) @ W).sum(axis=0),
        },
    )


def synchronization(rng: Random) -> ManifoldProblem:
    """Find twenty rotations from noisy relative ones."""
    m = Rotations(3, copies=20)
    truth = m.random_point(rng)
    H = np.einsum("iab,jcb->ijac", truth, truth)
    H = H + 0.3 * rng.normal(size=H.shape)
    H = (H + H.transpose(1, 0, 3, 2)) / 2
    flat = H.transpose(0, 2, 1, 3).reshape(60, 60) / 20

    def apply(X: Array) -> Array:
        found: Array = (flat @ X.reshape(60, 3)).reshape(20, 3, 3)
        return found

    return ManifoldProblem(
        lambda X: -np.sum(X * apply(X)) / 2,
        m,
        lambda X: -apply(X),
        lambda X, V: -apply(V),
    )


def joint_diagonalization(rng: Random) -> ManifoldProblem:
    """Find the frame that makes ten matrices as diagonal as one can."""
    Q = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    C = np.array([Q @ np.diag(rng.normal(size=12)) @ Q.T for _ in range(10)])
    C += 0.01 * rng.normal(size=C.shape)
    C = (C + C.transpose(0, 2, 1)) / 2

    def diagonals(X: Array, CX: Array) -> Array:
        found: Array = (X * CX).sum(axis=1)
        return found

    def cost(X: Array) -> float:
        return float(-np.sum(diagonals(X, C @ X) ** 2) / 4)

    def gradient(X: Array) -> Array:
        CX = C @ X
        found: Array = -(CX * diagonals(X, CX)[:, None]).sum(axis=0)
        return found

    def hessian(X: Array, V: Array) -> Array:
        CX, CV = C @ X, C @ V
        d, dv = diagonals(X, CX)[:, None], 2 * diagonals(V, CX)[:, None]
        found: Array = -(CV * d + CX * dv).sum(axis=0)
        return found

    return ManifoldProblem(cost, Stiefel(12, 6), gradient, hessian)


def covariance(rng: Random) -> ManifoldProblem:
    """Find the covariance matrix of largest likelihood."""
    rows = rng.normal(size=(100, 8)) * np.geomspace(0.1, 10, 8)
    C = rows.T @ rows / 100

    def gradient(S: Array) -> Array:
        inverse = np.linalg.inv(S)
        found: Array = inverse - inverse @ C @ inverse
        return found

    def hessian(S: Array, V: Array) -> Array:
        inverse = np.linalg.inv(S)
        W = inverse @ V @ inverse
        found: Array = -W + W @ C @ inverse + inverse @ C @ W
        return found

    return ManifoldProblem(
        lambda S: np.linalg.slogdet(S)[1] + np.sum(np.linalg.inv(S) * C),
        SPD(8),
        gradient,
        hessian,
    )


PROBLEMS = (
    eigenvector, subspace, singular_values, brockett, procrustes, max_cut, pose,
    synchronization, joint_diagonalization, covariance,
)  # fmt: skip


def gradient_norm(problem: ManifoldProblem, x: Any) -> float:
    """Return the norm of the Riemannian gradient at a point."""
    g = problem.gradient(x)  # type: ignore[operator]  # all of PROBLEMS have functions
    blocks = Domain(problem.manifold).blocks
    points, slopes = ({"x": x}, {"x": g}) if len(blocks) == 1 else (x, g)
    parts = [
        m.norm(points[name], m.riemannian_gradient(points[name], slopes[name]))
        for name, m in blocks.items()
    ]
    return float(np.linalg.norm(parts))


def best(runs: int, run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least CPU seconds of some runs, and what the last returned."""
    seconds = []
    for _ in range(runs):
        begin = time.process_time()
        found = run()
        seconds.append(time.process_time() - begin)
    return min(seconds), found


def counted(problem: ManifoldProblem) -> tuple[ManifoldProblem, list[int]]:
    """Return a problem whose functions count their calls."""
    calls = [0]

    def count(f: Any) -> Any:
        def counting(*x: Any) -> Any:
            calls[0] += 1
            return f(*x)

        return counting

    made = ManifoldProblem(
        count(problem.cost),
        problem.manifold,
        count(problem.gradient),
        count(problem.hessian),
    )
    return made, calls


def against_pymanopt(runs: int, solvers: list[str]) -> None:
    """Print the table of problems."""
    try:
        from pymanopt.optimizers import TrustRegions
    except ImportError:
        print("pymanopt is not installed")
        return
    print("\n| problem | solver | CPU ms | passes | gradient | of pymanopt's time |")
    print("| --- | --- | --- | --- | --- | --- |")
    totals = dict.fromkeys(solvers, 0.0)
    total = 0.0
    for make in PROBLEMS:
        problem = make(np.random.default_rng(1))
        blocks = Domain(problem.manifold).blocks
        start = {name: m.random_point(k) for k, (name, m) in enumerate(blocks.items())}
        x0 = start if len(blocks) > 1 else start["x"]
        theirs, calls = counted(problem)
        exported = theirs.to_pymanopt()
        optimizer = TrustRegions(
            min_gradient_norm=TOLERANCE, max_iterations=1000, max_time=60, verbosity=0
        )
        begin = list(start.values()) if len(blocks) > 1 else x0
        took, found = best(runs, partial(optimizer.run, exported, initial_point=begin))
        total += took
        point = found.point
        if len(blocks) > 1:
            point = dict(zip(blocks, point, strict=True))
        norm = gradient_norm(problem, point)
        print(
            f"| {make.__name__} | pymanopt TR | {1e3 * took:.1f} | {calls[0] // runs} "
            f"| {norm:.1e} | 1 |"
        )
        for solver in solvers:
            seconds, r = best(
                runs, partial(problem.minimize, x0, solver=solver, tol=TOLERANCE)
            )
            totals[solver] += seconds
            print(
                f"| | {solver} | {1e3 * seconds:.1f} | {r.nfev + r.ngev + r.nhev} "
                f"| {gradient_norm(problem, r.x):.1e} | {seconds / took:.2f} |"
                + ("" if r.success else f" {r.status}")
            )
    for solver in solvers:
        print(
            f"| all | {solver} | {1e3 * totals[solver]:.1f} of {1e3 * total:.1f} "
            f"| | | {totals[solver] / total:.2f} |"
        )


def overhead(runs: int) -> None:
    """Print what a call adds to the function itself."""
    print("| manifold | solver | calls | microseconds added to a call |")
    print("| --- | --- | --- | --- |")
    for manifold in (
        Euclidean(3),
        Euclidean(1000),
        Stiefel(50, 3),
        {"R": Rotations(3), "t": Euclidean(3)},
        {f"block {k}": Euclidean(2) for k in range(10)},
    ):
        for solver in ("lbfgs", "rgd", "trust_region"):
            added, calls = call_cost(manifold, solver, runs)
            name = repr(manifold) if len(repr(manifold)) < 50 else "10 x Euclidean(2)"
            print(f"| {name} | {solver} | {calls} | {1e6 * added:.2f} |")


def shaped(domain: Domain, flat: Array) -> Any:
    """Return a flat array as a point."""
    buffer = Buffer(domain, "x")
    buffer.flat[:] = flat
    return buffer.read()


def call_cost(manifold: Any, solver: str, runs: int) -> tuple[float, int]:
    """Return the seconds that a call adds, and the number of calls of a run."""
    domain = Domain(manifold)
    rng = np.random.default_rng(0)
    d, aims = rng.uniform(1, 9, size=domain.size), Buffer(domain, "x")
    start = {name: m.random_point(rng) for name, m in domain.blocks.items()}
    aim = {name: m.random_point(rng) for name, m in domain.blocks.items()}
    x0 = start["x"] if domain.single else start
    aims.write(aim["x"] if domain.single else aim)
    a = -d * aims.flat
    spent = [0.0]
    clock = time.perf_counter
    D, C = shaped(domain, d), shaped(domain, a)

    def each(x: Any, f: Callable[..., Any]) -> Any:
        if domain.single:
            return f(x, D, C)
        return {name: f(x[name], D[name], C[name]) for name in x}

    def timed(f: Callable[..., Any]) -> Callable[..., Any]:
        def timing(*x: Any) -> Any:
            begin = clock()
            found = f(*x)
            spent[0] += clock() - begin
            return found

        return timing

    def cost(x: Any) -> float:
        parts = each(x, lambda x, d, c: np.vdot(c, x) + np.vdot(d, x * x) / 2)
        return float(parts if domain.single else sum(parts.values()))

    functions = ManifoldProblem(
        timed(cost),
        manifold,
        timed(lambda x: each(x, lambda x, d, c: c + d * x)),
        timed(lambda x, v: each(v, lambda v, d, c: d * v)),
    )
    settings = json.dumps(
        {
            "blocks": domain.describe([])[0],
            "solver": solver,
            "tol": 0.0,
            "max_iter": 20,
            "time_limit": 0.0,
        }
    )
    iterate = Buffer(domain, "x0")
    through, alone = [], []
    for _ in range(runs):
        spent[0] = 0.0
        begin = clock()
        r = functions.minimize(x0, solver=solver, tol=0.0, max_iter=20)
        through.append(clock() - begin - spent[0])
        iterate.write(x0)
        begin = clock()
        _native.call(
            _core.bindings_MinimizeDiagonal,
            settings,
            *map(_native.address, (a, d, iterate.flat)),
        )
        alone.append(clock() - begin)
    calls = r.nfev + r.ngev + r.nhev
    return (min(through) - min(alone)) / calls, calls


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each problem")
    parser.add_argument("--solvers", nargs="+", default=["auto", "trust_region"])
    given = parser.parse_args()
    print(f"scqm {scqm.__version__}, NumPy {np.__version__}, BLAS of {scqm.blas()}\n")
    overhead(20 * given.runs)
    against_pymanopt(given.runs, given.solvers)


if __name__ == "__main__":
    main()
