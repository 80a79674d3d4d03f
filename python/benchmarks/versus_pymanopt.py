"""Run pymanopt and SciPy on the standard problems beside our solvers.

A program in Go writes the data and the starts of the problems of internal/standard,
runs our solvers, and tells what that took; the same problems, written here with the
same gradients and Hessian products by hand, or differences of gradients where there are
none, go to pymanopt's ConjugateGradient and TrustRegions and, where they are Euclidean,
to SciPy's L-BFGS-B and trust-ncg. All use one thread, and time is that of the
processor. Passes are calls of cost, gradient and Hessian product; a gradient asked for
again at the same point is not counted again. A tolerance is reached where the gradient
of every block, computed anew at the point returned, is not longer.

    python python/benchmarks/versus_pymanopt.py [--only max-cut,PCA] [--small]

needs Go, pymanopt and SciPy.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

for name in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "GOMAXPROCS",
):
    os.environ[name] = "1"  # before NumPy is loaded

import numpy as np  # noqa: E402  (after the number of threads)
import numpy.typing as npt  # noqa: E402  (after the number of threads)
import pymanopt  # noqa: E402  (after the number of threads)
import scipy.optimize  # noqa: E402  (after the number of threads)
from pymanopt import manifolds, optimizers  # noqa: E402  (after the number of threads)

Array = npt.NDArray[np.float64]
Cost = Callable[..., float]
Gradient = Callable[..., Any]
TOLERANCES = (1e-6, 1e-8)
LIMIT = 60.0  # seconds of a run


@dataclass
class Case:
    """A problem in pymanopt's coordinates."""

    manifold: Any
    start: Any
    cost: Cost
    gradient: Gradient
    hessian: Gradient | None = None
    second_order: bool = True  # whether pymanopt has trust regions on the manifold


@dataclass
class Counter:
    """Counted calls of the functions of a case."""

    case: Case
    passes: int = 0
    hessians: int = 0
    last: Any = None
    kept: Any = field(default=None)

    def cost(self, *x: Array) -> Any:
        """Return the cost."""
        self.passes += 1
        return self.case.cost(*x)

    def gradient(self, *x: Array) -> Any:
        """Return the gradient, which is computed once per point."""
        if self.last is None or any(
            a is not b for a, b in zip(self.last, x, strict=True)
        ):
            self.passes += 1
            self.kept = self.case.gradient(*x)
            self.last = x
        return self.kept

    def hessian(self, *xv: Array) -> Any:
        """Return a product with the Hessian."""
        assert self.case.hessian is not None
        self.passes += 1
        self.hessians += 1
        return self.case.hessian(*xv)


Data = dict[str, Array]


def quadratic(manifold: Any, data: Data) -> Case:
    """Return tr(N X'AX)/2 - tr(C'X)."""
    A, w = data["A"], data["weights"].ravel()
    C = data.get("C", np.zeros((1, 1)))
    start = data["start-0"]
    if isinstance(manifold, manifolds.Sphere):
        start = start.ravel()
        return Case(
            manifold,
            start,
            lambda x: float(x @ (A @ x)) / 2,
            lambda x: A @ x,
            lambda _, v: A @ v,
        )
    start = start.reshape(len(A), len(w))
    return Case(
        manifold,
        start,
        lambda X: float(np.sum(X * (A @ X * w)) / 2 - np.sum(C * X)),
        lambda X: A @ X * w - C,
        lambda _, V: A @ V * w,
    )


def frames(kind: Any) -> Callable[[Data], Case]:
    """Return the quadratic problem on Grassmann or Stiefel manifolds."""
    return lambda data: quadratic(kind(len(data["A"]), data["weights"].size), data)


def eigenvector(data: Data) -> Case:
    """Return the Rayleigh quotient."""
    return quadratic(manifolds.Sphere(len(data["A"])), data)


