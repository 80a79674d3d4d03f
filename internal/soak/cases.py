"""Cases of the drills in Python: cases.py MODE ARGUMENT..., in one interpreter.

Every case ends in a result or in an exception of Python that says why. That the
interpreter lives on is shown by its last line, "alive".
"""

from __future__ import annotations

import gc
import importlib
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import scqm

Array = npt.NDArray[np.float64]
Random = np.random.Generator
WORDLESS = ("KeyboardInterrupt", "MemoryError")


def bowl(rng: Random, rows: int, columns: int) -> Array:
    """Return rows near a paraboloid."""
    x = rng.uniform(-1, 1, (rows, 2))
    full = np.column_stack([x, (x**2).sum(axis=1)])
    noise = 0.02 * rng.normal(size=(rows, columns))
    return np.asarray(full[:, np.arange(columns) % 3] + noise)


def ended(error: BaseException | None) -> None:
    """Count how a case ended; an error must be one that says something."""
    name = "a result" if error is None else type(error).__name__
    print("happened:", name)
    if error is not None and not str(error) and name not in WORDLESS:
        raise SystemExit(f"an error without words: {error!r}")


def files(rng: Random, place: str) -> None:
    """Load a damaged model, which must not go well."""
    content = bytearray(Path(place, "model.npz").read_bytes())
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(content)))
        match int(rng.integers(4)):
            case 0:
                content[at] ^= 1 << int(rng.integers(8))
            case 1:
                del content[at:]
            case 2:
                content[at:at] = rng.bytes(8)
            case 3:
                del content[at : at + 16]
        if not content:
            break
    if content == Path(place, "model.npz").read_bytes():
        return  # one change undid another
    Path("hostile.npz").write_bytes(content)
    try:
        model = scqm.load("hostile.npz")
    except (scqm.exceptions.ScqmError, ValueError, OSError) as error:
        ended(error)
        return
    raise SystemExit(f"a damaged model was loaded: {model}")


def load_others() -> None:
    """Import what scqm imports of others.

    OpenBLAS tries for ever to get memory while it is loaded, and what others do
    with too little is not what is tried here.
    """
    for name in ("scipy.linalg", "scipy.special", "sklearn.base", "sklearn.metrics"):
        importlib.import_module(name)
    for name in ("sklearn.utils.validation", "sklearn.exceptions"):
        importlib.import_module(name)


def memory(rng: Random, _place: str) -> None:
    """Fit, transform and save with little memory."""
    load_others()
    if rng.integers(2):
        scqm.SCQM  # noqa: B018  (loads the library before the limit)
    rows = bowl(rng, int(rng.choice([1000, 20000, 200000])), 6)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    used = pages * os.sysconf("SC_PAGE_SIZE")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = used + int(rng.integers(1 << 20, 1 << 30))
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    error, finite = None, True
    try:
        model = scqm.SCQM(max_iter=2).fit(rows)
        finite = bool(np.isfinite(model.transform(rows)).all())
        model.save("model.npz")
        scqm.load("model.npz")
    except (MemoryError, scqm.exceptions.ScqmError, OSError, ImportError) as caught:
        error = caught
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    ended(error)
    if not finite:
        raise SystemExit("coordinates are not finite")
    scqm.SCQM(max_iter=2).fit(rows[:100])  # the library still works


def interrupts(rng: Random, _place: str) -> None:
    """Interrupt a fit at a random moment, and fit again."""
    rows = bowl(rng, 3000, 6)
    scqm.SCQM(max_iter=2).fit(rows)  # all that is imported late is there
    moment, own = float(rng.uniform(0, 0.3)), os.getpid()
    timer = threading.Timer(moment, os.kill, (own, signal.SIGINT))
    error = None
    try:
        timer.start()
        scqm.SCQM(max_iter=10**8, tol=1e-300, solver="rgd").fit(rows)
        while True:  # it ended early, and the interrupt is still to come
            time.sleep(0.01)
    except KeyboardInterrupt as caught:
        error = caught
    timer.join()
    ended(error)
    scqm.SCQM(max_iter=2).fit(rows)


