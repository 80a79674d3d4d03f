"""Signals, forks, threads and memory: what kills interpreters.

Interrupts are heard soon, nothing is read after it was freed, a fork is an error and
not a hang, and threads do not change a bit.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from interrupting import HANGS, forever, interrupted
from sklearn.exceptions import ConvergenceWarning

import scqm
from scqm import SCQM, ManifoldDenoiser
from scqm._model import fetched
from scqm._validation import check_threads
from scqm.datasets import make_arc

Array = npt.NDArray[np.float64]


LONG: dict[str, Any] = {"max_iter": 10**8, "tol": 1e-300}


def squared(R: Array) -> Any:
    return (R**2).sum(axis=1), 2 * R


class Descent(scqm.solvers.Solver):
    """A solver that never ends."""

    def minimize(self, problem: Any, x0: Any) -> Any:
        while True:
            problem.cost(x0)


def kinds() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 60))
    wide = rng.normal(size=(400, 900))
    cloud = rng.normal(size=(4000, 3))
    fitted = SCQM(2, loss="l1", max_iter=2, tol=1.0).fit(X)

    works: dict[str, Any] = {
        "rgd": lambda: SCQM(2, loss="l1", solver="rgd", **LONG).fit(X),
        "lbfgs": lambda: SCQM(2, loss="l2", solver="lbfgs", **LONG).fit(X),
        "alternating": lambda: SCQM(2, loss="l2", solver="alternating", **LONG).fit(X),
        "newton": lambda: SCQM(2, solver="newton", **LONG).fit(X[:, :20]),
        "starts": lambda: SCQM(6, n_init=9, **LONG).fit(wide),
        "small fits": lambda: SCQM(1, max_iter=20, tol=1.0).fit(cloud[:20]),
        "loss": lambda: SCQM(2, loss=squared, solver="rgd", **LONG).fit(X),
        "solver": lambda: SCQM(2, solver=Descent()).fit(X),
        "projection": lambda: fitted.project(X),
        "denoising": lambda: ManifoldDenoiser(2).fit(cloud).transform(cloud),
    }
    return {kind: forever(act) for kind, act in works.items()}


def strike() -> None:
    """Interrupt each kind of work twice, and go on."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    lost = []
    for k, (kind, act) in enumerate(2 * list(kinds().items())):
        if interrupted(act, 0.01 + 0.02 * k) >= HANGS:
            lost.append(kind)
    assert not lost, lost
    # The interpreter and the library go on.
    assert SCQM(1).fit(make_arc(30, random_state=0)[0]).n_iter_ > 0