def sparse_pca(data: Data) -> Case:
    """Return PCA with a rounded l1 norm."""
    lam, eps = 0.1, 0.01
    q = frames(manifolds.Stiefel)(data)
    hess = q.hessian
    assert hess is not None
    return Case(
        q.manifold,
        q.start,
        lambda X: q.cost(X) + lam * float(np.sqrt(X * X + eps * eps).sum()),
        lambda X: q.gradient(X) + lam * X / np.sqrt(X * X + eps * eps),
        lambda X, V: hess(X, V) + lam * eps * eps * V / np.sqrt(X * X + eps * eps) ** 3,
    )


def oblique(data: Data, cost: Cost, gradient: Gradient, hessian: Gradient) -> Case:
    """Return a problem of rows on spheres, which pymanopt has as columns."""
    X = data["start-0"]
    return Case(
        manifolds.Oblique(X.shape[1], X.shape[0]),
        np.ascontiguousarray(X.T),
        lambda X: cost(X.T),
        lambda X: gradient(X.T).T,
        lambda X, V: hessian(X.T, V.T).T,
    )


def correlation(data: Data) -> Case:
    """Return |XX' - C|^2/4."""
    C = data["C"]
    return oblique(
        data,
        lambda X: float(np.sum((X @ X.T - C) ** 2)) / 4,
        lambda X: (X @ X.T - C) @ X,
        lambda X, V: (X @ X.T - C) @ V + (V @ X.T + X @ V.T) @ X,
    )


def max_cut(data: Data) -> Case:
    """Return tr(X'AX)/2."""
    A = data["A"]
    return oblique(
        data,
        lambda X: float(np.sum(X * (A @ X))) / 2,
        lambda X: A @ X,
        lambda _, V: A @ V,
    )


def robust_pca(data: Data) -> Case:
    """Return the sum of rounded distances to a subspace."""
    Y, eps = data["Y"], 0.1
    squares = np.sum(Y * Y, axis=1)
    n = Y.shape[1]
    X0 = data["start-0"].reshape(n, -1)

    def parts(X: Array) -> tuple[Array, Array]:
        T = Y @ X
        return T, np.sqrt(squares - np.sum(T * T, axis=1) + eps * eps)

    def gradient(X: Array) -> Any:
        T, d = parts(X)
        return -Y.T @ (T / d[:, None])

    def hessian(X: Array, V: Array) -> Any:
        T, d = parts(X)
        W = Y @ V
        slope = np.sum(T * W, axis=1)
        return -Y.T @ (W / d[:, None] + T * (slope / d**3)[:, None])

    return Case(
        manifolds.Grassmann(n, X0.shape[1]),
        X0,
        lambda X: float(parts(X)[1].sum()),
        gradient,
        hessian,
    )


def completion(data: Data) -> Case:
    """Return |mask (LR' - A)|^2/2."""
    A, seen = data["A"], data["seen"]
    L0, R0 = data["start-0"], data["start-1"]

    def residual(L: Array, R: Array) -> Any:
        return seen * (L @ R.T) - A

    def gradient(L: Array, R: Array) -> list[Array]:
        E = residual(L, R)
        return [E @ R, E.T @ L]

    def hessian(L: Array, R: Array, V: Array, W: Array) -> list[Array]:
        E, D = residual(L, R), seen * (V @ R.T + L @ W.T)
        return [E @ W + D @ R, E.T @ V + D.T @ L]

    space = manifolds.Product(
        [manifolds.Euclidean(*L0.shape), manifolds.Euclidean(*R0.shape)]
    )
    return Case(
        space,
        [L0, R0],
        lambda L, R: float(np.sum(residual(L, R) ** 2)) / 2,
        gradient,
        hessian,
    )


def fixed_rank(data: Data) -> Case:
    """Return |mask (W - A)|^2/2 for W of fixed rank."""
    A, seen = data["A"], data["seen"]
    n = len(A)
    x = data["start-0"].ravel()
    r = next(r for r in range(1, n) if (2 * n + r) * r == x.size)
    U, S, V = (
        x[: n * r].reshape(n, r),
        x[n * r : n * r + r * r].reshape(r, r),
        x[n * r + r * r :].reshape(n, r),
    )
    P, s, Qt = np.linalg.svd(S)

    def residual(u: Array, s: Array, vt: Array) -> Array:
        return seen * ((u * s) @ vt) - A

    def gradient(u: Array, s: Array, vt: Array) -> list[Array]:
        G = residual(u, s, vt)
        Gv = G @ vt.T
        return [Gv * s, np.sum(u * Gv, axis=0), s[:, None] * (u.T @ G)]

    space = manifolds.FixedRankEmbedded(n, n, r)
    start = space.retraction(
        (U @ P, s, Qt @ V.T), space.zero_vector((U @ P, s, Qt @ V.T))
    )
    return Case(
        space,
        start,
        lambda *x: float(np.sum(residual(*x) ** 2)) / 2,
        gradient,
        None,
        second_order=False,
    )


