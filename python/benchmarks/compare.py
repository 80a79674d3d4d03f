"""Compare scqm with NumPy, SciPy and pymanopt on the same fits.

Every contender begins at the principal components. What counts is the time until
the objective is within a tenth of a per cent of the lowest one that any of them
reaches. Run it on a machine that does nothing else:

    python python/benchmarks/compare.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.optimize

from scqm import SCQM
from scqm.datasets import load_digits_sample, make_sphere

Array = npt.NDArray[np.float64]
Point = list[Array]  # c (D,), Q (D, d+s), Theta (q, s), Tau (n, d)


class Objective:
    """The sum of |r_k|^p over all residual entries, in NumPy, with a trace."""

    def __init__(self, X: Array, d: int, p: float) -> None:
        self.X, self.d, self.p = X, d, p
        self.pairs = np.triu_indices(d)
        self.begin = time.perf_counter()
        self.trace: list[tuple[float, float]] = []

    def start(self) -> Point:
        """Return the principal components, with Theta = 0."""
        D, d = self.X.shape[1], self.d
        q = d * (d + 1) // 2
        s = min(q, D - d)
        mean = self.X.mean(axis=0)
        axes = np.linalg.svd(self.X - mean, full_matrices=False)[2][: d + s].T
        return [mean, axes, np.zeros((q, s)), (self.X - mean) @ axes[:, :d]]

    def residuals(self, x: Point) -> tuple[Array, Array, Array]:
        """Return the residuals, z and phi."""
        c, Q, theta, tau = x
        phi = tau[:, self.pairs[0]] * tau[:, self.pairs[1]]
        z = np.hstack([tau, phi @ theta])
        return c + z @ Q.T - self.X, z, phi

    def rows(self, x: Point) -> Array:
        """Return the losses of the rows."""
        R, _, _ = self.residuals(x)
        values: Array = (np.abs(R) ** self.p).sum(axis=1)
        return values

    def cost(self, x: Point) -> float:
        """Return the cost, and note it."""
        value = float(self.rows(x).sum())
        self.trace.append((time.perf_counter() - self.begin, value))
        return value

    def gradient(self, x: Point) -> Point:
        """Return the Euclidean gradient."""
        _, Q, theta, tau = x
        R, z, phi = self.residuals(x)
        G = self.p * np.abs(R) ** (self.p - 1) * np.sign(R)
        B = G @ Q
        low, high = B[:, : self.d], B[:, self.d :]
        W = high @ theta.T
        of_tau = low.copy()
        for k, (i, j) in enumerate(zip(*self.pairs, strict=True)):
            of_tau[:, i] += W[:, k] * tau[:, j]
            of_tau[:, j] += W[:, k] * tau[:, i]
        return [G.sum(axis=0), G.T @ z, phi.T @ high, of_tau]

    def reached(self, target: float) -> float:
        """Return the seconds until the target, inf where it was missed."""
        return next((t for t, cost in self.trace if cost <= target), np.inf)


def factor(Y: Array) -> tuple[Array, Array]:
    """Return Q and R of Y = Q R with a positive diagonal."""
    Q, R = np.linalg.qr(Y)
    signs = np.where(np.diag(R) < 0, -1.0, 1.0)
    return Q * signs, R * signs[:, None]


def algorithm_1(f: Objective, limit: float) -> None:
    """Descend by blocks with Armijo steps, as Algorithm 1 of Zhai and Li does."""
    x, steps, tau_steps = f.start(), [1e-3] * 3, np.full(len(f.X), 1e-3)
    cost = f.cost(x)
    while time.perf_counter() - f.begin < limit:
        for k in range(3):
            g = f.gradient(x)[k]
            if k == 1:
                S = x[1].T @ g
                g = g - x[1] @ (S + S.T) / 2
            for _ in range(30):
                trial = list(x)
                trial[k] = x[k] - steps[k] * g
                if k == 1:
                    trial[1] = factor(trial[1])[0]
                new = f.cost(trial)
                if new <= cost - 1e-4 * steps[k] * (g**2).sum():
                    x, cost, steps[k] = trial, new, 2 * steps[k]
                    break
                steps[k] /= 2
        g, before = f.gradient(x)[3], f.rows(x)
        open_rows = np.ones(len(before), dtype=bool)
        tau = x[3].copy()
        for _ in range(30):
            trial = [
                *x[:3],
                np.where(open_rows[:, None], x[3] - tau_steps[:, None] * g, tau),
            ]
            after = f.rows(trial)
            done = open_rows & (after <= before - 1e-4 * tau_steps * (g**2).sum(axis=1))
            tau[done] = trial[3][done]
            tau_steps[done] *= 2
            open_rows &= ~done
            if not open_rows.any():
                break
            tau_steps[open_rows] /= 2
        x[3] = tau
        cost = f.cost(x)


def scipy_lbfgs(f: Objective, limit: float) -> None:
    """Minimise with SciPy's L-BFGS, with Q the orthonormal factor of a free matrix."""
    x0 = f.start()
    shapes = [part.shape for part in x0]
    ends = np.cumsum([part.size for part in x0])

    def evaluate(v: Array) -> tuple[float, Array]:
        if time.perf_counter() - f.begin > limit:
            raise TimeoutError
        x = [p.reshape(s) for p, s in zip(np.split(v, ends[:-1]), shapes, strict=True)]
        x[1], R = factor(x[1])
        g, Q = f.gradient(x), x[1]
        M = -g[1].T @ Q
        M = np.tril(M) + np.tril(M, -1).T
        g[1] = scipy.linalg.solve_triangular(R, (g[1] + Q @ M).T).T
        return f.cost(x), np.concatenate([p.ravel() for p in g])

    try:
        scipy.optimize.minimize(
            evaluate,
            np.concatenate([p.ravel() for p in x0]),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 10**6, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-10},
        )
    except TimeoutError:
        return


