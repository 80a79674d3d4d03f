"""Take every figure that is asked of speed, in one run of some ten minutes.

Whole processes of version 0.1.0, or of another commit, and of this one, in turn, one
thread each: fits of sheets and digits (see ``versions.py``), of ten pairs of digits by
lp, and by r'Mr beside squared_l2. Then the sweeps of ``scqm bench``, ``fit_many``
from Python, racing starts, and rows certified that have a nearer point. Times mean
something on a machine that does nothing else.

    python python/benchmarks/speed.py
    python python/benchmarks/speed.py --old path/to/scqm --only pairs,forms
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from itertools import combinations
from pathlib import Path

import numpy as np
from sklearn.neighbors import NearestNeighbors
from versions import RELEASE, ROOT, compare, programs, tasks, timed

import scqm

DIGITS = "24689"


def digits(keep: str, first: int, model: Path) -> list[str]:
    """Return arguments of a fit of the first rows of some digits."""
    folder = ROOT / "testdata/mnist"
    return [
        "fit", str(folder / "images-idx3-ubyte.gz"), "--scale",
        "--labels", str(folder / "labels-idx1-ubyte.gz"), "--keep", keep,
        "--first", str(first), "-d", "2", "--ridge", "0.001", "--json",
        "-o", str(model),
    ]  # fmt: skip


def print_versions(old: Path, new: Path, folder: Path) -> None:
    """Compare sheets of 50 and 784 columns."""
    print("| task | old, CPU s | new, CPU s | old / new (range) | objective |")
    print("| --- | --- | --- | --- | --- |")
    for name, arguments in tasks(folder).items():
        if name.startswith(("r3", "d10", "r2 1000", "r2 5000")):
            runs = 1 if name.startswith(("d10", "r3 large")) else 3
            compare(name, old, new, arguments, runs)


def print_pairs(old: Path, new: Path, folder: Path) -> None:
    """Compare fits of pairs of digits by lp and l1, least of some runs."""
    print("| digits, loss | old, CPU s | new, CPU s | old / new | objective |")
    print("| --- | --- | --- | --- | --- |")
    ratios = []
    cases = [(",".join(pair), 50, "3", 7) for pair in combinations(DIGITS, 2)]
    cases += [
        ("4,9", 50, "1.5", 2),
        ("4,9", 50, "1", 2),
        (",".join(DIGITS), 100, "3", 1),
    ]
    for keep, first, p, runs in cases:
        arguments = [*digits(keep, first, folder / "m.npz"), "--loss", "lp", "--p", p]
        found = [(timed(old, arguments), timed(new, arguments)) for _ in range(runs)]
        theirs, ours = (min(run[k][0] for run in found) for k in range(2))
        costs = [found[-1][k][1] or np.nan for k in range(2)]
        if p == "3" and first == 50:
            ratios.append(theirs / ours)
        print(
            f"| {keep}, lp {p} | {theirs:.4f} | {ours:.4f} | {theirs / ours:.2f} | "
            f"{costs[1] / costs[0] - 1:+.1e} |",
            flush=True,
        )
    print(f"lp 3: least {min(ratios):.2f}, median {statistics.median(ratios):.2f}")


def print_forms(_: Path, new: Path, folder: Path) -> None:
    """Compare fits by r'Mr with those by squared_l2, least of some runs."""
    rng = np.random.default_rng(0)
    frame = np.linalg.qr(rng.normal(size=(784, 784)))[0]
    full = (frame * rng.uniform(0.5, 4.5, 784)) @ frame.T
    np.save(folder / "full.npy", (full + full.T) / 2)
    np.save(folder / "diagonal.npy", np.diag(rng.uniform(0.2, 5, 784)))
    print("| digits | squared_l2, CPU s | full M | diagonal M |")
    print("| --- | --- | --- | --- |")
    tables = [(",".join(pair), 50, 9) for pair in combinations(DIGITS, 2)]
    tables.append((",".join(DIGITS), 100, 7))
    ratios = []
    for keep, first, runs in tables:
        fit = digits(keep, first, folder / "m.npz")
        cases = [["--loss", "squared_l2"]]
        for name in ("full", "diagonal"):
            matrix = str(folder / f"{name}.npy")
            cases.append(["--loss", "mahalanobis", "--precision", matrix])
        seconds = [[timed(new, fit + case)[0] for case in cases] for _ in range(runs)]
        alone, *others = (min(column) for column in zip(*seconds, strict=True))
        cells = (f"{v:.4f}, {v / alone:.2f} times" for v in others)
        print(f"| {keep} | {alone:.4f} | {' | '.join(cells)} |", flush=True)
        if first == 50:
            ratios.append([v / alone for v in others])
    full_m, diagonal = (
        statistics.median(column) for column in zip(*ratios, strict=True)
    )
    print(f"pairs: median {full_m:.2f} (full), {diagonal:.2f} (diagonal)")


def print_sweeps(_: Path, new: Path, __: Path) -> None:
    """Print the sweeps of 50 columns beside the limits of the machine."""
    regime = ["bench", "r3", "--solver", "alternating", "--loss", "squared_l2"]
    subprocess.run([new, *regime, "--time-limit", "4s"], check=True)


def print_many(_: Path, __: Path, ___: Path) -> None:
    """Print milliseconds of a fit of a neighbourhood, from Python."""
    rng = np.random.default_rng(7)
    sets = []
    for _set in range(34):
        x = rng.normal(size=(300, 3))
        x /= np.linalg.norm(x, axis=1)[:, None]
        x += rng.normal(scale=0.06, size=x.shape)
        near = NearestNeighbors(n_neighbors=30).fit(x).kneighbors(x)[1]
        sets.append(x[near])
    rows = np.concatenate(sets)[:10000]
    print("| threads | CPU ms a fit | wall ms a fit |")
    print("| --- | --- | --- |")
    for threads in (1, 2):
        used, wall = [], []
        for _run in range(3):
            c, w = time.process_time(), time.perf_counter()
            scqm.fit_many(rows, 2, loss="squared_l2", n_threads=threads, ridge=10.0)
            used.append((time.process_time() - c) / len(rows) * 1e3)
            wall.append((time.perf_counter() - w) / len(rows) * 1e3)
        print(f"| {threads} | {min(used):.4f} | {min(wall):.4f} |", flush=True)


def print_drills(_: Path, __: Path, ___: Path) -> None:
    """Run the drills of racing starts and of certified rows."""
    for package, drill, cases in (
        ("./models/scqm", "TestDrillRace$", 10),
        ("./models/scqm/internal/nearest", "DrillCertifiedRows", 2000),
    ):
        subprocess.run(
            ["go", "test", "-count=1", "-v", "-run", drill, package],
            cwd=ROOT,
            env={**os.environ, "SCQM_DRILL_CASES": str(cases)},
            check=True,
        )


PARTS = {
    "versions": print_versions,
    "pairs": print_pairs,
    "forms": print_forms,
    "sweeps": print_sweeps,
    "many": print_many,
    "drills": print_drills,
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", default=RELEASE, help="a commit, or a program")
    parser.add_argument("--new", help="a program; by default built from these files")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas")
    options = parser.parse_args()
    with (
        programs(options.old, options.new) as (old, new),
        tempfile.TemporaryDirectory() as folder,
    ):
        for name in options.only.split(","):
            began = time.perf_counter()
            print(f"\n## {name}\n", flush=True)
            PARTS[name](old, new, Path(folder))
            print(f"\n{time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
