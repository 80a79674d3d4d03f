"""Compare scqm with the tools that people denoise point clouds with.

Points are drawn evenly from closed surfaces whose distance is known, with normal noise
in per cent of the diagonal, and perhaps outliers, noise that grows along x or lies
along the rays of a scanner, density that falls along x, or a boundary. Each tool
denoises the same points at its usual settings; the table is the root mean square
distance to the true surface, in per cent of the diagonal, its 99 % quantile, processor
seconds without those for normals, and where the tool finds normals their mean angle to
the true ones, in degrees; points that were drawn as outliers do not count.

With --surfaces it is Poisson surfaces of denoised points and their normals, and of the
points as they came with Open3D's normals: the mean angle of their triangles to the true
normals, and their distance from the true points.

Tools are MeshLab (pymeshlab), Open3D, PCL (pcl_mls_smoothing on the path) and CGAL (its
headers), each where it is installed; the others are left out, and named. Meshes of
one's own take the place of the surfaces with --mesh, for which Open3D measures
distances:

    python python/benchmarks/clouds.py --points 10000
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import cgal
import numpy as np
import numpy.typing as npt

from scqm import ManifoldDenoiser

Array = npt.NDArray[np.float64]
Normals = Callable[[Array], Array]
# Denoised points, and what finds their normals where the tool does.
Denoised = tuple[Array, Callable[[], Array] | None]
Denoise = Callable[[Array], Denoised]

# Neighbours that tools take for normals where they want a number.
NORMALS = 30


class Surface(NamedTuple):
    """A surface to draw from."""

    draw: Callable[[np.random.Generator, int], tuple[Array, Array]]
    distance: Callable[[Array], Array]


def box(*sides: float) -> Surface:
    """Return the surface of a box, whose edges are sharp."""
    half = np.array(sides) / 2
    areas = np.repeat([half[1] * half[2], half[0] * half[2], half[0] * half[1]], 2)

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        X = rng.uniform(-half, half, (n, 3))
        face = rng.choice(6, n, p=areas / areas.sum())
        normals = np.zeros((n, 3))
        normals[np.arange(n), face // 2] = 2.0 * (face % 2) - 1
        X[np.arange(n), face // 2] = (2.0 * (face % 2) - 1) * half[face // 2]
        return X, normals

    def distance(X: Array) -> Array:
        beyond = np.abs(X) - half
        outside = np.linalg.norm(np.maximum(beyond, 0), axis=1)
        return np.asarray(np.abs(outside + np.minimum(beyond.max(axis=1), 0)))

    return Surface(draw, distance)


def sphere() -> Surface:
    """Return the unit sphere."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        X = rng.standard_normal((n, 3))
        X /= np.linalg.norm(X, axis=1)[:, None]
        return X, X

    return Surface(draw, lambda X: np.abs(np.linalg.norm(X, axis=1) - 1))


