"""Real tables: those that scikit-learn ships, and CSV files of a folder."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn import datasets

Array = npt.NDArray[np.float64]


def patches(name: str) -> Array:
    """Return 400 patches of 4 x 4 gray pixels of a picture of scikit-learn."""
    gray = datasets.load_sample_image(name).astype(np.float64).mean(axis=2)
    rng = np.random.default_rng(0)
    top = rng.integers(0, gray.shape[0] - 4, 400)
    left = rng.integers(0, gray.shape[1] - 4, 400)
    return np.array(
        [gray[i : i + 4, j : j + 4].ravel() for i, j in zip(top, left, strict=True)]
    )


def linnerud() -> Array:
    """Return the exercises and the measures of twenty men."""
    both = datasets.load_linnerud()
    return np.column_stack([both.data, both.target])


def shipped() -> dict[str, Callable[[], Array]]:
    """Return the tables of scikit-learn by name."""
    return {
        "iris": lambda: np.asarray(datasets.load_iris().data),
        "wine": lambda: np.asarray(datasets.load_wine().data),
        "cancer": lambda: np.asarray(datasets.load_breast_cancer().data),
        "diabetes": lambda: np.asarray(datasets.load_diabetes().data),
        "linnerud": linnerud,
        "digits": lambda: np.asarray(datasets.load_digits().data),
        "china": lambda: patches("china.jpg"),
        "flower": lambda: patches("flower.jpg"),
    }


def read_table(path: Path) -> Array:
    """Return the numbers of a CSV file with a header."""
    with path.open(newline="") as file:
        lines = list(csv.reader(file))[1:]
    return np.array(lines, dtype=np.float64)


def tables(folder: str | None) -> dict[str, Callable[[], Array]]:
    """Return functions that load tables, by name."""
    found = shipped()
    for path in sorted(Path(folder).glob("*.csv")) if folder else []:
        found[path.stem] = partial(read_table, path)
    return found