def test_interrupts() -> None:
    """20 of 20 end, wherever the interrupt strikes, where the work never would.

    In a process of their own: Python loses what strikes within callbacks of its
    collector and of weak references, and other libraries of these tests have some.
    """
    run = subprocess.run(
        [sys.executable, __file__], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


def test_interrupted_fits_leave_nothing() -> None:
    X = np.random.default_rng(0).normal(size=(8000, 60))
    # Of the first, half a minute on the fastest machine; the second never ends.
    for m in SCQM(2, loss="l1", solver="rgd", **LONG), SCQM(2, solver=Descent()):
        interrupted(partial(m.fit, X), 0.1)
        assert not hasattr(m, "components_")
        assert not hasattr(m, "embedding_")


def test_jobs_end() -> None:
    """Nothing is left of interrupted fits."""
    deadline = time.monotonic() + 20
    while scqm._native._jobs and time.monotonic() < deadline:
        for job in tuple(scqm._native._jobs):
            job._release()
        time.sleep(0.01)
    assert not scqm._native._jobs


def run(program: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


HEAD = """
import os, signal, sys, threading, time
import numpy as np, scqm
X = np.random.default_rng(0).normal(size=(300, 5))
"""


def test_fork_after_import_is_an_error_not_a_hang() -> None:
    done = run(
        HEAD
        + """
scqm.SCQM(2).fit(X)
pid = os.fork()
if pid == 0:
    try:
        scqm.SCQM(2).fit(X)
    except RuntimeError as error:
        print(type(error).__name__, error, flush=True)
        os._exit(7)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    )
    assert done.returncode == 0, done.stderr
    assert "ForkError this process was forked after scqm was imported" in done.stdout
    assert done.stdout.split()[-1] == "7"


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_start_methods_work(method: str) -> None:
    done = run(
        f"""
import multiprocessing, numpy as np, scqm
from functools import partial
if __name__ == "__main__":
    X = np.random.default_rng(0).normal(size=(40, 3))
    with multiprocessing.get_context({method!r}).Pool(1) as pool:
        fits = pool.map(scqm.SCQM(2, max_iter=20).fit, [X, X])
    print((fits[0].embedding_ == fits[1].embedding_).all())
"""
    )
    assert done.stdout.strip() == "True", done.stderr


def test_exit_with_a_job_running() -> None:
    begin = time.monotonic()
    done = run(
        HEAD
        + """
def fit():
    scqm.SCQM(2, loss="l1", max_iter=10**8, tol=1e-300).fit(np.tile(X, (50, 4)) + np.arange(20))
threading.Thread(target=fit, daemon=True).start()
time.sleep(0.3)
print("bye")
"""
    )
    assert (done.returncode, done.stdout) == (0, "bye\n"), done.stderr
    assert time.monotonic() - begin < 30


def test_a_fault_of_the_library_is_an_exception() -> None:
    """A nil address with a length ends the call, not the interpreter."""
    done = run(
        HEAD
        + """
from scqm import _core
for x in (8, 2**47 - 8):
    try:
        _core.bindings_Start(x, "fit", '{"parameters":{"n_components":1},"solver":"auto","loss":{"name":"l2"}}', '{"x":[%d,8,3,3]}' % x)
        while _core.bindings_Wait(x, 50, 0) != 1:
            pass
    except RuntimeError as error:
        print(str(error).splitlines()[0])
print(scqm.SCQM(2).fit(X).status_ != "")
"""
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("panic: fit: ")
    assert lines[-1] == "True"


@pytest.mark.parametrize(
    ("setting", "threads"), [("2,1", 2), (" 3 ", 3), ("", 0), ("many", 0)]
)
def test_openmp_sets_threads(
    setting: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list is for nested regions: its first number counts."""
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    assert check_threads(None) == threads


def test_threads_give_equal_bits() -> None:
    """8 threads of 200 fits."""
    X = make_arc(30, random_state=0)[0]
    settings: dict[str, Any] = {
        "loss": "squared_l2",
        "n_threads": 1,
        "max_iter": 2,
        "tol": 1.0,
    }
    want = SCQM(1, **settings).fit(X).embedding_

    def fits(_: int) -> bool:
        return all(
            np.array_equal(SCQM(1, **settings).fit(X).embedding_, want)
            for _ in range(200)
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(fits, range(8)))


def resident() -> int:
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_grow() -> None:
    """10,000 fits and 10,000 errors.

    What leaks grows in every part; heaps of Go and Python grow and shrink by
    tens of megabytes now and then.
    """
    X = make_arc(20, random_state=0)[0]
    loss = scqm.losses.SquaredL2()
    m = SCQM(1, loss=loss, n_threads=1, max_iter=1, tol=1.0, solver="rgd")
    settings = m._settings() | {"loss": loss._choice()}
    bad = X.copy()
    bad[1, 1] = np.nan

    def fits(n: int) -> None:
        # What fit does, without the checks of scikit-learn.
        for _ in range(n):
            m._take(*fetched(*m._run(settings, loss, X, None)), loss)
            with pytest.raises(
                scqm.exceptions.InputError, match="row 1, column 1 is NaN"
            ):
                m._run(settings, loss, bad, None)

    fits(1000)
    sizes = [resident()]
    for _ in range(4):
        fits(2500)
        sizes.append(resident())
    assert np.diff(sizes).min() < 5e6


FEW = """
import resource
import numpy, scipy.linalg, sklearn.base  # which need descriptors themselves
import scqm
ceiling = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
for limit in range(4, 16):
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, ceiling))
    try:
        scqm.SCQM(max_iter=2).fit(numpy.eye(9, 3))
    except OSError as error:
        print(error)
    print("alive with", limit)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_few_descriptors_are_told_of() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FEW],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.endswith("alive with 15\n"), run.stderr
    assert "may not open 8 more files" in run.stdout


if __name__ == "__main__":
    strike()
