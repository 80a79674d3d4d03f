"""Score the denoiser on clouds that nothing was tuned on.

Shapes, sizes, noise and all else are drawn by a seed that is new in every run, so that
nothing can be fitted to the clouds. The table begins with it, and --seed repeats a run.
Each cloud goes through `scqm denoise`. Its score is the root mean square distance to
the true surface, outliers apart, over that of the points as they came ("raw"); with
--best also over the lesser of that and what the best of a few fixed numbers of
neighbours leaves, chosen with the truth; with --against over that of another version;
with --peers over those of other tools that are installed. Means are geometric. The exit
status is 1 where the program fails on a cloud:

    python python/benchmarks/clouds.py --program new/scqm --against old/scqm --n 60
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import shapes
from shapes import Array, Generator, Shape

NEIGHBORS = (8, 15, 30, 60, 120)
CONDITIONS = ("even", "growing", "10 % outliers", "20 % outliers", "density")

U = Generator.uniform
CYLINDER = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
NONE = np.empty((0, 4))
BUMP = np.array([3, 3, 3, 0.12])

# Kinds of shapes by group, of parameters at random and with parts as thin as told.
KINDS: dict[str, dict[str, Callable[[Generator, float], Shape]]] = {
    "smooth": {
        "sphere": lambda r, thin: shapes.blob(np.ones(3), NONE),
        "few of a sphere": lambda r, thin: shapes.blob(np.ones(3), NONE),
        "torus": lambda r, thin: shapes.torus(U(r, 0.2, 0.5)),
        "ellipsoid": lambda r, thin: shapes.blob(U(r, 0.3, 1, 3), NONE),
        "blob": lambda r, thin: shapes.blob(U(r, 0.6, 1, 3), U(r, -BUMP, BUMP, (4, 4))),
    },
    "creases": {
        "box": lambda r, thin: shapes.boxes([[[0] * 3, U(r, 0.4, 1, 3)]]),
        "chair": lambda r, thin: shapes.chair(U(r, 0.1, 0.2)),
        "stairs": lambda r, thin: shapes.stairs(int(r.integers(2, 6))),
        "roof": lambda r, thin: shapes.roof(U(r, 0.3, 1.1)),
        "lens": lambda r, thin: shapes.lens(U(r, 0.3, 0.7)),
        "cylinder": lambda r, thin: shapes.revolved(*(CYLINDER * [1, U(r, 1, 4)])),
        "cone": lambda r, thin: shapes.revolved((0, U(r, 0.7, 2)), (0.7, 0), (0, 0)),
    },
    "thin": {
        "slab": lambda r, thin: shapes.boxes([[[0] * 3, [0.8, 0.6, thin]]]),
        "plates": lambda r, thin: shapes.plates(thin),
    },
    "edges": {
        "saddle": lambda r, thin: shapes.saddle(*U(r, 0.2, 0.6, 2)),
        "wavy": lambda r, thin: shapes.waves(U(r, -6, 6, (2, 1)), U(r, 0, 6, 1)),
        "Moebius strip": lambda r, thin: shapes.moebius(U(r, 0.2, 0.5)),
        "swiss roll": lambda r, thin: shapes.swiss_roll(U(r, 1, 1.5)),
    },
    "curves": {
        "helix": lambda r, thin: shapes.coil(0, U(r, 0.1, 0.3), U(r, 2, 4)),
        "trefoil": lambda r, thin: shapes.trefoil(U(r, 0.6, 1.2)),
        "circle": lambda r, thin: shapes.clover(0, 0),
        "spiral": lambda r, thin: shapes.coil(U(r, 0.2, 1), 0, U(r, 1.5, 2.5)),
        "clover": lambda r, thin: shapes.clover(int(U(r, 3, 6)), U(r, 0.25, 0.55)),
    },
    "wide": {
        "wide waves": lambda r, thin: shapes.waves(U(r, -3, 3, (2, 4)), U(r, 0, 6, 4)),
        "wide roll": lambda r, thin: shapes.swiss_roll(U(r, 1, 1.5)),
    },
}
COLUMNS = {"curves": (2, 3, 10), "wide": (20, 100)}  # three elsewhere


class Cloud(NamedTuple):
    """Points with noise, and the shape that they are of."""

    points: Array
    inliers: npt.NDArray[np.bool_]
    diagonal: float
    shape: Shape

    def error(self, points: Array) -> float:
        """Return the root mean square distance of the inliers."""
        off = self.shape.distance(points[self.inliers])
        return float(np.sqrt((off**2).mean()))


def spoil(shape: Shape, n: int, condition: str, noise: float, rng: Generator) -> Cloud:
    """Draw points with noise, whose deviation is a part of the diagonal.

    In more than three columns it is less, so that noise is as long as in space.
    """
    dense = condition == "density"
    clean = shape.draw(rng, 8 * n if dense else n)
    low, extent = clean.min(axis=0), np.ptp(clean, axis=0)
    diagonal = float(np.linalg.norm(extent))
    along = (clean[:, 0] - low[0]) / extent[0]
    if dense:  # 12 to 1
        weights = np.exp(-2.5 * along)
        clean = rng.choice(clean, n, replace=False, p=weights / weights.sum())
    sigma = noise * diagonal * np.sqrt(min(1, 3 / len(low)))
    growth = 0.2 + 1.6 * along if condition == "growing" else np.ones(n)
    points = clean + sigma * growth[:, None] * rng.standard_normal(clean.shape)
    inliers = np.ones(n, bool)
    if "outliers" in condition:
        inliers[rng.choice(n, n * int(condition[:2]) // 100, replace=False)] = False
        away = 0.1 * diagonal
        far = rng.uniform(low - away, low + extent + away, clean.shape)
        points = np.where(inliers[:, None], points, far)
    return Cloud(points, inliers, diagonal, shape)


def draw(seed: int, index: int) -> tuple[str, str, Cloud, str]:
    """Draw a cloud: kinds and conditions take turns, all else is at random."""
    kinds = [(group, name) for group, of in KINDS.items() for name in of]
    cycle, at = divmod(index, len(kinds))
    order = np.random.default_rng([seed, cycle]).permutation(len(kinds))
    group, name = kinds[order[at]]
    condition = CONDITIONS[(index + cycle) % len(CONDITIONS)]
    rng = np.random.default_rng([seed, index, 1])
    noise = float(np.exp(rng.uniform(np.log(0.002), np.log(0.03))))
    n = 1500 if rng.random() < 0.75 else int(np.exp(rng.uniform(*np.log([60, 10000]))))
    if name == "few of a sphere":
        n = int(rng.integers(60, 500))
    n = min(n, 2000) if group == "wide" else n
    # Thin parts are three to eight standard deviations of the noise thick.
    thin = float(np.clip(rng.uniform(3, 8) * noise, 0.02, 0.25))
    shape = KINDS[group][name](rng, thin)
    least = shape.draw(rng, 1).shape[1]
    columns = int(rng.choice([c for c in COLUMNS.get(group, (3,)) if c >= least]))
    cloud = spoil(shapes.placed(shape, columns, rng), n, condition, noise, rng)
    said = f"{index}: {name}, {condition}, {n} x {columns}, noise {100 * noise:.2f} %"
    return group, condition, cloud, said


def run(program: str, cloud: Cloud, *flags: str) -> tuple[float, float]:
    """Return the error that a program leaves, and its user seconds: nan if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "before.npy"), Path(folder, "after.npy")
        np.save(before, cloud.points)
        command = [program, "denoise", str(before), "-o", str(after), "--threads", "1"]
        command += ["-d", str(cloud.shape.d), *flags]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, stdout=quiet, stderr=quiet)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            return np.nan, np.nan
        return cloud.error(np.load(after)), usage.ru_utime