def sphere_mean(data: Data) -> Case:
    """Return half the sum of squared angles."""
    P = data["points"]

    def parts(x: Array) -> tuple[Array, Array]:
        c = P @ x
        return c, np.arccos(np.minimum(1, c))

    def gradient(x: Array) -> Any:
        c, t = parts(x)
        return -(t / np.sqrt(1 - c * c)) @ P

    def hessian(x: Array, v: Array) -> Any:
        c, t = parts(x)
        q = 1 - c * c
        return ((1 - t * c / np.sqrt(q)) / q * (P @ v)) @ P

    return Case(
        manifolds.Sphere(P.shape[1]),
        data["start-0"].ravel(),
        lambda x: float(np.sum(parts(x)[1] ** 2)) / 2,
        gradient,
        hessian,
    )


def spd_mean(data: Data) -> Case:
    """Return half the mean of squared distances of positive definite matrices."""
    n = int(np.sqrt(data["points"].shape[1]))
    P = data["points"].reshape(-1, n, n)

    def logarithms(X: Array) -> tuple[Array, Array]:
        Li = np.linalg.inv(np.linalg.cholesky(X))
        w, Q = np.linalg.eigh(Li @ P @ Li.T)
        return Li, (Q * np.log(w)[:, None, :]) @ np.swapaxes(Q, 1, 2)

    def cost(X: Array) -> Any:
        return float(np.sum(logarithms(X)[1] ** 2)) / (2 * len(P))

    def gradient(X: Array) -> Any:
        Li, M = logarithms(X)
        G = -Li.T @ M.mean(axis=0) @ Li
        return (G + G.T) / 2

    X0 = data["start-0"].reshape(n, n)
    return Case(manifolds.SymmetricPositiveDefinite(n), X0, cost, gradient)


class Ball(manifolds.PoincareBall):  # type: ignore[misc]  # pymanopt has no types
    """The ball of Poincare with the parallel transport that pymanopt lacks."""

    def transport(self, point_a: Array, point_b: Array, vector: Array) -> Any:
        """Transport a tangent vector by Moebius additions."""
        add = self.mobius_addition
        length = np.linalg.norm(vector)
        if length == 0:
            return vector
        v = 0.1 / length * vector
        turned = add(-add(point_b, -point_a), add(point_b, add(-point_a, v)))
        scale = self.conformal_factor(point_a) / self.conformal_factor(point_b)
        return length / 0.1 * np.ravel(scale) * turned


def hyperbolic_mean(data: Data) -> Case:
    """Return half the sum of squared distances, in the ball of Poincare."""

    def ball(x: Array) -> Any:
        return x[..., 1:] / (1 + x[..., :1])

    Q = ball(data["points"])
    rest = 1 - np.sum(Q * Q, axis=1)

    def parts(x: Array) -> tuple[float, Array, Array]:
        s = 1 - float(x @ x)
        e = x - Q
        return s, e, 1 + 2 * np.sum(e * e, axis=1) / (s * rest)

    def cost(x: Array) -> Any:
        return float(np.sum(np.arccosh(parts(x)[2]) ** 2)) / 2

    def gradient(x: Array) -> Any:
        s, e, c = parts(x)
        factor = np.arccosh(c) / np.sqrt(c * c - 1)
        a = factor * 4 / (s * rest)
        return a @ e + float(np.sum(a * np.sum(e * e, axis=1))) / s * x

    return Case(
        Ball(Q.shape[1]),
        ball(data["start-0"].ravel()),
        cost,
        gradient,
    )


