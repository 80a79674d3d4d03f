"""Measure what fits cost beside their iterations: their start, and their memory.

``start`` takes a fit without its iterations, ten sweeps and scikit-learn's randomized
principal components on the same rows, in processor seconds of one thread. ``memory``
runs the program on tables in files, one process each, and prints the peak of its
resident memory in copies of the table of float64, of which the program itself is a
part.
``beyond`` makes a table in a file, by default of 4 GB, fits it within a bound of
memory, and compares the bits of a smaller one with those of its fit in memory.

    python python/benchmarks/costs.py start
    python python/benchmarks/costs.py memory scqm 1000000x10 100000x3 --time-limit 25
    python python/benchmarks/costs.py memory scqm 1000000x10 --type float32 --linear
    python python/benchmarks/costs.py beyond scqm 20000000x25 --memory 512M
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
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

SHAPES = [(4000, 784), (4000, 3000), (4000, 10000)]
TYPES = ["float64", "float32"]
LOSSES = [
    ["l2"],
    ["squared_l2"],
    ["huber"],
    ["l1"],
    ["lp", "--p", "1.5"],
    ["mahalanobis"],
]


def sheet(n: int, D: int) -> npt.NDArray[np.float64]:
    """Return noisy rows of a curved surface."""
    rng = np.random.default_rng(1)
    T = rng.uniform(-1, 1, size=(n, 2))
    i, j = np.triu_indices(2)
    Z = np.hstack([T, T[:, i] * T[:, j]])[:, : min(5, D)]
    frame = np.linalg.qr(rng.normal(size=(D, Z.shape[1])))[0]
    X: npt.NDArray[np.float64] = Z @ frame.T
    X += 0.05 * rng.standard_normal(X.shape, dtype=np.float32)
    return X


def least(act: Callable[[], object], runs: int) -> float:
    """Return the least processor seconds of several runs."""
    seconds = []
    for _ in range(runs):
        begin = time.process_time()
        act()
        seconds.append(time.process_time() - begin)
    return min(seconds)


def starts(runs: int) -> None:
    """Print a table of starts."""
    from sklearn.decomposition import PCA
    from threadpoolctl import threadpool_limits

    from scqm import SCQM

    print(f"{'rows':>13} {'start':>8} {'10 sweeps':>10} {'ratio':>6} {'PCA':>8}")
    for n, D in SHAPES:
        X = sheet(n, D)

        def fit(iterations: int, X: npt.NDArray[np.float64] = X) -> None:
            SCQM(
                2, loss="l2", solver="alternating", max_iter=iterations, n_threads=1
            ).fit(X)

        def principal(X: npt.NDArray[np.float64] = X) -> None:
            PCA(5, svd_solver="randomized", random_state=0).fit(X)

        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            one, six = least(lambda: fit(1), runs), least(lambda: fit(6), runs)
            pca = least(principal, runs)
        sweeps = 2 * (six - one)
        start = one - sweeps / 10
        row = f"{start:8.2f} {sweeps:10.2f} {start / sweeps:6.2f} {pca:8.2f}"
        print(f"{n:>6}x{D:<6} {row}", flush=True)


def peak(command: list[str]) -> tuple[float, float, str]:
    """Run a program; return its peak in bytes, processor seconds and output."""
    with tempfile.TemporaryFile() as out:
        run = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode()
    return 1024.0 * usage.ru_maxrss, usage.ru_utime + usage.ru_stime, text


def memory(
    program: str, shapes: list[str], limit: float, kind: str, flags: list[str]
) -> None:
    """Print a table of peaks."""
    print(f"{'rows':>13} {'loss':12} {'solver':12} {'copies':>7} {'CPU s':>7}  status")
    with tempfile.TemporaryDirectory() as folder:
        for shape in shapes:
            n, D = map(int, shape.split("x"))
            table, precision = Path(folder, "x.npy"), Path(folder, "m.npy")
            # In a process of its own: a child begins with the peak of its parent.
            subprocess.run(
                [sys.executable, __file__, "write", str(table), shape, "--type", kind],
                check=True,
            )
            np.save(precision, np.eye(D) + 0.3 / D)
            for loss in LOSSES:
                command = [program, "fit", str(table), "--json", "--threads", "1"]
                command += ["--time-limit", f"{limit}s", "--loss", *loss]
                command += flags
                if loss == ["mahalanobis"]:
                    command += ["--precision", str(precision)]
                held, seconds, text = peak(command)
                try:
                    report = json.loads(text)
                    solver, status = report["solver"], report["status"]
                except ValueError:
                    solver, status = "", text.strip()[-60:]
                copies = held / (8 * n * D)
                row = f"{loss[0]:12} {solver:12} {copies:7.2f} {seconds:7.1f}  {status}"
                print(f"{shape:>13} {row}", flush=True)


def write(path: Path, n: int, D: int, kind: str = "float64") -> None:
    """Write rows of a curved surface to a file, a part at a time."""
    rng = np.random.default_rng(1)
    i, j = np.triu_indices(2)
    frame = np.linalg.qr(rng.normal(size=(D, min(5, D))))[0]
    table = np.lib.format.open_memmap(path, "w+", np.dtype(kind), (n, D))
    for at in range(0, n, 1 << 16):
        T = rng.uniform(-1, 1, size=(min(1 << 16, n - at), 2))
        Z = np.hstack([T, T[:, i] * T[:, j]])[:, : min(5, D)]
        noise = rng.standard_normal((len(T), D), dtype=np.float32)
        table[at : at + len(T)] = Z @ frame.T + 0.05 * noise
    table.flush()


def beyond(program: str, shape: str, bound: str, limit: float, loss: str) -> None:
    """Fit a table within a bound of memory, and compare the bits of a small one."""
    n, D = map(int, shape.split("x"))
    few = min(n, 500_000)
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small.npy"), Path(folder, "large.npy")
        begin = time.monotonic()
        for path, rows in (small, few), (large, n):
            command = [sys.executable, __file__, "write", str(path), f"{rows}x{D}"]
            subprocess.run(command, check=True)
        size = large.stat().st_size
        print(f"{shape}, {size / 1e9:.2f} GB, in {time.monotonic() - begin:.0f} s")
        models = []
        for name, flags in (
            ("in memory", ["--solver", "streaming"]),
            ("in its file", ["--memory", "48M"]),
        ):
            model = Path(folder, "model.npz")
            command = [program, "fit", str(small), "-o", str(model), "--loss", loss]
            held, seconds, text = peak([*command, "--no-tau", "--json", *flags])
            report = json.loads(text)
            with np.load(model) as arrays:
                models.append(b"".join(arrays[k].tobytes() for k in ("c", "U", "V")))
            print(
                f"{few} rows {name}: {held / 1e6:.0f} MB, {seconds:.0f} CPU s, "
                f"{report.get('reads', 0)} reads, {report['status']}",
                flush=True,
            )
        print(f"bits are {'equal' if models[0] == models[1] else 'NOT equal'}")
        command = [program, "fit", str(large), "--json", "--memory", bound]
        command += ["--loss", loss, "--time-limit", f"{limit}s"]
        held, seconds, text = peak(command)
        report = json.loads(text)
        print(
            f"{n} rows in their file, --memory {bound}: {held / 1e6:.0f} MB, "
            f"{seconds:.0f} CPU s, {report['reads']} reads, {report['status']}"
        )


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_subparsers(dest="what", required=True)
    start = what.add_parser("start")
    start.add_argument("--runs", type=int, default=2)
    tables = what.add_parser("memory")
    tables.add_argument("program")
    tables.add_argument("shapes", nargs="+")
    tables.add_argument("--time-limit", type=float, default=60)
    tables.add_argument("--type", choices=TYPES, default=TYPES[0])
    tables.add_argument("--linear", action="store_true", help="flat sheets")
    files = what.add_parser("beyond")
    files.add_argument("program")
    files.add_argument("shape", nargs="?", default="20000000x25")
    files.add_argument("--memory", default="512M")
    files.add_argument("--time-limit", type=float, default=3600)
    files.add_argument("--loss", default="l2")
    writer = what.add_parser("write")
    writer.add_argument("path")
    writer.add_argument("shape")
    writer.add_argument("--type", choices=TYPES, default=TYPES[0])
    args = parser.parse_args()
    if args.what == "start":
        starts(args.runs)
    elif args.what == "memory":
        flags = ["--linear"] if args.linear else []
        memory(args.program, args.shapes, args.time_limit, args.type, flags)
    elif args.what == "beyond":
        beyond(args.program, args.shape, args.memory, args.time_limit, args.loss)
    else:
        n, D = map(int, args.shape.split("x"))
        write(args.path, n, D, args.type)


if __name__ == "__main__":
    main()
