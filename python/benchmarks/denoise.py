"""Compare scqm.ManifoldDenoiser with straightforward implementations.

Local principal components and moving least squares are written below in NumPy on
the neighbour search of scikit-learn, one row at a time, and local principal
components for all rows at once besides. The rows are those of a noisy sphere; the
program says how far the results are apart. All use one thread. The best of some
repeats counts:

    python python/benchmarks/denoise.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from sklearn.neighbors import NearestNeighbors

from scqm import ManifoldDenoiser
from scqm.datasets import make_sphere

Array = npt.NDArray[np.float64]
Denoise = Callable[[Array, Array], Array]
LATENT, NEIGHBORS = 2, 30


def neighbourhoods(X: Array, Y: Array) -> Array:
    """Return the nearest rows of X to those of Y, (m, K, D)."""
    search = NearestNeighbors(n_neighbors=NEIGHBORS).fit(X)
    near: Array = X[search.kneighbors(Y, return_distance=False)]
    return near


def lpca(X: Array, Y: Array) -> Array:
    """Project on the principal components of the neighbours."""
    out = np.empty_like(Y)
    for i, near in enumerate(neighbourhoods(X, Y)):
        mean = near.mean(axis=0)
        axes = np.linalg.svd(near - mean, full_matrices=False)[2][:LATENT]
        out[i] = mean + (Y[i] - mean) @ axes.T @ axes
    return out


def lpca_at_once(X: Array, Y: Array) -> Array:
    """Do the same with one call for all rows."""
    near = neighbourhoods(X, Y)
    mean = near.mean(axis=1)
    axes = np.linalg.svd(near - mean[:, None], full_matrices=False)[2][:, :LATENT]
    t = np.einsum("ikj,ij->ik", axes, Y - mean)
    out: Array = mean + np.einsum("ikj,ik->ij", axes, t)
    return out


def mls(X: Array, Y: Array) -> Array:
    """Project by moving least squares of degree 2 with equal weights."""
    out = np.empty_like(Y)
    for i, near in enumerate(neighbourhoods(X, Y)):
        centred = near - near.mean(axis=0)
        U = np.linalg.svd(centred, full_matrices=False)[2][:LATENT].T
        q = Y[i].copy()
        scale = np.linalg.norm(near - q, axis=1).max()
        for _ in range(100):
            v = near - q
            A = np.column_stack([np.ones(NEIGHBORS), v @ U])
            coefficients = np.linalg.lstsq(A, v, rcond=None)[0]
            U = np.linalg.qr(coefficients[1:].T)[0]
            foot = q + coefficients[0]
            foot += U @ (U.T @ (Y[i] - foot))
            moved = np.linalg.norm(foot - q)
            q = foot
            if moved <= 1e-10 * scale:
                break
        v = near - q
        t = v @ U
        A = np.column_stack(
            [np.ones(NEIGHBORS), t, t[:, 0] ** 2, t[:, 0] * t[:, 1], t[:, 1] ** 2]
        )
        out[i] = q + np.linalg.lstsq(A, v, rcond=None)[0][0]
    return out


CONTENDERS: dict[str, tuple[dict[str, object], dict[str, Denoise]]] = {
    "lpca": ({}, {"NumPy, by row": lpca, "NumPy, at once": lpca_at_once}),
    "mls": ({"flat_weights": True}, {"NumPy, by row": mls}),
}


def best(run: Denoise, X: Array, Y: Array, repeats: int) -> tuple[float, Array]:
    """Return the least seconds, and the result."""
    seconds, result = np.inf, np.empty(0)
    for _ in range(repeats):
        begin = time.perf_counter()
        result = run(X, Y)
        seconds = min(seconds, time.perf_counter() - begin)
    return seconds, result


def compare(name: str, X: Array, Y: Array, repeats: int) -> None:
    """Print rows per second of a method."""
    params, others = CONTENDERS[name]

    def ours(X: Array, Y: Array) -> Array:
        denoiser = ManifoldDenoiser(
            LATENT,
            NEIGHBORS,
            name,
            n_threads=1,
            # Settings of several types under names that the contender chose.
            **params,  # type: ignore[arg-type]
        )
        return denoiser.fit(X).transform(Y)

    seconds, rows = best(ours, X, Y, repeats)
    print(f"{len(X):7} {name:6} {'scqm':16} {len(Y) / seconds:9.0f}")
    for label, run in others.items():
        other, theirs = best(run, X, Y, max(1, repeats // 2))
        apart = np.abs(theirs - rows).max()
        print(
            f"{len(X):7} {name:6} {label:16} {len(Y) / other:9.0f} "
            f"{other / seconds:8.1f}x  {apart:.1e}"
        )


def main() -> None:
    """Print rows per second."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 10000, 100000])
    parser.add_argument("--queries", type=int, default=1000, help="rows denoised")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{'n':>7} {'method':6} {'':16} {'rows/s':>9} {'scqm is':>9}  apart")
    for n in options.rows:
        X, _ = make_sphere(n, noise=0.03, random_state=0)
        for name in CONTENDERS:
            compare(name, X, X[: options.queries].copy(), options.repeats)


if __name__ == "__main__":
    main()
