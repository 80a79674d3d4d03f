"""Time from an interrupt (Ctrl-C) to its exception, for kinds of work that go on.

The aim is 0.2 s on a machine without other work.

    python python/benchmarks/interrupts.py
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from scqm import SCQM, ManifoldDenoiser

LONG: dict[str, Any] = {"max_iter": 10**8, "tol": 1e-300}
REPEATS = 20


def again(act: Callable[[], object]) -> Callable[[], None]:
    """Return work that repeats itself for ever."""

    def forever() -> None:
        while True:
            act()

    return forever


def kinds() -> dict[str, Callable[[], object]]:
    """Return the kinds of work, by name."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 60))
    wide = rng.normal(size=(400, 900))
    cloud = rng.normal(size=(4000, 3))
    fitted = SCQM(2, loss="l1", max_iter=2, tol=1.0).fit(rows)
    works: dict[str, Callable[[], object]] = {
        "fit, rgd": lambda: SCQM(2, loss="l1", solver="rgd", **LONG).fit(rows),
        "fit, lbfgs": lambda: SCQM(2, loss="l2", solver="lbfgs", **LONG).fit(rows),
        "fit, newton": lambda: SCQM(2, solver="newton", **LONG).fit(rows[:, :20]),
        "starts": lambda: SCQM(6, n_init=9, **LONG).fit(wide),
        "projection": lambda: fitted.project(rows),
        "denoising": lambda: ManifoldDenoiser(2).fit(cloud).transform(cloud),
        "NumPy alone": lambda: rows.sum(),
    }
    # On a fast machine any fit ends before some interrupt.
    return {name: again(act) for name, act in works.items()}


def delay(act: Callable[[], object], after: float) -> float:
    """Return the seconds between an interrupt and its exception."""
    sent = [0.0]

    def send() -> None:
        sent[0] = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    try:
        timer.start()
        act()
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    finally:
        timer.join()
    raise AssertionError("the work has ended before its interrupt")


def main() -> None:
    """Print the median and the longest delay of each kind of work."""
    for name, act in kinds().items():
        found = [delay(act, 0.01 + 0.02 * k) for k in range(REPEATS)]
        print(f"{name:12} median {np.median(found):.3f} s  longest {max(found):.3f} s")


if __name__ == "__main__":
    main()