class ThrownError(Exception):
    """What functions raise; it holds something that would be missed."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.held = np.zeros(10_000)


KINDS = (
    ThrownError,
    KeyboardInterrupt,
    SystemExit,
    MemoryError,
    ValueError,
    StopIteration,
)


def throwing(rng: Random) -> None:
    """Minimise, and have one of the functions raise, at random or never."""
    known = scqm.manifolds
    domain: Any = [
        known.Sphere(5),
        known.Stiefel(6, 2),
        known.Euclidean(20_000),
        known.SPD(3),
        {"R": known.Rotations(3, copies=3), "t": known.Euclidean(2)},
        known.FixedRank(6, 5, 2),
    ][int(rng.integers(6))]
    blocks = domain if isinstance(domain, dict) else {"x": domain}
    aims = {name: m.random_point(rng) for name, m in blocks.items()}
    start = {name: m.random_point(rng) for name, m in blocks.items()}
    at, calls, stopped = int(rng.integers(1, 60)), [0], [False]
    kind = KINDS[int(rng.integers(len(KINDS)))]
    nested = bool(rng.random() < 0.05)

    def step() -> None:
        calls[0] += 1
        if calls[0] == at:
            if nested:
                throwing(rng)
            raise kind("thrown")

    def mapped(f: Callable[..., Any], *points: Any) -> Any:
        if isinstance(points[0], dict):
            return {k: mapped(f, *(p[k] for p in points)) for k in points[0]}
        if isinstance(points[0], tuple):
            return tuple(mapped(f, *parts) for parts in zip(*points, strict=True))
        return f(*points)

    aim = aims if isinstance(domain, dict) else aims["x"]

    def cost(x: Any) -> float:
        step()
        parts: list[float] = []
        mapped(lambda a, b: parts.append(float(np.sum((a - b) ** 2))), x, aim)
        return sum(parts)

    def gradient(x: Any) -> Any:
        step()
        return mapped(lambda a, b: 2 * (a - b), x, aim)

    def hessian(_x: Any, v: Any) -> Any:
        step()
        return mapped(lambda a: 2 * a, v)

    def callback(_: Any) -> None:
        try:
            step()
        except StopIteration:
            stopped[0] = True
            raise

    names: Any = ("auto", "rgd", "cg", "lbfgs", "trust_region")
    solver = names[int(rng.integers(5))]
    error = None
    try:
        scqm.optimize.minimize(
            cost,
            start if isinstance(domain, dict) else start["x"],
            manifold=domain,
            gradient=gradient,
            hessian=hessian,
            solver=solver,
            max_iter=40,
            callback=callback,
        )
    except BaseException as caught:
        error = caught
        if type(caught) is not kind or str(caught) != "thrown" or calls[0] < at:
            raise SystemExit(f"{caught!r} in place of {kind}") from caught
    else:
        if calls[0] >= at and not stopped[0]:
            raise SystemExit(f"{kind} was lost")
    ended(error)


def usage() -> dict[str, int]:
    """Return what runs may have left behind."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return {
        "MiB": pages * os.sysconf("SC_PAGE_SIZE") >> 20,
        "objects": len(gc.get_objects()),
        "exceptions": sum(isinstance(o, ThrownError) for o in gc.get_objects()),
        "files": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
    }


# What the runs of a process may add: one array of each would be 80 MiB and more.
ALLOWED = {"MiB": 32, "objects": 100, "exceptions": 0, "files": 0, "threads": 4}
BEFORE: dict[str, int] = {}


def exceptions(rng: Random, _place: str) -> None:
    """Throw exceptions in a run, after some in which everything is made once."""
    if not BEFORE:
        for seed in range(50):
            throwing(np.random.default_rng(seed))
        BEFORE.update(usage())
    throwing(rng)


def left() -> None:
    """Find what the runs of this process have left behind."""
    if not BEFORE:
        return
    after = usage()
    for name, most in ALLOWED.items():
        if after[name] > BEFORE[name] + most:
            raise SystemExit(f"{name}: {BEFORE[name]} before, {after[name]} after")


MODES: dict[str, Callable[[Random, str], None]] = {
    "files": files,
    "memory": memory,
    "interrupts": interrupts,
    "exceptions": exceptions,
}


def save(source: str, forever: bool) -> None:
    """Save a model once, or until somebody kills this process."""
    model = scqm.load(source)
    model.save("saved.npz")
    Path("ready").touch()
    while forever:
        model.save("saved.npz")


def main(mode: str, *arguments: str) -> None:
    """Try the cases of a mode."""
    if mode in ("save", "saves"):
        save(arguments[0], forever=mode == "saves")
    else:
        seed, first, count, place = arguments
        for index in range(int(first), int(first) + int(count)):
            print(f"case {index}", flush=True)
            MODES[mode](np.random.default_rng([int(seed), index]), place)
        left()
    print("alive")


main(*sys.argv[1:])
