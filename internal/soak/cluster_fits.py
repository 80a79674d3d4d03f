"""Fit on clusters of Dask whose workers and schedulers die, and compare the bits.

A case is a loss with a number of workers and all cuts into chunks; a loss whose
fit loses a worker in every read; or a loss whose scheduler is killed
in the middle, and which goes on from its checkpoint. What comes out must have the bits
of a fit in one process. Prints a line for every case, and "alive" at the end.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
from distributed import Client, LocalCluster

import scqm
from scqm.dask import SCQM, _estimator
from scqm.dask._tasks import add_up

BLOCK = 1024
BLOCKS = 20
LOSSES = ("l2", "huber", "squared_l2", "l1")
WORKERS = (1, 2, 3)
PARTITIONS = (1, 2, 3, 7, 20)
# Dask gives tasks up whose workers died three times, and chunks wait behind sums. A
# local cluster looks 15 s after a death whether there is a worker of that name, and
# gives the place up for good where a later death just leaves none.
PATIENT = {
    "distributed.scheduler.allowed-failures": 1000,
    "distributed.deploy.lost-worker-timeout": "1 day",
}
Array = npt.NDArray[np.float64]


def sheet(n: int) -> Array:
    """Return rows near a curved sheet, some of them far off."""
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, (n, 2))
    bends = [t[:, 0] ** 2, t[:, 0] * t[:, 1], t[:, 1] ** 2]
    wide = rng.choice([1, 10], (n, 1), p=[0.98, 0.02])
    noise = rng.normal(scale=0.05, size=(n, 5)) * wide
    table: Array = np.column_stack([t, *bends]) + noise
    return table


def settings(loss: str) -> dict[str, Any]:
    """Return those of a short fit."""
    return {"loss": loss, "max_iter": 3 if loss == "l1" else 6}


def bits(model: scqm.SCQM) -> bytes:
    """Return what a fit has learned."""
    arrays = (
        model.offset_,
        model.components_,
        model.curvature_components_,
        model.theta_,
    )
    return b"".join(a.tobytes() for a in arrays)


def rows(table: Array, partitions: int) -> da.Array:
    """Return rows in so many chunks of whole blocks."""
    cuts = [BLOCK * (BLOCKS * k // partitions) for k in range(1, partitions)]
    sizes = np.diff([0, *cuts, len(table)])
    return da.from_array(table, chunks=(tuple(map(int, sizes)), table.shape[1]))


@contextmanager
def cluster(workers: int) -> Iterator[Client]:
    """Start workers that are processes of one thread."""
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None
        ) as local,
        Client(local) as client,
    ):
        yield client


class Dying:
    """Sums of chunks whose worker is killed once for each read.

    Parameters
    ----------
    folder : Path
        Where a file says that the kill of a read has been.
    read : int
        The number of the read. Workers die before sums or after, in turn; in every
        third read one is killed from outside, wherever it is.
    """

    def __init__(self, folder: Path, read: int) -> None:
        self.mark = folder / str(read)
        self.read = read

    def __call__(self, *given: Any) -> Any:
        """Sum, or die."""
        if self.read % 3 == 0:
            return add_up(*given)
        try:
            self.mark.touch(exist_ok=False)
        except FileExistsError:
            return add_up(*given)
        if self.read % 3 == 1:
            add_up(*given)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("a process goes on after SIGKILL")


def killing(folder: Path) -> type[_estimator.Parts]:
    """Return the map of a fit that loses a worker in every read."""
    reads = itertools.count(1)

    class Killing(_estimator.Parts):
        def __call__(self, function: Any) -> Iterator[bytes]:
            read = next(reads)
            vars(_estimator)["add_up"] = Dying(folder, read)
            if read % 3 == 0:
                kill_a_worker(self.client)
                (folder / str(read)).touch()
            yield from super().__call__(function)

    return Killing


def hooked(at: int, deed: Any) -> type[_estimator.Parts]:
    """Return the map of a fit, which does something in read number ``at``."""
    reads = itertools.count(1)

    class Hooked(_estimator.Parts):
        def __call__(self, function: Any) -> Iterator[bytes]:
            if next(reads) == at:
                deed(self.client)
            yield from super().__call__(function)

    return Hooked


def kill_a_worker(client: Client) -> None:
    """Kill the worker that is first in the list, while sums are under way."""
    pids = list(client.run(os.getpid).values())
    client.loop.call_later(0.01, os.kill, pids[0], signal.SIGKILL)


def try_cuts(table: Array, loss: str, workers: int) -> str:
    """Fit with all cuts."""
    want = bits(scqm.SCQM(2, solver="streaming", **settings(loss)).fit(table))
    with cluster(workers):
        for partitions in PARTITIONS:
            model = SCQM(2, **settings(loss)).fit(rows(table, partitions))
            assert bits(model) == want, (loss, workers, partitions)
    return f"{len(PARTITIONS)} cuts"


def try_kills(table: Array, loss: str) -> str:
    """Lose a worker in every read of a fit."""
    whole = scqm.SCQM(2, solver="streaming", **settings(loss)).fit(table)
    parts = _estimator.Parts
    with (
        dask.config.set(PATIENT),
        tempfile.TemporaryDirectory() as name,
        cluster(2) as client,
    ):
        before = set(client.run(os.getpid).values())
        # A class in the place of another, here and below, which mypy minds.
        _estimator.Parts = killing(Path(name))  # type: ignore[misc] # a class for another
        try:
            model = SCQM(2, **settings(loss)).fit(rows(table, 7))
        finally:
            _estimator.Parts = parts  # type: ignore[misc] # the class again
            vars(_estimator)["add_up"] = add_up
        kills = len(list(Path(name).iterdir()))
        client.wait_for_workers(2, timeout=120)
        after = set(client.run(os.getpid).values())
    assert bits(model) == bits(whole), loss
    assert kills == model.n_reads_, (loss, kills, model.n_reads_)
    assert not before & after, "workers that were killed are alive"
    return f"{kills} kills"


def try_frames(table: Array) -> str:
    """Fit data frames, whose partitions have unknown sizes."""
    import dask.dataframe
    import pandas

    frame = pandas.DataFrame(table, columns=list("abcde"))
    whole = scqm.SCQM(2, solver="streaming", **settings("l2")).fit(table)
    with cluster(2):
        lazy = dask.dataframe.from_pandas(frame, npartitions=3)
        model = SCQM(2, **settings("l2")).fit(lazy)
        assert bits(model) == bits(whole)
        assert list(model.feature_names_in_) == list("abcde")
        coordinates = model.transform(lazy).compute()
    assert np.array_equal(coordinates, whole.transform(table))
    return "3 partitions"


@contextmanager
def processes(folder: Path, workers: int) -> Iterator[tuple[Client, int]]:
    """Start a scheduler and workers as programs; yield a client and the scheduler."""
    file = folder / f"scheduler-{time.monotonic_ns()}.json"
    command = [sys.executable, "-m"]
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    local = ["--no-dashboard", "--scheduler-file", str(file)]
    command += ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    scheduler = subprocess.Popen(command + local, **quiet)
    command[2:] = ["distributed.cli.dask_worker", "--nworkers", str(workers)]
    command += ["--nthreads", "1", "--death-timeout", "60"]
    crew = subprocess.Popen(command + local, **quiet)
    try:
        with Client(scheduler_file=str(file)) as client:
            client.wait_for_workers(workers)
            yield client, scheduler.pid
    finally:
        for process in (crew, scheduler):
            process.terminate()
            process.wait(60)


def try_restart(table: Array, loss: str) -> str:
    """Kill the scheduler in the middle, and go on with another from the checkpoint."""
    whole = scqm.SCQM(2, solver="streaming", **settings(loss)).fit(table)
    parts = _estimator.Parts
    failure = ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        given = settings(loss) | {"checkpoint": folder / "fit.ckpt"}
        with processes(folder, 2) as (_, pid):
            # As above: a class in the place of another.
            fatal = hooked(9, lambda _: os.kill(pid, signal.SIGKILL))
            _estimator.Parts = fatal  # type: ignore[misc] # a class for another
            try:
                SCQM(2, **given).fit(rows(table, 3))
            except Exception as error:
                failure = type(error).__name__
            finally:
                _estimator.Parts = parts  # type: ignore[misc] # the class again
        assert failure, "the scheduler was killed, and the fit went on"
        with processes(folder, 1):
            model = SCQM(2, **given).fit(rows(table, 7))
    assert bits(model) == bits(whole), loss
    assert model.n_iter_ == whole.n_iter_, loss
    return f"restarted after {failure}"


def main() -> None:
    """Try cases from a first one on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=len(CASES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    # It has a level of its own in the configuration.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    table = sheet(BLOCKS * BLOCK - 100)
    for case in range(options.first, options.first + options.count):
        what, *of = CASES[case % len(CASES)]
        begin = time.monotonic()
        told = what(table, *of)
        seconds = time.monotonic() - begin
        print(f"happened: {what.__name__}", flush=True)
        print(*of, told, f"{seconds:.1f} s", flush=True)
    print("alive")


CASES: list[tuple[Any, ...]] = [
    (try_frames,),
    *((try_restart, loss) for loss in LOSSES),
    *((try_cuts, loss, workers) for loss in LOSSES for workers in WORKERS),
    *((try_kills, loss) for loss in LOSSES),
]

if __name__ == "__main__":
    main()
