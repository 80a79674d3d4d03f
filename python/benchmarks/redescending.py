"""Measure fits with three rows of ten near another sheet: how far off the truth.

The truth is a saddle in three dimensions with noise of standard deviation 0.05; the
other sheet is the same, so far above it as the columns say. Every loss with a width
has the default times a factor. Printed is the mean distance of points of the true
sheet from the fit, in units of the noise, over fresh draws of 600 rows.

    python python/benchmarks/redescending.py --seed 1
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from scqm import SCQM

NOISE, ROWS, PART = 0.05, 600, 0.3
GAPS = [0.3, 0.5, 1.0]
PLAIN = ["l2"]
WIDE = ["huber", "tukey", "welsch", "geman_mcclure", "cauchy"]
FACTORS = [1.0, 0.5, 0.25]

Array = npt.NDArray[np.float64]


def rows(rng: np.random.Generator, gap: float) -> tuple[Array, Array]:
    """Return rows, and the points that they would be without noise and outliers."""
    a, b = rng.uniform(-1, 1, (2, ROWS))
    truth = np.column_stack([a, b, a**2 - b**2 / 2])
    X = truth + NOISE * rng.normal(size=truth.shape)
    X[: int(PART * ROWS), 2] += gap
    return X, truth


def off(X: Array, truth: Array, loss: Any, delta: float | None) -> tuple[float, float]:
    """Return the distance of the truth from a fit, in units of the noise, and delta."""
    model = SCQM(2, loss=loss, delta=delta).fit(X)
    distance = np.linalg.norm(model.project(truth) - truth, axis=1).mean() / NOISE
    return float(distance), float(getattr(model.loss_, "delta", np.nan))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=5)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    sums: dict[tuple[str, float, float], float] = {}
    for gap in GAPS:
        for draw in range(args.draws):
            X, truth = rows(np.random.default_rng([args.seed, draw]), gap)
            for loss in PLAIN + WIDE:
                distance, width = off(X, truth, loss, None)
                for factor in FACTORS if loss in WIDE else FACTORS[:1]:
                    if factor != 1:
                        distance = off(X, truth, loss, factor * width)[0]
                    key = loss, factor, gap
                    sums[key] = sums.get(key, 0) + distance / args.draws
    columns = " | ".join(f"{gap / NOISE:g} apart" for gap in GAPS)
    print(f"| loss | width | {columns} |")
    print("| --- | --- |" + " --- |" * len(GAPS))
    for loss, factor in dict.fromkeys(key[:2] for key in sums):
        cells = " | ".join(f"{sums[loss, factor, gap]:.2f}" for gap in GAPS)
        print(f"| `{loss}` | {'' if loss in PLAIN else f'{factor:g}'} | {cells} |")


if __name__ == "__main__":
    main()
