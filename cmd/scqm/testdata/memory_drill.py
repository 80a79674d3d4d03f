"""Fit, transform and load with little memory, and tell how it went.

The last line begins with "alive" where the interpreter outlived everything. Called
with a seed and a directory. Other libraries are imported first: what they do with
too little memory is not scqm's.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

try:
    import numpy as np
    import numpy.typing as npt
    import sklearn.base  # noqa: F401  (takes memory before scqm does)
except (ImportError, MemoryError, SystemError) as error:
    print(f"alive, without numpy: {type(error).__name__}")
    sys.exit()
try:
    import scqm
    from scqm import SCQM
except MemoryError as error:
    print(f"alive, without scqm: {error}")
    sys.exit()

SHAPES = [(20000, 10), (100000, 10), (300000, 10), (10000, 784), (200000, 50)]
SOLVERS: list[Any] = ["auto", "alternating", "newton", "lbfgs", "rgd"]
LOSSES: list[Any] = ["l2", "l1", "squared_l2"]


def rows(count: int, columns: int) -> npt.NDArray[np.float64]:
    """Return rows of noise near a plane."""
    x = np.random.default_rng(1).random((count, columns))
    x[:, :2] *= 10
    return x


def attempt(name: str, work: Callable[[], object]) -> bool:
    """Say whether something worked or there was no memory for it."""
    try:
        work()
    except MemoryError as error:
        print(f"{name}: {type(error).__name__}: {str(error)[:150]}")
        return False
    print(f"{name}: done")
    return True


class Drill:
    """Tries what needs much memory with a model that needed little."""

    def __init__(self, seed: int, place: Path) -> None:
        self.rng = random.Random(seed)
        self.path = place / "model.npz"
        self.model: SCQM | None = None

    def small(self) -> None:
        """Fit what needs little memory."""
        self.model = SCQM(2, max_iter=5).fit(rows(300, 10))

    def turn(self) -> None:
        """Try something by chance; without a model there is none to load."""
        count, columns = self.rng.choice(SHAPES)
        solver, loss = self.rng.choice(SOLVERS), self.rng.choice(LOSSES)
        wide, l1 = solver == "newton" and columns > 50, loss == "l1"
        if wide or (solver == "alternating" and l1):  # refused before memory counts
            solver = "auto"
        act, model = self.rng.randrange(4), self.model
        if act == 0 and model is not None:
            attempt(f"transform {count}", lambda: model.transform(rows(count, 10)))
        elif act == 1 and model is not None:
            model.save(self.path)
            attempt("load", partial(scqm.load, self.path))
        elif act == 2:
            name = f"mean {count} x {columns}"
            attempt(name, lambda: scqm.frechet_mean(rows(count, columns)))
        elif act != 1:
            fresh = SCQM(2, loss=loss, solver=solver, max_iter=2, time_limit=2)
            name = f"fit {count} x {columns} {solver} {loss}"
            attempt(name, lambda: fresh.fit(rows(count, columns)))


def main(seed: str, place: str) -> None:
    """Fit what is small, try four things, and fit what is small again."""
    warnings.simplefilter("ignore")
    drill = Drill(int(seed), Path(place))
    attempt("small fit", drill.small)
    for _ in range(4):
        drill.turn()
    again = attempt("small fit again", drill.small)
    print(f"alive, {'and fits' if again else 'with no memory even for a small fit'}")


main(*sys.argv[1:])