def torus(radius: float = 1.0, tube: float = 0.4) -> Surface:
    """Return a torus."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        u, v = rng.uniform(0, 2 * np.pi, (2, 3 * n))
        even = rng.uniform(0, radius + tube, 3 * n) < radius + tube * np.cos(v)
        u, v = u[even][:n], v[even][:n]
        normals = np.stack(
            [np.cos(u) * np.cos(v), np.sin(u) * np.cos(v), np.sin(v)], axis=1
        )
        middle = radius * np.stack([np.cos(u), np.sin(u), 0 * u], axis=1)
        return middle + tube * normals, normals

    def distance(X: Array) -> Array:
        around = np.hypot(X[:, 0], X[:, 1]) - radius
        return np.abs(np.hypot(around, X[:, 2]) - tube)

    return Surface(draw, distance)


def lens(offset: float = 0.5) -> Surface:
    """Return what two unit spheres have in common: curved, with a sharp crease."""
    ring = np.sqrt(1 - offset**2)

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        side = rng.choice([-1.0, 1.0], n)
        z = rng.uniform(offset, 1, n)
        u = rng.uniform(0, 2 * np.pi, n)
        flat = np.sqrt(1 - z**2)
        normals = np.stack([flat * np.cos(u), flat * np.sin(u), side * z], axis=1)
        return normals - np.outer(side, [0, 0, offset]), normals

    def distance(X: Array) -> Array:
        far = []
        for side in (-1.0, 1.0):
            from_middle = X + np.array([0, 0, side * offset])
            size = np.linalg.norm(from_middle, axis=1)
            on_cap = side * from_middle[:, 2] >= offset * size
            crease = np.hypot(np.hypot(X[:, 0], X[:, 1]) - ring, X[:, 2])
            far.append(np.where(on_cap, np.abs(size - 1), crease))
        return np.asarray(np.minimum(*far))

    return Surface(draw, distance)


def mesh(path: Path) -> Surface:
    """Return the surface of a mesh."""
    o3d = importlib.import_module("open3d")
    triangles = o3d.io.read_triangle_mesh(str(path))
    scene = o3d.t.geometry.RaycastingScene()
    scene.add_triangles(o3d.t.geometry.TriangleMesh.from_legacy(triangles))
    corners = np.asarray(triangles.vertices)[np.asarray(triangles.triangles)]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(across, axis=1)

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        face = rng.choice(len(areas), n, p=areas / areas.sum())
        a, b = rng.uniform(size=(2, n, 1))
        a, b = np.where(a + b > 1, 1 - a, a), np.where(a + b > 1, 1 - b, b)
        c = corners[face]
        X = c[:, 0] + a * (c[:, 1] - c[:, 0]) + b * (c[:, 2] - c[:, 0])
        return X, across[face] / areas[face][:, None]

    def distance(X: Array) -> Array:
        return np.asarray(
            scene.compute_distance(X.astype(np.float32)).numpy(), np.float64
        )

    return Surface(draw, distance)


SURFACES = {
    "sphere": sphere(),
    "torus": torus(),
    "cube": box(1, 1, 1),
    "slab": box(1, 1, 0.035),  # 2.5 % of its diagonal thick
    "lens": lens(),
}


# Outliers, as a part of the points, that are anywhere about the surface.
OUTLIERS = {"outliers": 0.2, "few outliers": 0.05}


class Cloud(NamedTuple):
    """Points with what they would be without noise."""

    clean: Array
    noisy: Array
    normals: Array
    inliers: npt.NDArray[np.bool_]
    diagonal: float

    def off(self, found: Array) -> float:
        """Return the mean angle of normals of either side, in degrees."""
        along = np.abs((found * self.normals).sum(axis=1))[self.inliers]
        return float(np.degrees(np.arccos(np.clip(along, 0, 1))).mean())


def cloud(surface: Surface, n: int, case: str, noise: float, seed: int) -> Cloud:
    """Draw the points of a case, noise in per cent of the diagonal."""
    rng = np.random.default_rng(seed)
    drawn = {"density": 4 * n, "boundary": 2 * n}.get(case, n)
    clean, normals = surface.draw(rng, drawn)
    low, high = clean.min(axis=0), clean.max(axis=0)
    diagonal = float(np.linalg.norm(high - low))
    along = (clean[:, 0] - low[0]) / (high[0] - low[0])
    if case == "density":  # 20 to 1
        kept = rng.choice(len(clean), n, replace=False, p=(w := 20.0**-along) / w.sum())
        clean, normals, along = clean[kept], normals[kept], along[kept]
    if case == "boundary":  # the half with the smaller x
        kept = np.argsort(along)[:n]
        clean, normals, along = clean[kept], normals[kept], along[kept]
    sigma = np.full(n, noise / 100 * diagonal)
    if case == "uneven":  # from .4 to 4 times as much
        sigma *= 0.4 * 10**along
    moves = rng.standard_normal((n, 3))
    if case == "rays":  # of a scanner two diagonals away
        rays = clean - (low + high) / 2 - np.array([2 * diagonal, 0, 0])
        moves = moves[:, :1] * rays / np.linalg.norm(rays, axis=1)[:, None]
    noisy = clean + sigma[:, None] * moves
    inliers = np.ones(n, bool)
    if part := OUTLIERS.get(case):
        inliers[rng.choice(n, int(part * n), replace=False)] = False
        away = 0.1 * diagonal
        far = rng.uniform(low - away, high + away, (n - inliers.sum(), 3))
        noisy[~inliers] = far
    return Cloud(clean, noisy, normals, inliers, diagonal)


def meshlab(project: str, scale: float) -> Denoise:
    """Return a projection of MeshLab with normals of 16 neighbours, as is usual."""
    pymeshlab = importlib.import_module("pymeshlab")

    def denoise(X: Array) -> Denoised:
        oriented = pymeshlab.MeshSet()
        oriented.add_mesh(pymeshlab.Mesh(vertex_matrix=X))
        oriented.compute_normal_for_point_clouds(k=16)
        found = oriented.current_mesh().vertex_normal_matrix()
        scans = pymeshlab.MeshSet()  # what moves, and what tells the surface
        scans.add_mesh(pymeshlab.Mesh(vertex_matrix=X))
        scans.add_mesh(pymeshlab.Mesh(vertex_matrix=X, v_normals_matrix=found))
        getattr(scans, f"compute_mls_projection_{project}")(
            controlmesh=1, proxymesh=0, filterscale=scale
        )
        return np.asarray(scans.mesh(0).vertex_matrix(), np.float64), None

    return denoise


def pcl(X: Array) -> Denoised:
    """Run PCL's moving least squares, with a radius of some thirty points."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "a.pcd"), Path(folder, "b.pcd")
        np.savetxt(
            before,
            X,
            header="VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\n"
            f"WIDTH {len(X)}\nHEIGHT 1\nPOINTS {len(X)}\nDATA ascii",
            comments="",
        )
        command = ["pcl_mls_smoothing", str(before), str(after)]
        command += ["-radius", str(radius_of(X)), "-use_polynomial_fit", "1"]
        subprocess.run(command, check=True, capture_output=True)
        subprocess.run(
            ["pcl_convert_pcd_ascii_binary", str(after), str(after), "0"],
            check=True,
            capture_output=True,
        )
        text = after.read_text().split("DATA ascii\n")[1]
        moved = np.array([line.split()[:3] for line in text.splitlines()], np.float64)
        # It leaves out points without enough neighbours: then it has no number.
        return moved if len(moved) == len(X) else np.full_like(X, np.nan), None