def meshlab(X: Array, project: str, scale: float) -> Array:
    """Return points as MeshLab projects them, with normals of 16 neighbours."""
    pymeshlab = importlib.import_module("pymeshlab")
    oriented = pymeshlab.MeshSet()
    oriented.add_mesh(pymeshlab.Mesh(vertex_matrix=X))
    oriented.compute_normal_for_point_clouds(k=16)
    normals = oriented.current_mesh().vertex_normal_matrix()
    scans = pymeshlab.MeshSet()  # what moves, and what tells the surface
    scans.add_mesh(pymeshlab.Mesh(vertex_matrix=X))
    scans.add_mesh(pymeshlab.Mesh(vertex_matrix=X, v_normals_matrix=normals))
    move = getattr(scans, f"compute_mls_projection_{project}")
    move(controlmesh=1, proxymesh=0, filterscale=scale)
    moved = np.asarray(scans.mesh(0).vertex_matrix(), np.float64)
    return np.where(np.isfinite(moved), moved, X)  # RIMLS loses some


def score(seed: int, index: int, options: Any) -> dict[str, Any]:
    """Return what programs make of a cloud."""
    group, condition, cloud, said = draw(seed, index)
    if options.keep:
        np.save(options.keep / f"{index}.npy", cloud.points)
    raw = cloud.error(cloud.points)
    error, seconds = run(options.program, cloud)
    found = {"group": group, "condition": condition, "said": said, "seconds": seconds}
    found["A / raw"] = error / raw
    if options.best:
        fixed = [run(options.program, cloud, "--neighbors", str(k)) for k in NEIGHBORS]
        found["A / best"] = error / min(raw, *(e for e, _ in fixed))
    if options.against:
        other, used = run(options.against, cloud)
        found |= {"A / B": error / other, "CPU A / B": seconds / max(used, 0.01)}
    if options.peers and cloud.shape.d == 2 and cloud.points.shape[1] == 3:
        for project, scale in (("apss", 2), ("apss", 4), ("apss", 6), ("rimls", 4)):
            moved = meshlab(cloud.points, project, scale)
            found[f"A / {project} {scale}"] = error / cloud.error(moved)
    return found


