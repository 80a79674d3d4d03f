"""Compare fits by lp and l1 with L-BFGS of SciPy, by hand and by JAX, on digits.

All begin at the principal components and minimise the objective of ``scqm.SCQM`` as
it is by default, its ridge included: SciPy's L-BFGS-B over c, a free matrix of which
Q is the orthonormal factor, Theta and Tau, with gradients written in NumPy, and the
same by JAX, compiled before the clock starts. What counts is processor time of one
thread: of the whole fit, until the objective is within a thousandth of the lowest
that any of them reaches in its time, and until it is within a thousandth of the end
of scqm, since minima differ. The contenders take their turns in every run, and
medians are printed.

    OMP_NUM_THREADS=1 python python/benchmarks/losses.py --runs 3
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.optimize
from compare import Array, Objective, Point, factor

from scqm import SCQM
from scqm.datasets import load_digits_sample


class Penalized(Objective):
    """The sum of |r_k|^p and the penalty, with a trace of processor time."""

    def __init__(self, X: Array, p: float, factor: float) -> None:
        super().__init__(X, 2, p)
        self.factor = factor
        i, j = self.pairs
        self.by = factor * np.where(i == j, 1.0, 0.5)[:, None]
        self.begin = time.process_time()

    def cost(self, x: Point) -> float:
        """Return the cost, and note it."""
        value = float(self.rows(x).sum() + (self.by * x[2] ** 2).sum())
        self.note(value)
        return value

    def note(self, value: float) -> None:
        """Note a cost at this time."""
        self.trace.append((time.process_time() - self.begin, value))

    def gradient(self, x: Point) -> Point:
        """Return the Euclidean gradient."""
        g = super().gradient(x)
        g[2] = g[2] + 2 * self.by * x[2]
        return g


def ours(X: Array, p: float) -> tuple[list[tuple[float, float]], float]:
    """Fit with scqm; return the trace, and the factor of the penalty."""
    model = SCQM(2, loss="lp", p=p, n_threads=1)
    wall, begin = time.perf_counter(), time.process_time()
    model.fit(X)
    total = time.process_time() - begin
    share = total / (time.perf_counter() - wall)
    overhead = total - share * model.history_["seconds"][-1]
    trace = [
        (overhead + share * t, c)
        for t, c in zip(model.history_["seconds"], model.history_["cost"], strict=True)
    ]
    end = model.objective_ + model.penalty_
    trace.append((total, end))
    i, j = np.triu_indices(2)
    size = (np.where(i == j, 1.0, 0.5)[:, None] * model.theta_**2).sum()
    return trace, model.penalty_ / size


def flat(x: Point) -> tuple[Array, Callable[[Array], Point]]:
    """Return a point as a vector, and what takes vectors apart."""
    shapes = [part.shape for part in x]
    ends = np.cumsum([part.size for part in x])[:-1]

    def apart(v: Array) -> Point:
        return [p.reshape(s) for p, s in zip(np.split(v, ends), shapes, strict=True)]

    return np.concatenate([p.ravel() for p in x]), apart


def minimize(
    f: Penalized,
    evaluate: Callable[[Array], tuple[float, Array]],
    start: Array,
    limit: float,
) -> None:
    """Run L-BFGS-B until it ends or the limit is over."""

    def limited(v: Array) -> tuple[float, Array]:
        if time.process_time() - f.begin > limit:
            raise TimeoutError
        return evaluate(v)

    f.begin = time.process_time()
    try:
        scipy.optimize.minimize(
            limited,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 10**6, "maxfun": 10**6, "ftol": 1e-12, "gtol": 1e-8},
        )
    except TimeoutError:
        return


def by_hand(f: Penalized, limit: float) -> None:
    """Minimise with gradients in NumPy."""
    start, apart = flat(f.start())

    def evaluate(v: Array) -> tuple[float, Array]:
        x = apart(v)
        x[1], R = factor(x[1])
        g, Q = f.gradient(x), x[1]
        M = -g[1].T @ Q
        M = np.tril(M) + np.tril(M, -1).T
        g[1] = scipy.linalg.solve_triangular(R, (g[1] + Q @ M).T).T
        return f.cost(x), np.concatenate([p.ravel() for p in g])

    minimize(f, evaluate, start, limit)


def by_jax(f: Penalized, limit: float) -> None:
    """Minimise with gradients by JAX."""
    import jax
    import jax.numpy as jnp

    start, _ = flat(f.start())
    shapes = [part.shape for part in f.start()]
    ends = [int(e) for e in np.cumsum([np.prod(s) for s in shapes])[:-1]]
    X, by = jnp.asarray(f.X), jnp.asarray(f.by)

    def cost(v: jax.Array) -> jax.Array:
        c, Y, theta, tau = (
            part.reshape(shape)
            for part, shape in zip(jnp.split(v, ends), shapes, strict=True)
        )
        Q, R = jnp.linalg.qr(Y)
        Q = Q * jnp.where(jnp.diag(R) < 0, -1.0, 1.0)
        phi = tau[:, f.pairs[0]] * tau[:, f.pairs[1]]
        r = c + jnp.hstack([tau, phi @ theta]) @ Q.T - X
        return (jnp.abs(r) ** f.p).sum() + (by * theta**2).sum()

    compiled = jax.jit(jax.value_and_grad(cost))
    compiled(start)[0].block_until_ready()

    def evaluate(v: Array) -> tuple[float, Array]:
        value, g = compiled(v)
        f.note(float(value))
        return float(value), np.asarray(g)

    minimize(f, evaluate, start, limit)


def compare(name: str, X: Array, p: float, runs: int, limit: float) -> None:
    """Print the lines of a fit."""
    peers: dict[str, Callable[[Penalized, float], None]] = {
        "SciPy": by_hand,
        "JAX + SciPy": by_jax,
    }
    traces: dict[str, list[list[tuple[float, float]]]] = {}
    for _ in range(runs):
        trace, penalty = ours(X, p)
        traces.setdefault("scqm", []).append(trace)
        for peer, run in peers.items():
            f = Penalized(X, p, penalty)
            run(f, limit)
            traces.setdefault(peer, []).append(f.trace)
    best = min(c for of in traces.values() for t in of for _, c in t)
    own = min(c for _, c in traces["scqm"][0])
    columns = []
    for of in traces.values():
        lowest = min(c for _, c in of[0])
        whole = statistics.median(t[-1][0] for t in of)
        columns.append(
            f"{lowest:.6g}, {whole:.3g}, {until(best, of)}, {until(own, of)}"
        )
    print(f"| {name} | {' | '.join(columns)} |", flush=True)


def until(cost: float, traces: list[list[tuple[float, float]]]) -> str:
    """Return the median time until a thousandth above a cost, or the whole time."""
    reached = statistics.median(
        next((s for s, c in t if c <= 1.001 * cost), np.inf) for t in traces
    )
    if np.isfinite(reached):
        return f"{reached:.3g}"
    return f"> {statistics.median(t[-1][0] for t in traces):.3g}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of each")
    parser.add_argument(
        "--limit", type=float, default=20, help="processor seconds for each peer"
    )
    parser.add_argument(
        "--powers", type=float, nargs="+", default=[3.0, 1.5, 1.0], help="powers of lp"
    )
    arguments = parser.parse_args()
    os.environ["JAX_ENABLE_X64"] = "1"
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    samples = {
        "4 and 9, 100 x 784": load_digits_sample([4, 9], 50).data,
        "five digits, 500 x 784": load_digits_sample().data,
    }
    print(
        "| fit | scqm: lowest, whole, to 1e-3 of the lowest, of scqm"
        " | SciPy | JAX + SciPy |"
    )
    print("| --- | --- | --- | --- |")
    for p in arguments.powers:
        for name, X in samples.items():
            loss = "l1" if p == 1 else f"lp {p:g}"
            compare(f"{loss}, {name}", X, p, arguments.runs, arguments.limit)


if __name__ == "__main__":
    main()