def radius_of(X: Array, neighbours: int = NORMALS) -> float:
    """Return the median distance of a neighbour."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=neighbours).fit(X)
    return float(np.median(search.kneighbors(X)[0][:, -1]))


def ours(method: str) -> Denoise:
    """Return a method of this library."""

    def denoise(X: Array) -> Denoised:
        fitted = ManifoldDenoiser(method=method).fit(X)
        return fitted.transform(X), lambda: oriented(fitted, X)

    return denoise


def oriented(fitted: ManifoldDenoiser, X: Array) -> Array:
    """Return the normals of denoised points."""
    normals = fitted.describe(X)[1].normals
    assert normals is not None  # points have three columns
    return normals


def tools() -> tuple[dict[str, Denoise], dict[str, Normals], list[str]]:
    """Return what denoises, what finds normals, and what is not installed."""
    denoise: dict[str, Denoise] = {m: ours(m) for m in ("auto", "apss", "mls")}
    normals: dict[str, Normals] = {}
    missing = []
    try:
        pymeshlab = importlib.import_module("pymeshlab")
    except ImportError as error:
        missing.append(f"pymeshlab ({error})")
    else:
        for scale in (2, 4, 6):
            denoise[f"MeshLab APSS {scale}"] = meshlab("apss", scale)
        denoise["MeshLab RIMLS 4"] = meshlab("rimls", 4)

        def from_meshlab(X: Array) -> Array:
            scans = pymeshlab.MeshSet()
            scans.add_mesh(pymeshlab.Mesh(vertex_matrix=X))
            scans.compute_normal_for_point_clouds(k=NORMALS)
            return np.asarray(scans.current_mesh().vertex_normal_matrix(), np.float64)

        normals["MeshLab"] = from_meshlab
    try:
        o3d = importlib.import_module("open3d")
    except ImportError as error:
        missing.append(f"open3d ({error})")
    else:

        def from_open3d(X: Array) -> Array:
            points = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(X))
            points.estimate_normals(o3d.geometry.KDTreeSearchParamKNN(NORMALS))
            return np.asarray(points.normals)

        normals["Open3D"] = from_open3d
    if shutil.which("pcl_mls_smoothing"):
        denoise["PCL MLS"] = pcl
    else:
        missing.append("PCL (pcl_mls_smoothing is not on the path)")
    if lacking := cgal.missing():
        missing.append(f"CGAL ({lacking})")
    else:
        cgal.program()  # compiled before any clock starts
        denoise["CGAL jet"] = lambda X: (cgal.smooth(X, "jet"), None)
        denoise["CGAL jet twice"] = lambda X: (cgal.smooth(X, "jet", 2), None)
        denoise["CGAL bilateral"] = lambda X: (cgal.smooth(X, "bilateral"), None)
    return denoise, normals, missing


def seconds() -> float:
    """Return processor seconds of this process and of those that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def cases(options: Any) -> list[tuple[str, float]]:
    """Return the cases with their noise, in per cent of the diagonal."""
    if options.case:
        return [(case, float(noise)) for case, noise in options.case]
    if options.quick:
        return [("even", 0.5), ("outliers", 0.5)]
    even = [("even", s) for s in (0.2, 0.5, 1.0, 2.0)]
    others = ["few outliers", "outliers", "uneven", "density", "rays", "boundary"]
    return [*even, *((case, 0.5) for case in others)]