def pairs(data: Data, f: Callable[[Array], tuple[Array, Array, Array]]) -> Case:
    """Return a sum over pairs of points on the sphere."""
    n = len(data["start-0"])
    i, j = np.tril_indices(n, -1)

    def parts(X: Array) -> tuple[Array, Array, Array, Array]:
        E = X[i] - X[j]
        return (E, *f(np.sum(E * E, axis=1)))

    def collect(W: Array) -> Array:
        G = np.zeros((n, 3))
        np.add.at(G, i, W)
        np.subtract.at(G, j, W)
        return G

    def gradient(X: Array) -> Any:
        E, _, d, _ = parts(X)
        return collect(2 * d[:, None] * E)

    def hessian(X: Array, V: Array) -> Any:
        E, _, d, dd = parts(X)
        W = V[i] - V[j]
        return collect(
            2 * d[:, None] * W + (4 * dd * np.sum(E * W, axis=1))[:, None] * E
        )

    return oblique(data, lambda X: float(parts(X)[1].sum()), gradient, hessian)


def thomson(data: Data) -> Case:
    """Return the energy of charges on the sphere."""
    return pairs(data, lambda q: (q**-0.5, -0.5 * q**-1.5, 0.75 * q**-2.5))


def packing(data: Data) -> Case:
    """Return the rounded largest inner product of points on the sphere."""

    def f(q: Array) -> tuple[Array, Array, Array]:
        e = np.exp(-10 * q)
        return e, -10 * e, 100 * e

    return pairs(data, f)


def ica(data: Data) -> Case:
    """Return the contrast log cosh."""
    Z = data["Z"]
    m, n = Z.shape

    def cost(W: Array) -> Any:
        t = np.abs(Z @ W)
        return -float(np.sum(t + np.log1p(np.exp(-2 * t)) - np.log(2))) / m

    return Case(
        manifolds.Stiefel(n, n),
        data["start-0"].reshape(n, n),
        cost,
        lambda W: -Z.T @ np.tanh(Z @ W) / m,
        lambda W, V: -Z.T @ ((1 - np.tanh(Z @ W) ** 2) * (Z @ V)) / m,
    )


def joint_diagonalisation(data: Data) -> Case:
    """Return minus the squares on diagonals."""
    n = data["A"].shape[1]
    A = data["A"].reshape(-1, n, n)

    def diagonals(X: Array) -> tuple[Array, Array]:
        AX = A @ X
        return AX, np.einsum("ij,kij->kj", X, AX)

    def gradient(X: Array) -> Any:
        AX, d = diagonals(X)
        return -np.sum(AX * d[:, None, :], axis=0)

    def hessian(X: Array, V: Array) -> Any:
        AX, d = diagonals(X)
        e = np.einsum("ij,kij->kj", V, AX)
        return -np.sum(A @ V * d[:, None, :] + 2 * AX * e[:, None, :], axis=0)

    return Case(
        manifolds.Stiefel(n, n),
        data["start-0"].reshape(n, n),
        lambda X: -float(np.sum(diagonals(X)[1] ** 2)) / 4,
        gradient,
        hessian,
    )


def phase_retrieval(data: Data) -> Case:
    """Return the mean of ((a'x)^2 - b)^2/4."""
    A, b = data["A"], data["b"].ravel()
    m = len(b)
    return Case(
        manifolds.Euclidean(A.shape[1]),
        data["start-0"].ravel(),
        lambda x: float(np.sum(((A @ x) ** 2 - b) ** 2)) / (4 * m),
        lambda x: A.T @ (((A @ x) ** 2 - b) * (A @ x)) / m,
        lambda x, v: A.T @ ((3 * (A @ x) ** 2 - b) * (A @ v)) / m,
    )


