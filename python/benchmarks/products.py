"""Measure what SciPy's matrix product saves: the same fits with and without it.

Each fit runs on one thread, in turn with either product, and the least processor
time of several runs counts: it hardly depends on what else the machine does.

    python python/benchmarks/products.py
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings

import numpy as np
import numpy.typing as npt

from scqm import SCQM, blas
from scqm.losses._loss import LossName

# Rows, columns, components, loss, iterations.
CASES: list[tuple[int, int, int, LossName, int]] = [
    (100, 784, 2, "l2", 60),
    (1000, 784, 2, "l2", 30),
    (5000, 784, 2, "l2", 30),
    (1000, 784, 6, "l2", 30),
    (1000, 784, 2, "l1", 30),
    (20000, 50, 2, "l2", 30),
]


def sheet(n: int, D: int, d: int) -> npt.NDArray[np.float64]:
    """Return noisy rows of a curved sheet."""
    rng = np.random.default_rng(0)
    T = rng.normal(size=(n, d))
    i, j = np.triu_indices(d)
    Z = np.hstack([T, 0.3 * T[:, i] * T[:, j]])
    X: npt.NDArray[np.float64] = Z @ rng.normal(size=(Z.shape[1], D))
    return X + 0.1 * rng.normal(size=X.shape)


def measure() -> list[tuple[float, float]]:
    """Return processor seconds and objective of each case, with this product."""
    results = []
    for n, D, d, loss, iterations in CASES:
        X = sheet(n, D, d)
        m = SCQM(d, loss=loss, max_iter=iterations, tol=1e-300, n_threads=1)
        begin = time.process_time()
        m.fit(X)
        results.append((time.process_time() - begin, m.objective_))
    return results


def compare(runs: int) -> None:
    """Print a table of the cases."""
    seconds = {name: np.full(len(CASES), np.inf) for name in ("gonum", "scipy")}
    objectives = dict.fromkeys(seconds, np.zeros(len(CASES)))
    for _ in range(runs):
        for name, least in seconds.items():
            done = subprocess.run(
                [sys.executable, __file__, "--one"],
                env=os.environ | {"SCQM_BLAS": name},
                capture_output=True,
                text=True,
                check=True,
            )
            used, results = json.loads(done.stdout)
            if used != name:
                raise SystemExit("SciPy has no OpenBLAS here")
            np.minimum(least, [s for s, _ in results], out=least)
            objectives[name] = np.array([f for _, f in results])
    gap = np.abs(objectives["scipy"] / objectives["gonum"] - 1)
    print("| fit | loss | gonum, s | SciPy, s | ratio | objectives differ by |")
    print("| --- | --- | --- | --- | --- | --- |")
    for k, (n, D, d, loss, iterations) in enumerate(CASES):
        a, b = seconds["gonum"][k], seconds["scipy"][k]
        print(
            f"| {n} x {D}, d = {d}, {iterations} iterations | {loss} "
            f"| {a:.3f} | {b:.3f} | {a / b:.2f} | {gap[k]:.0e} |"
        )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.one:
        warnings.simplefilter("ignore")
        print(json.dumps([blas(), measure()]))
    else:
        compare(given.runs)