def compare(name: str, surface: Surface, options: Any) -> None:
    """Print the tables of a surface."""
    denoise, normals, _ = tools()
    for without in options.without:
        denoise.pop(without, None)
        normals.pop(without, None)
    for case, noise in cases(options):
        errors: dict[str, list[tuple[float, float, float]]] = {}
        angles: dict[str, list[float]] = {}
        for seed in range(options.seeds):
            points = cloud(surface, options.points, case, noise, options.seed + seed)
            for tool, run in {"raw": lambda X: (X, None), **denoise}.items():
                began = seconds()
                rows, find = run(points.noisy)
                used = seconds() - began
                far = surface.distance(rows)[points.inliers] * 100 / points.diagonal
                errors.setdefault(tool, []).append(
                    (
                        float(np.sqrt((far**2).mean())),
                        float(np.quantile(far, 0.99)),
                        used,
                    )
                )
                if find is not None:
                    angles.setdefault(tool, []).append(points.off(find()))
            for tool, estimate in normals.items():
                angles.setdefault(tool, []).append(points.off(estimate(points.noisy)))
        for tool, values in errors.items():
            rms, p99, cpu = np.mean(values, axis=0)
            row = f"| {name}, {case} {noise} | {tool} | {rms:.3f} | {p99:.3f} | "
            degrees = f"{np.mean(angles[tool]):.1f}" if tool in angles else ""
            print(row + f"{cpu:.1f} | {degrees} |", flush=True)
        if options.seeds > 1 and "auto" in errors:
            print(f"| {name}, {case} {noise} | {beside_peers(errors)} |", flush=True)
        for tool in sorted(set(angles) - set(errors)):
            row = f"| {name}, {case} {noise} | {tool} (normals) | | | | "
            print(row + f"{np.mean(angles[tool]):.1f} |", flush=True)


def beside_peers(errors: dict[str, list[tuple[float, float, float]]]) -> str:
    """Return the error and the 99 % quantile of auto over those of the best peers.

    Each is the mean over data sets of the ratio to the peer whose mean is least, with
    its standard error; then comes how often points that came out were further off than
    those that went in.
    """
    tables = {tool: np.array(values) for tool, values in errors.items()}
    ours = ("raw", "auto", "apss", "mls")
    peers = [t for t in tables if t not in ours and np.isfinite(tables[t]).all()]
    worse = int((tables["auto"][:, 0] > tables["raw"][:, 0]).sum())
    said = [f"auto worse than raw on {worse} of {len(tables['auto'])}"]
    for column, what in ((1, ", 99 %"), (0, "")) if peers else ():
        best = min(peers, key=lambda tool: float(tables[tool][:, column].mean()))
        ratio = tables["auto"][:, column] / tables[best][:, column]
        error = ratio.std(ddof=1) / np.sqrt(len(ratio))
        said.insert(0, f"auto / {best}{what} {ratio.mean():.3f} +- {error:.3f}")
    return "; ".join(said)


