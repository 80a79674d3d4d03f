"""Measure the memory that fits take.

The program runs on tables in files, one process each. Printed is the peak of its
resident memory, the program itself included, in copies of the table of float64.

    python python/benchmarks/costs.py memory scqm 1000000x10 100000x3 --time-limit 25
    python python/benchmarks/costs.py memory scqm 1000000x10 --type float32 --linear
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TYPES = ["float64", "float32"]
LOSSES = [
    ["l2"],
    ["squared_l2"],
    ["huber"],
    ["l1"],
    ["lp", "--p", "1.5"],
    ["mahalanobis"],
]


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


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_subparsers(dest="what", required=True)
    tables = what.add_parser("memory")
    tables.add_argument("program")
    tables.add_argument("shapes", nargs="+")
    tables.add_argument("--time-limit", type=float, default=60)
    tables.add_argument("--type", choices=TYPES, default=TYPES[0])
    tables.add_argument("--linear", action="store_true", help="flat sheets")
    writer = what.add_parser("write")
    writer.add_argument("path")
    writer.add_argument("shape")
    writer.add_argument("--type", choices=TYPES, default=TYPES[0])
    args = parser.parse_args()
    if args.what == "memory":
        flags = ["--linear"] if args.linear else []
        memory(args.program, args.shapes, args.time_limit, args.type, flags)
    else:
        n, D = map(int, args.shape.split("x"))
        write(args.path, n, D, args.type)


if __name__ == "__main__":
    main()
