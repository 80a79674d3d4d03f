"""Time this version beside another, on the regimes of ``scqm bench`` and denoising.

The other version is built from its commit, by default that of the last release. Both do
the same tasks in turn, old and new, again and again, with one thread: processor seconds
of whole processes, and ratios of neighbours in time, so that what else the machine does
counts little. A task whose ratios are all below 0.95 is slower, and named at the end.

    make bench-versions
    python python/benchmarks/versions.py --old 7f98228 --runs 7 --only sheet
    python python/benchmarks/versions.py --old path/to/scqm --new path/to/scqm
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

# The commit of version 0.1.0.
RELEASE = "7f98228"
SLOWER = 0.95
ROOT = Path(__file__).resolve().parents[2]


def draw_sheet(path: Path, n: int, columns: int, d: int = 2) -> None:
    """Write rows near a sheet curved in 3 directions, two in a hundred far from it."""
    rng = np.random.default_rng(n)
    t = rng.uniform(-1, 1, (n, d))
    bends = np.column_stack([t[:, i] * t[:, j] for i in range(d) for j in range(i, d)])
    if d > 2:
        bends = bends @ rng.normal(scale=1 / d, size=(bends.shape[1], 3))
    frame = np.linalg.qr(rng.normal(size=(columns, d + 3)))[0].T
    x = np.column_stack([t, bends]) @ frame + rng.normal(scale=0.02, size=(n, columns))
    x[rng.random(n) < 0.02] *= 5
    np.save(path, x)


def draw_torus(path: Path, n: int) -> None:
    """Write noisy points of a torus."""
    rng = np.random.default_rng(n)
    a, b = rng.uniform(0, 2 * np.pi, (2, n))
    r = 1 + 0.4 * np.cos(b)
    x = np.column_stack([r * np.cos(a), r * np.sin(a), 0.4 * np.sin(b)])
    np.save(path, x + rng.normal(scale=0.05, size=x.shape))


def tasks(folder: Path) -> dict[str, list[str]]:
    """Write the data, and return arguments of scqm by the name of the task."""
    digits = [
        str(ROOT / "testdata/mnist/images-idx3-ubyte.gz"), "--scale",
        "--labels", str(ROOT / "testdata/mnist/labels-idx1-ubyte.gz"),
        "--keep", "4,9", "--first", "50",
    ]  # fmt: skip
    sheet, torus = folder / "sheet.npy", folder / "torus.npy"
    draw_sheet(sheet, 20000, 50)
    draw_torus(torus, 2000)
    # A ridge that both versions were told of: their defaults differ.
    fit = ["-d", "2", "--ridge", "0.001", "--json", "-o", str(folder / "model.npz")]
    out = ["-o", str(folder / "clean.npy")]
    found: dict[str, list[str]] = {}
    for loss in ("squared_l2", "l2"):
        found[f"denoise scqm {loss}"] = [
            "denoise", str(torus), "--method", "scqm", "--neighbors", "30",
            "--loss", loss, *out,
        ]  # fmt: skip
    for loss in ("l2", "squared_l2", "huber", "lp 1.5"):
        name, _, p = loss.partition(" ")
        more = ["--p", p] if p else []
        found[f"digits {loss}"] = ["fit", *digits, "--loss", name, *more, *fit]
    robust = ("l2", "squared_l2", "huber")
    for n in (1000, 5000):
        draw_sheet(folder / f"wide-{n}.npy", n, 784)
        for loss in robust:
            name = f"wide {n} x 784 {loss}"
            found[name] = ["fit", str(folder / f"wide-{n}.npy"), "--loss", loss, *fit]
    for loss in robust:
        found[f"sheet {loss}"] = ["fit", str(sheet), "--loss", loss, *fit]
    for name, n, d in (("sheet large", 200000, 2), ("d10", 2000, 10)):
        path = folder / f"{name}.npy"
        draw_sheet(path, n, 50, d)
        for loss in robust:
            found[f"{name} {loss}"] = [
                "fit",
                str(path),
                "--loss",
                loss,
                *fit,
                "-d",
                str(d),
            ]
    for method in ("auto", "mls", "lpca"):
        found[f"denoise {method}"] = ["denoise", str(torus), "--method", method, *out]
    return found


def timed(program: Path, arguments: list[str]) -> tuple[float, float | None]:
    """Return processor seconds of a process, and the objective where it tells one."""
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            [program, *arguments, "--threads", "1"],
            stdout=printed,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "GOMAXPROCS": "1"},
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(
                f"{program} {' '.join(arguments)} ends with {process.returncode}"
            )
        printed.seek(0)
        text = printed.read()
    objective = None
    if text.startswith(b"{"):
        told = json.loads(text)
        objective = told["objective"] + told.get("penalty", 0)
    return used.ru_utime + used.ru_stime, objective


def build(folder: Path, name: str) -> Path:
    """Build the program of the sources in a folder."""
    program = folder / name
    subprocess.run(
        ["go", "build", "-buildvcs=false", "-o", program, "./cmd/scqm"],
        cwd=folder,
        check=True,
    )
    return program


@contextmanager
def programs(old: str, new: str | None) -> Iterator[tuple[Path, Path]]:
    """Give the programs of both versions, built where need be."""
    with tempfile.TemporaryDirectory() as place:
        theirs = Path(old)
        if not theirs.is_file():
            source = Path(place) / "old"
            source.mkdir()
            packed = subprocess.run(
                ["git", "-C", ROOT, "archive", old], check=True, capture_output=True
            ).stdout
            subprocess.run(["tar", "-x", "-C", source], input=packed, check=True)
            theirs = build(source, "scqm-old")
        ours = Path(place) / "scqm-new"
        if new is not None:
            ours = Path(new)
        else:
            shutil.move(build(ROOT, "scqm-new"), ours)
        yield theirs.resolve(), ours.resolve()


def compare(name: str, old: Path, new: Path, arguments: list[str], runs: int) -> bool:
    """Print a line for a task; return whether it is slower in all runs."""
    seconds: list[tuple[float, float]] = []
    costs: tuple[float | None, float | None] = (None, None)
    for _ in range(runs):
        a, theirs = timed(old, arguments)
        b, ours = timed(new, arguments)
        seconds.append((a, b))
        costs = theirs, ours
    ratios = sorted(a / b for a, b in seconds)
    medians = [statistics.median(column) for column in zip(*seconds, strict=True)]
    objective = ""
    if costs[0] is not None and costs[1] is not None:
        objective = f"{costs[1] / costs[0] - 1:+.1e}"
    print(
        f"| {name} | {medians[0]:.3f} | {medians[1]:.3f} | "
        f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) | "
        f"{objective} |",
        flush=True,
    )
    return ratios[-1] < SLOWER


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", default=RELEASE, help="a commit, or a program")
    parser.add_argument("--new", help="a program; by default built from these files")
    parser.add_argument("--runs", type=int, default=5, help="runs of each version")
    parser.add_argument("--only", default="", help="tasks whose names begin like this")
    options = parser.parse_args()
    slower = []
    with (
        programs(options.old, options.new) as (old, new),
        tempfile.TemporaryDirectory() as folder,
    ):
        print("| task | old, CPU s | new, CPU s | old / new (range) | objective |")
        print("| --- | --- | --- | --- | --- |")
        for name, arguments in tasks(Path(folder)).items():
            if name.startswith(options.only) and compare(
                name, old, new, arguments, options.runs
            ):
                slower.append(name)
    if slower:
        sys.exit(f"slower by 5 % or more in every run: {', '.join(slower)}")


if __name__ == "__main__":
    main()