def synchronisation(data: Data) -> Case:
    """Return rounded distances of relative rotations."""
    edges, eps = data["edges"], 0.1
    i, j = edges[:, 0].astype(int), edges[:, 1].astype(int)
    H = edges[:, 2:].reshape(-1, 3, 3)
    Ht = np.swapaxes(H, 1, 2)
    R0 = data["start-0"].reshape(-1, 3, 3)

    def parts(R: Array) -> tuple[Array, Array]:
        E = R[i] - H @ R[j]
        return E, np.sqrt(np.sum(E * E, axis=(1, 2)) + eps * eps)

    def collect(W: Array) -> Array:
        G = np.zeros_like(R0)
        np.add.at(G, i, W)
        np.subtract.at(G, j, Ht @ W)
        return G

    def gradient(R: Array) -> Any:
        E, d = parts(R)
        return collect(E / d[:, None, None])

    def hessian(R: Array, V: Array) -> Any:
        E, d = parts(R)
        D = V[i] - H @ V[j]
        slope = np.sum(E * D, axis=(1, 2))
        return collect(D / d[:, None, None] - E * (slope / d**3)[:, None, None])

    space = manifolds.SpecialOrthogonalGroup(3, k=len(R0))
    return Case(space, R0, lambda R: float(parts(R)[1].sum()), gradient, hessian)


def rosenbrock(data: Data) -> Case:
    """Return the curved valley."""
    x0 = data["start-0"].ravel()
    return Case(
        manifolds.Euclidean(x0.size),
        x0,
        lambda x: float(scipy.optimize.rosen(x)),
        scipy.optimize.rosen_der,
        scipy.optimize.rosen_hess_prod,
    )


def logistic(data: Data) -> Case:
    """Return logistic regression."""
    A, ridge = data["A"], 1e-4
    m = len(A)

    def weights(x: Array) -> Array:
        e = np.exp(-np.abs(A @ x))
        return np.asarray(e / (1 + e) ** 2)

    return Case(
        manifolds.Euclidean(A.shape[1]),
        data["start-0"].ravel(),
        lambda x: float(np.mean(np.logaddexp(0, -(A @ x))) + ridge * (x @ x) / 2),
        lambda x: -A.T @ (1 / (1 + np.exp(A @ x))) / m + ridge * x,
        lambda x, v: A.T @ (weights(x) * (A @ v)) / m + ridge * v,
    )


def ill_conditioned(data: Data) -> Case:
    """Return a quadratic with a large constant."""
    w = data["weights"].ravel()
    return Case(
        manifolds.Euclidean(w.size),
        data["start-0"].ravel(),
        lambda x: float(w @ (x - 1) ** 2) / 2 + 1e6,
        lambda x: w * (x - 1),
        lambda _, v: w * v,
    )


def unlike_blocks(data: Data) -> Case:
    """Return a Rayleigh quotient beside a stiff quadratic."""
    A, w = data["A"], data["weights"].ravel()
    n = w.size

    def gradient(x: Array, y: Array) -> list[Array]:
        d = w * (x - y[:n])
        g = A @ y
        g[:n] -= d
        return [d, g]

    return Case(
        manifolds.Product([manifolds.Euclidean(n), manifolds.Sphere(len(A))]),
        [data["start-0"].ravel(), data["start-1"].ravel()],
        lambda x, y: float(y @ (A @ y) + w @ (x - y[:n]) ** 2) / 2,
        gradient,
        lambda _x, _y, u, v: gradient(u, v),
    )


CASES: dict[str, Callable[[Data], Case]] = {
    "eigenvector": eigenvector,
    "subspace": frames(manifolds.Grassmann),
    "PCA": frames(manifolds.Stiefel),
    "rank-k correlation": correlation,
    "robust PCA": robust_pca,
    "max-cut": max_cut,
    "completion": completion,
    "noisy completion": fixed_rank,
    "Brockett": frames(manifolds.Stiefel),
    "Procrustes": frames(manifolds.Stiefel),
    "mean on the sphere": sphere_mean,
    "mean on SPD": spd_mean,
    "low rank": fixed_rank,
    "packing": packing,
    "ICA": ica,
    "joint diagonalisation": joint_diagonalisation,
    "Thomson": thomson,
    "sparse PCA": sparse_pca,
    "hyperbolic mean": hyperbolic_mean,
    "phase retrieval": phase_retrieval,
    "rotation synchronisation": synchronisation,
    "Rosenbrock": rosenbrock,
    "logistic regression": logistic,
    "ill-conditioned": ill_conditioned,
    "unlike blocks": unlike_blocks,
}