def poisson(points: Cloud, rows: Array, normals: Array) -> tuple[float, float]:
    """Reconstruct a surface by Open3D at its usual settings.

    The result is the mean angle of the triangles nearest to the true points to the
    normals there, in degrees, and the root mean square distance of these points from
    the surface, in per cent of the diagonal.
    """
    o3d = importlib.import_module("open3d")
    given = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(rows))
    given.normals = o3d.utility.Vector3dVector(normals)
    made, _ = o3d.geometry.TriangleMesh.create_from_point_cloud_poisson(given)
    scene = o3d.t.geometry.RaycastingScene()
    scene.add_triangles(o3d.t.geometry.TriangleMesh.from_legacy(made))
    true = points.clean[points.inliers]
    nearest = scene.compute_closest_points(true.astype(np.float32))
    found = np.zeros_like(points.normals)
    found[points.inliers] = nearest["primitive_normals"].numpy()
    far = np.linalg.norm(nearest["points"].numpy() - true, axis=1)
    return points.off(found), float(np.sqrt((far**2).mean()) * 100 / points.diagonal)


def by_open3d(X: Array) -> Array:
    """Return normals as Open3D estimates them and turns them to one side."""
    o3d = importlib.import_module("open3d")
    points = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(X))
    points.estimate_normals(o3d.geometry.KDTreeSearchParamKNN(NORMALS))
    points.orient_normals_consistent_tangent_plane(NORMALS)
    return np.asarray(points.normals)


def reconstruct(name: str, surface: Surface, options: Any) -> None:
    """Print the table of surfaces made of the points of a surface."""
    denoise, _, _ = tools()
    for without in options.without:
        denoise.pop(without, None)
    for case, noise in cases(options):
        found: dict[str, list[tuple[float, float]]] = {}
        for seed in range(options.seeds):
            points = cloud(surface, options.points, case, noise, options.seed + seed)
            for tool, run in {"raw": lambda X: (X, None), **denoise}.items():
                rows, find = run(points.noisy)
                if find is not None:
                    made = poisson(points, rows, find())
                    found.setdefault(f"{tool}, its normals", []).append(made)
                made = poisson(points, rows, by_open3d(rows))
                found.setdefault(f"{tool}, Open3D's normals", []).append(made)
        for tool, values in found.items():
            angle, far = np.mean(values, axis=0)
            print(f"| {name}, {case} {noise} | {tool} | {angle:.1f} | {far:.3f} |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--points", type=int, default=10000)
    parser.add_argument("--seeds", type=int, default=1, help="data sets a row")
    parser.add_argument("--seed", type=int, default=1, help="of the first of them")
    parser.add_argument("--surface", choices=SURFACES, action="append")
    parser.add_argument("--mesh", type=Path, action="append", help="in their place")
    parser.add_argument("--without", action="append", default=[], metavar="TOOL")
    parser.add_argument("--surfaces", action="store_true", help="Poisson surfaces")
    parser.add_argument("--quick", action="store_true", help="two cases only")
    parser.add_argument(
        "--case",
        nargs=2,
        action="append",
        metavar=("CASE", "NOISE"),
        help="these cases only, with noise in per cent of the diagonal",
    )
    options = parser.parse_args()
    for missing in tools()[2]:
        print(f"left out: {missing}")
    for package in ("scqm", "pymeshlab", "open3d", "open3d-cpu"):
        try:
            print(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    show = compare
    if options.surfaces:
        show = reconstruct
        print("\n| points | surface of | normals off by | distance |")
        print("| --- | --- | --- | --- |")
    else:
        print("\n| points | tool | rms | 99 % | CPU s | normals off by |")
        print("| --- | --- | --- | --- | --- | --- |")
    surfaces = {name: SURFACES[name] for name in options.surface or ()}
    surfaces.update({path.stem: mesh(path) for path in options.mesh or ()})
    for name, surface in (surfaces or SURFACES).items():
        show(name, surface, options)


if __name__ == "__main__":
    main()