def pymanopt_cg(f: Objective, limit: float) -> None:
    """Minimise with the conjugate gradients of pymanopt."""
    import pymanopt
    from pymanopt.manifolds import Euclidean, Product, Stiefel
    from pymanopt.optimizers import ConjugateGradient

    x0 = f.start()
    manifold = Product(
        [
            Stiefel(*x0[1].shape) if k == 1 else Euclidean(*p.shape)
            for k, p in enumerate(x0)
        ]
    )

    # pymanopt has no types, which is what mypy minds.
    @pymanopt.function.numpy(manifold)  # type: ignore[untyped-decorator]
    def cost(*x: Array) -> float:
        return f.cost(list(x))

    @pymanopt.function.numpy(manifold)  # type: ignore[untyped-decorator]
    def gradient(*x: Array) -> Point:
        return f.gradient(list(x))

    task = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient)
    optimizer = ConjugateGradient(
        max_time=limit, max_iterations=10**6, min_gradient_norm=1e-10, verbosity=0
    )
    optimizer.run(task, initial_point=x0)


def ours(f: Objective, limit: float) -> None:
    """Fit with scqm; its own clock starts with the solver, ours with the call."""
    m = SCQM(f.d, loss="lp", p=f.p, time_limit=limit)
    f.begin = time.perf_counter()
    m.fit(f.X)
    total = time.perf_counter() - f.begin
    overhead = total - m.history_["seconds"][-1]
    f.trace = [
        (overhead + t, c)
        for t, c in zip(m.history_["seconds"], m.history_["cost"], strict=True)
    ]
    f.trace.append((total, m.objective_))


CONTENDERS: dict[str, Callable[[Objective, float], None]] = {
    "scqm": ours,
    "Algorithm 1, NumPy": algorithm_1,
    "L-BFGS, SciPy": scipy_lbfgs,
    "conjugate gradients, pymanopt": pymanopt_cg,
}


def compare(name: str, X: Array, p: float, limit: float) -> None:
    """Print a table of the times that the contenders take."""
    results = {}
    for contender, run in CONTENDERS.items():
        results[contender] = f = Objective(X, 2, p)
        run(f, limit)
    best = min(min(c for _, c in f.trace) for f in results.values())
    target = 1.001 * best
    own = results["scqm"].reached(target)
    print(
        f"\n{name}: {X.shape[0]} x {X.shape[1]}, p = {p}, lowest objective {best:.6g}\n"
    )
    print("| contender | lowest, relative | seconds to 0.1 % | times scqm |")
    print("| --- | --- | --- | --- |")
    for contender, f in results.items():
        lowest, seconds = min(c for _, c in f.trace), f.reached(target)
        shown = f"{seconds:.3g}" if np.isfinite(seconds) else f"not in {limit:g}"
        if not np.isfinite(own):
            ratio = "-"
        elif np.isfinite(seconds):
            ratio = f"{seconds / own:.3g}"
        else:
            ratio = f"> {limit / own:.3g}"
        print(f"| {contender} | 1 + {lowest / best - 1:.1e} | {shown} | {ratio} |")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--limit", type=float, default=20, help="seconds for each")
    limit = arguments.parse_args().limit
    cap, _ = make_sphere(400, noise=0.05, random_state=0)
    cap = cap[cap[:, 2] > 0]
    digits = load_digits_sample([4, 9], 50).data
    SCQM(2).fit(cap)  # loads what the first fit of a process loads
    for p in (2.0, 1.5):
        compare("half a sphere", cap, p, limit)
        compare("digits", digits, p, limit)
