"""Error on hidden entries: SCQM beside the imputers of scikit-learn.

Of four real tables, standardised, a fifth of the entries is hidden at random, several
times. Printed is the root mean squared error on these, in standard deviations of their
columns, of ``SCQM(d, missing="ignore")``, IterativeImputer, KNNImputer and an iterative
principal component analysis of the same dimension, without and with regularisation.
The tables are small beside their noise, so that flat sheets with many components
serve best: d is the best of a few.

    python python/benchmarks/missing.py [--masks 4]
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import numpy.typing as npt
from sklearn import datasets
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401  (importing it allows IterativeImputer)
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.preprocessing import StandardScaler

import scqm

Array = npt.NDArray[np.float64]

TABLES = {
    "iris": (datasets.load_iris, 3),
    "wine": (datasets.load_wine, 8),
    "breast cancer": (datasets.load_breast_cancer, 16),
    "diabetes": (datasets.load_diabetes, 8),
}


def hide(X: Array, seed: int, part: float = 0.2) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Hide a part of the entries, but of no row all."""
    hidden = np.random.default_rng(seed).random(X.shape) < part
    hidden[hidden.all(axis=1)] = False
    return np.where(hidden, np.nan, X), hidden


def principal(Y: Array, d: int, regularised: bool, steps: int = 500) -> Array:
    """Complete by iterative principal component analysis."""
    missing = np.isnan(Y)
    Z = np.where(missing, np.nanmean(Y, axis=0), Y)
    for _ in range(steps):
        mean = Z.mean(axis=0)
        U, s, V = np.linalg.svd(Z - mean, full_matrices=False)
        factors = s[:d]
        if regularised and d < len(s):
            factors = factors - (s[d:] ** 2).mean() / factors
        last, Z = Z, np.where(missing, mean + (U[:, :d] * factors) @ V[:d], Y)
        if np.linalg.norm(Z - last) < 1e-6 * np.linalg.norm(Z):
            break
    return Z


def complete(Y: Array, d: int) -> Array:
    """Complete by a flat sheet."""
    model = scqm.SCQM(
        d, loss="squared_l2", linear=True, missing="ignore", tol=1e-4, max_iter=300
    )
    return model.fit(Y).impute(Y)


def errors(X: Array, d: int, masks: int) -> dict[str, float]:
    """Return the error of every method on hidden entries, over some masks."""
    X = StandardScaler().fit_transform(X)
    found: dict[str, list[float]] = {}
    for seed in range(masks):
        Y, hidden = hide(X, seed)
        for name, Z in {
            "scqm": complete(Y, d),
            "iterative imputer": IterativeImputer(
                max_iter=30, random_state=0
            ).fit_transform(Y),
            "nearest neighbours": KNNImputer().fit_transform(Y),
            "iterative PCA": principal(Y, d, False),
            "regularised PCA": principal(Y, d, True),
        }.items():
            error = float(np.sqrt(np.mean((Z - X)[hidden] ** 2)))
            found.setdefault(name, []).append(error)
    return {name: float(np.mean(values)) for name, values in found.items()}


def main() -> None:
    """Print a line for every table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--masks", type=int, default=4)
    masks = parser.parse_args().masks
    warnings.simplefilter("ignore", ConvergenceWarning)
    for table, (load, d) in TABLES.items():
        line = errors(load().data, d, masks)
        print(f"{table:14} d={d:2}", *(f"{k} {v:.4f}" for k, v in line.items()))


if __name__ == "__main__":
    main()
