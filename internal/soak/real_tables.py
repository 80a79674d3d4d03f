"""Default fits of real tables, judged by rows held out: real_tables.py [OPTION]...

Tables are those of scikit-learn, which need no network, with patches of its two
pictures. Each is split 70/30, eight times; columns are standardised by the rows to
learn from. A case is a table, a loss, a dimension and a split. A fit that says
converged and whose influence is refused, or whose numbers are not finite, ends the
program; how fits end and how often a flat sheet predicts better is printed.

The measure is R2 of rows held out, in the measure of the loss itself:
1 - sum loss(x - projection) / sum loss(x - center), the center being the mean of the
loss of the rows to learn from.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import datasets

import scqm

Array = npt.NDArray[np.float64]
Case = tuple[str, str, int, int]  # table, loss, dimension, split

LOSSES: dict[str, Callable[[Array], Array]] = {
    "squared_l2": lambda r: (r**2).sum(axis=1),
    "l2": lambda r: np.sqrt((r**2).sum(axis=1)),
    "l1": lambda r: np.abs(r).sum(axis=1),
}
SPLITS = 8
WORSE = 0.01  # how far below linear a fit may be


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


TABLES: dict[str, Callable[[], Array]] = {
    "iris": lambda: np.asarray(datasets.load_iris().data),
    "wine": lambda: np.asarray(datasets.load_wine().data),
    "cancer": lambda: np.asarray(datasets.load_breast_cancer().data),
    "diabetes": lambda: np.asarray(datasets.load_diabetes().data),
    "linnerud": linnerud,
    "digits": lambda: np.asarray(datasets.load_digits().data),
    "china": lambda: patches("china.jpg"),
    "flower": lambda: patches("flower.jpg"),
}


def split(x: Array, seed: int) -> tuple[Array, Array]:
    """Return standardised rows to learn from, 70 %, and rows held out."""
    order = np.random.default_rng(seed).permutation(len(x))
    count = round(0.7 * len(x))
    train, test = x[order[:count]], x[order[count:]]
    scale = train.std(axis=0)
    varied = scale > 1e-12 * np.abs(train).max(axis=0)
    center = train.mean(axis=0)[varied]
    return (
        (train[:, varied] - center) / scale[varied],
        (test[:, varied] - center) / scale[varied],
    )


def quality(model: scqm.SCQM, test: Array, center: Array) -> float:
    """Return R2 of rows held out by the loss of the model."""
    loss = LOSSES[str(model.loss)]
    return float(1 - loss(test - model.project(test)).sum() / loss(test - center).sum())


def fitted(train: Array, **how: Any) -> scqm.SCQM:
    """Return a model fitted with one thread."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return scqm.SCQM(n_threads=1, **how).fit(train)


def influence_refused(model: scqm.SCQM, train: Array) -> str:
    """Say why the influence of rows is refused, if it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.influence(train)
    except (scqm.exceptions.ScqmError, ValueError) as error:
        return str(error)
    return ""


def cases(names: list[str], losses: list[str], dims: list[str]) -> Iterator[Case]:
    """Return the cases, split by split so that a part of them has all tables."""
    return (
        (name, loss, int(d), s)
        for s in range(SPLITS)
        for name in names
        for loss in losses
        for d in dims
    )


def judge(case: Case) -> None:
    """Fit a case, flat and curved; false verdicts end the program."""
    name, loss, d, s = case
    train, test = split(TABLES[name](), s)
    how: dict[str, Any] = {"n_components": d, "loss": loss}
    center = scqm.frechet_mean(train, loss=how["loss"], n_threads=1).mean
    flat = quality(fitted(train, linear=True, **how), test, center)
    model = fitted(train, **how)
    curved = quality(model, test, center)
    if model.status_ == "converged" and (why := influence_refused(model, train)):
        raise SystemExit(f"converged, but influence says {why}: {case}")
    if not math.isfinite(curved) or not math.isfinite(
        model.objective_ + model.penalty_
    ):
        raise SystemExit(f"numbers that are not finite: {case}")
    print("happened:", model.status_)
    if curved < flat - WORSE:
        print("happened: held-out R2 more than .01 below that of a flat sheet")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Default fits of real tables")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--losses", default=",".join(LOSSES))
    parser.add_argument("--dims", default="1,2,3")
    parser.add_argument("--first", type=int, default=0, help="first case")
    parser.add_argument("--count", type=int, default=10, help="number of cases")
    options = parser.parse_args()
    chosen = [o.split(",") for o in (options.tables, options.losses, options.dims)]
    for case in islice(cases(*chosen), options.first, options.first + options.count):
        judge(case)
    print("alive")


if __name__ == "__main__":
    main()