def to_pymanopt(counter: Counter) -> Any:
    """Return the case as a problem of pymanopt."""
    manifold = counter.case.manifold
    decorate = pymanopt.function.numpy(manifold)
    cost = decorate(lambda *x: counter.cost(*x))
    gradient = decorate(lambda *x: counter.gradient(*x))
    if counter.case.hessian is not None:
        hessian = decorate(lambda *xv: counter.hessian(*xv))
        return pymanopt.Problem(
            manifold, cost, euclidean_gradient=gradient, euclidean_hessian=hessian
        )
    if not counter.case.second_order:
        return pymanopt.Problem(manifold, cost, euclidean_gradient=gradient)

    def difference(x: Array, v: Array) -> Any:
        length = manifold.norm(x, v)
        if length == 0:
            return 0 * v
        t = 2**-20 / length
        y = manifold.retraction(x, t * v)
        counter.passes += 1
        g = manifold.euclidean_to_riemannian_gradient(y, counter.case.gradient(y))
        h = manifold.euclidean_to_riemannian_gradient(x, counter.gradient(x))
        return (manifold.transport(y, x, g) - h) / t

    return pymanopt.Problem(
        manifold,
        cost,
        euclidean_gradient=gradient,
        riemannian_hessian=decorate(difference),
    )


def norm(case: Case, x: Any) -> float:
    """Return the largest gradient norm of a block."""
    problem = to_pymanopt(Counter(case))
    g = problem.riemannian_gradient(x)
    if isinstance(case.manifold, manifolds.Product):
        return max(
            float(m.norm(a, b))
            for m, a, b in zip(case.manifold.manifolds, x, g, strict=True)
        )
    return float(case.manifold.norm(x, g))


@dataclass
class Run:
    """What a run took."""

    passes: float
    seconds: float
    gradient: float


def with_pymanopt(case: Case, solver: Any, tolerance: float) -> Run:
    """Run a solver of pymanopt."""
    counter = Counter(case)
    problem = to_pymanopt(counter)
    optimizer = solver(
        min_gradient_norm=tolerance,
        max_iterations=100_000,
        max_time=LIMIT,
        max_cost_evaluations=10_000_000,
        verbosity=0,
    )
    begin = time.process_time()
    result = optimizer.run(problem, initial_point=case.start)
    seconds = time.process_time() - begin
    return Run(counter.passes, seconds, norm(case, result.point))


class ReachedError(Exception):
    """Ends a run of SciPy."""


def with_scipy(case: Case, method: str, tolerance: float) -> Run:
    """Run a solver of SciPy on one Euclidean block or several."""
    blocks = case.start if isinstance(case.start, list) else [case.start]
    cuts = np.cumsum([b.size for b in blocks])[:-1]
    counter = Counter(case)

    def split(x: Array) -> list[Array]:
        return [
            p.reshape(b.shape) for p, b in zip(np.split(x, cuts), blocks, strict=True)
        ]

    def join(g: Any) -> Array:
        return np.concatenate(
            [np.ravel(p) for p in (g if isinstance(g, list) else [g])]
        )

    best = join(list(blocks))

    def evaluate(x: Array) -> tuple[float, Array]:
        parts = split(x)
        f, g = counter.cost(*parts), counter.gradient(*parts)
        best[:] = x
        if (
            max(float(np.linalg.norm(p)) for p in (g if isinstance(g, list) else [g]))
            <= tolerance
        ):
            raise ReachedError
        return f, join(g)

    options: dict[str, Any] = {
        "gtol": 0,
        "ftol": 0,
        "maxiter": 100_000,
        "maxfun": 1_000_000,
    }
    extra: dict[str, Any] = {}
    if method == "trust-ncg":
        options = {"gtol": tolerance / 2, "maxiter": 100_000}
        extra = {"hessp": lambda x, v: join(counter.hessian(*split(x), *split(v)))}
    begin = time.process_time()
    with contextlib.suppress(ReachedError):
        best = scipy.optimize.minimize(
            evaluate, best.copy(), jac=True, method=method, options=options, **extra
        ).x
    seconds = time.process_time() - begin
    return Run(
        counter.passes, seconds, norm(case, split(best) if len(blocks) > 1 else best)
    )