def line(name: str, found: list[dict[str, Any]], ratios: list[str]) -> str:
    """Return a row of the table: the clouds of a group."""
    cells = [name, str(len(found))]
    for key in ratios:
        values = np.array([f[key] for f in found if np.isfinite(f.get(key, np.nan))])
        if not len(values):
            cells.append("")
            continue
        cell = (
            f"{np.exp(np.log(np.maximum(values, 1e-6)).mean()):.3f}, {values.max():.2f}"
        )
        if key in ("A / raw", "A / best"):
            for limit in (1.02, 1.3):
                cell += f", {100 * np.mean(values > limit):.0f} %"
        cells.append(cell)
    cells.append(f"{np.nansum([f['seconds'] for f in found]):.1f}")
    return "| " + " | ".join(cells) + " |"


def report(found: list[dict[str, Any]]) -> bool:
    """Print the table, the worst clouds and failures of A; return whether all ran."""
    ratios = [key for key in dict.fromkeys(k for f in found for k in f) if " / " in key]
    heads = ["clouds", "n", *ratios, "CPU s of A"]
    print("Ratios: mean, worst; to raw and best also how many are above 1.02 and 1.3\n")
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    print(line("all", found, ratios))
    for key in ("group", "condition"):
        for name in dict.fromkeys(sorted(f[key] for f in found)):
            print(line(name, [f for f in found if f[key] == name], ratios))
    for key in ("A / raw", "A / best", "A / B"):
        if key in ratios:
            print(f"\nThe worst by {key}:")
            scored = [f for f in found if np.isfinite(f[key])]
            for f in sorted(scored, key=lambda f: -float(f[key]))[:5]:
                print(f"  {f[key]:.3f}  {f['said']}")
    failed = [f["said"] for f in found if np.isnan(f["seconds"])]
    print("".join(f"\nA failed: {said}" for said in failed))
    return not failed


def main() -> None:
    """Draw clouds, denoise them and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--program", default="bin/scqm", help="A")
    parser.add_argument("--against", metavar="PROGRAM", help="B")
    parser.add_argument("--n", type=int, default=40, help="clouds")
    parser.add_argument("--seed", type=int, default=time.time_ns() // 1000 % 10**6)
    parser.add_argument("--best", action="store_true", help="try fixed neighbours too")
    parser.add_argument("--peers", action="store_true", help="run MeshLab too")
    parser.add_argument("--only", type=int, nargs="+", metavar="I", help="these clouds")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write clouds there")
    parser.add_argument("--jobs", type=int, choices=(1, 2), default=2)
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.n} clouds")
    with ThreadPoolExecutor(1 if options.peers else options.jobs) as pool:
        work = partial(score, options.seed, options=options)
        found = list(pool.map(work, options.only or range(options.n)))
    if not report(found):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
