"""Measure what Python adds to a fit, and compare it with the program scqm.

A fit in Python is divided into the work of the library, on the library's own
clock; what the binding adds, from the settings to the finished arrays; and the
checks of parameters and data, by scikit-learn for the most part. Medians of many
fits, each part of the same fit; a busy machine adds to all of them. The solver in
the program and in Python is compared by the least time of each: the program
begins cold, in a process of its own.

    make install-python
    .venv/bin/python python/benchmarks/overhead.py
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt

from scqm import SCQM, _core, _estimator, _model, _native, blas
from scqm.datasets import load_digits_sample, make_arc

Array = npt.NDArray[np.float64]
ROOT = Path(__file__).resolve().parents[2]


class Timed(SCQM):
    """An SCQM that notes how long the parts of a fit take."""

    def _run(self, *args: Any) -> Any:
        begin = time.perf_counter()
        result = super()._run(*args)
        self.run_seconds = time.perf_counter() - begin
        return result


def parts(m: Timed, X: Array, runs: int) -> Array:
    """Return for each run the seconds of library, binding, checks, and solver."""
    fetch, seconds = _model.fetch, [0.0]

    def noting(job: _native.Job) -> Any:
        seconds[0] = job.state[_native.SECONDS]
        return fetch(job)

    rows = np.empty((runs, 4))
    with mock.patch.object(_estimator, "fetch", noting):
        for row in rows:
            begin = time.perf_counter()
            m.fit(X)
            total = time.perf_counter() - begin
            row[:] = (
                seconds[0],
                m.run_seconds - seconds[0],
                total - m.run_seconds,
                m.history_["seconds"][-1],
            )
    return rows


def binding(m: Timed, X: Array, runs: int) -> Array:
    """Return for each run the seconds of library and binding, of nothing else."""
    loss = m.loss_
    settings = json.dumps(m._settings() | {"loss": loss._choice()})
    rows = np.empty((runs, 4))
    for row in rows:
        begin = time.perf_counter()
        with _native.Job(X) as job:
            job.start(
                _core.bindings_StartFit,
                settings,
                _native.address(X),
                len(X),
                X.shape[1],
                0,
                0,
            ).wait()
            _model.fetch(job)
        row[:] = job.state[_native.SECONDS], time.perf_counter() - begin, 0, 0
    rows[:, 1] -= rows[:, 0]
    return rows


def program_seconds(program: Path, X: Array, options: list[str], runs: int) -> Array:
    """Return the seconds that the program reports for its solver."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "x.npy"), X)
        command = [str(program), "fit", "x.npy", "-o", "m.npz", "--json", *options]
        return np.array(
            [
                json.loads(subprocess.check_output(command, cwd=folder))["seconds"]
                for _ in range(runs)
            ]
        )


def show(name: str, rows: Array) -> None:
    """Print one line of the table."""
    library, binding, checks, _ = np.median(rows, axis=0) * 1e6
    percent = 100 * (binding + checks) / library
    print(
        f"| {name} | {library:.0f} | {binding:.0f} | {rows[:, 1].min() * 1e6:.0f} "
        f"| {checks:.0f} | {percent:.2g} % |"
    )


def main(runs: int) -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")
    digits = load_digits_sample([4, 9], 50).data
    arc = make_arc(20, random_state=0)[0]
    settings: dict[str, Any] = {"n_threads": 1, "random_state": 0}
    print(f"Medians of {runs} fits, microseconds; products by {blas()}\n")
    print("| fit | library | binding adds | at least | checks add | in all |")
    print("| --- | --- | --- | --- | --- | --- |")
    tiny = Timed(1, loss="squared_l2", **settings, max_iter=1, tol=1.0)
    parts(tiny, arc, runs)  # warms up
    show("tiny, 20 x 2, nothing but the binding", binding(tiny, arc, 40 * runs))
    show("tiny, 20 x 2", parts(tiny, arc, 20 * runs))
    solver = []
    for loss in ("l2", "squared_l2"):
        rows = parts(Timed(2, loss=loss, **settings), digits, runs)
        show(f"digits, 100 x 784, {loss}", rows)
        solver.append((loss, rows[:, 3].min()))

    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "scqm")
        build = ["go", "build", "-buildvcs=false", "-o", str(program), "./cmd/scqm"]
        subprocess.run(build, cwd=ROOT, check=True)
        print("\n| digits, solver only, least | program, ms | Python, ms | ratio |")
        print("| --- | --- | --- | --- |")
        for loss, seconds in solver:
            options = ["--threads", "1", "--seed", "0", "--loss", loss]
            other = program_seconds(program, digits, options, runs).min()
            print(
                f"| {loss} | {other * 1e3:.2f} | {seconds * 1e3:.2f} "
                f"| {seconds / other:.2f} |"
            )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=50)
    arguments.add_argument(
        "--gonum", action="store_true", help="products as the program computes them"
    )
    given = arguments.parse_args()
    if given.gonum and os.environ.get("SCQM_BLAS") != "gonum":
        os.execve(
            sys.executable,
            [sys.executable, *sys.argv],
            os.environ | {"SCQM_BLAS": "gonum"},
        )
    main(given.runs)