def run_ours(
    folder: str, only: str, small: bool
) -> dict[tuple[str, float], dict[str, Run]]:
    """Let the program in Go write the data and run our solvers."""
    root = Path(__file__).resolve().parents[2]
    command = [
        "go",
        "run",
        "./internal/standard/versus",
        "-data",
        folder,
        "-only",
        only,
    ]
    if small:
        command.append("-small")
    found: dict[tuple[str, float], dict[str, Run]] = defaultdict(dict)
    out = subprocess.run(
        command, cwd=root, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    for line in out.splitlines():
        r = json.loads(line)
        found[r["problem"], r["tolerance"]][r["solver"]] = Run(
            r["passes"], r["seconds"], r["gradient"]
        )
    return found


def run_theirs(name: str, folder: Path, tolerance: float) -> dict[str, Run]:
    """Run pymanopt and SciPy on the problem of that name."""
    data = {f.stem: np.load(f) for f in (folder / name.replace(" ", "-")).glob("*.npy")}
    case = CASES[name](data)
    runs = {"pymanopt CG": with_pymanopt(case, optimizers.ConjugateGradient, tolerance)}
    if case.second_order:
        runs["pymanopt TR"] = with_pymanopt(case, optimizers.TrustRegions, tolerance)
    parts = getattr(case.manifold, "manifolds", [case.manifold])
    if all(isinstance(m, manifolds.Euclidean) for m in parts):
        runs["L-BFGS-B"] = with_scipy(case, "L-BFGS-B", tolerance)
        runs["trust-ncg"] = with_scipy(case, "trust-ncg", tolerance)
    return runs


COLUMNS = [
    "auto",
    "lbfgs",
    "trust_region",
    "cg",
    "pymanopt CG",
    "pymanopt TR",
    "L-BFGS-B",
    "trust-ncg",
]


def show(found: dict[tuple[str, float], dict[str, Run]], tolerance: float) -> None:
    """Print the passes to a tolerance, processor time, and how auto compares."""
    print(f"\nto {tolerance:g}: passes / milliseconds; * is not reached")
    print(f"{'':25}" + "".join(f"{c:>17}" for c in COLUMNS) + "   auto/best")
    reached: dict[str, list[int]] = {c: [0, 0] for c in COLUMNS}
    sums = dict.fromkeys(COLUMNS, 0.0)
    common = [0.0, 0.0]
    for (name, t), runs in found.items():
        if t != tolerance:
            continue
        cells = []
        for c in COLUMNS:
            if c not in runs:
                cells.append(f"{'-':>17}")
                continue
            r = runs[c]
            good = r.gradient <= tolerance
            reached[c][0] += good
            reached[c][1] += 1
            sums[c] += r.passes
            cells.append(
                f"{r.passes:8.0f}{' ' if good else '*'}/{1e3 * r.seconds:7.0f}"
            )
        if "pymanopt TR" in runs:
            common[0] += runs["auto"].passes
            common[1] += runs["pymanopt TR"].passes
        least = min(
            (r.passes for r in runs.values() if r.gradient <= tolerance), default=np.nan
        )
        print(f"{name:25}" + "".join(cells) + f"{runs['auto'].passes / least:10.2f}")
    print(
        f"{'reached, of':25}"
        + "".join(f"{f'{a}/{b}':>17}" for a, b in reached.values())
    )
    print(f"{'passes':25}" + "".join(f"{sums[c]:17.0f}" for c in COLUMNS))
    print(
        f"passes where pymanopt has trust regions: {common[0]:.0f}, "
        f"theirs: {common[1]:.0f}"
    )


def main() -> None:
    """Run all and print two tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", default="", help="words that names contain, commas between"
    )
    parser.add_argument("--small", action="store_true", help="take small sizes")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as folder:
        found = run_ours(folder, args.only, args.small)
        for (name, tolerance), runs in found.items():
            runs.update(run_theirs(name, Path(folder), tolerance))
    for tolerance in TOLERANCES:
        show(found, tolerance)


if __name__ == "__main__":
    main()
