"""Compare point clouds with those made of them, as other readers see them.

    python foreign_judge.py FOLDER

FOLDER has files N.in.EXT, N.out.EXT, where all points are moved by a quarter and have
the columns residual, their number, and nx, a half, and perhaps N.odd.EXT, which has
every second point. Exit code 1 where a reader refuses one, or finds another value.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import laspy
import numpy as np
from plyfile import PlyData

warnings.simplefilter("ignore")
NAMES = {"nx": "normal_x"}


def same(a: Any, b: Any, what: str) -> None:
    """Want equal values of equal types."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype == object:
        assert len(a) == len(b), f"{what}: {len(a)} lists, {len(b)}"
        for x, y in zip(a, b, strict=True):
            same(x, y, what)
        return
    assert (a.dtype, a.shape) == (b.dtype, b.shape), f"{what}: {a.dtype} {a.shape}"
    assert a.tobytes() == b.tobytes() or np.array_equal(a, b, equal_nan=True), what


def near(a: Any, b: Any, what: str, atol: Any = 0.0) -> None:
    """Want values that are equal but for rounding."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    assert a.shape == b.shape, f"{what}: {a.shape}, {b.shape}"
    assert (np.abs(a - b) <= 1e-6 * (1 + np.abs(b)) + atol).all(), what


def columns(a: Any, b: Any, names: Any, format_names: dict[str, str]) -> None:
    """Compare columns by name, where b has two more."""
    new = {
        "residual": np.arange(len(a)),
        format_names.get("nx", "nx"): np.full(len(a), 0.5),
    }
    for name, values in new.items():
        near(b[name], values, name)
    for name in names:
        if name in "xyz":
            near(b[name], np.asarray(a[name], np.float64) + 0.25, name)
        elif name not in new:
            same(a[name], b[name], name)


def ply(a: Path, b: Path, odd: Path) -> None:
    """Compare files of PLY."""
    x, y = PlyData.read(a), PlyData.read(b)
    for p, q in ((x.text, y.text), (x.byte_order, y.byte_order)):
        assert (p, x.comments) == (q, y.comments)
    assert [(e.name, e.count) for e in x] == [(e.name, e.count) for e in y]
    for e, f in zip(x, y, strict=True):
        if e.name == "vertex":
            columns(e.data, f.data, e.data.dtype.names, {})
            continue
        for name in e.data.dtype.names or ():
            same(e.data[name], f.data[name], f"{e.name} {name}")
    if odd.exists():
        z = PlyData.read(odd)
        for name in x["vertex"].data.dtype.names:
            same(x["vertex"].data[name][1::2], z["vertex"].data[name], f"odd {name}")


def records(las: Any) -> list[Any]:
    """List the records of variable length, but for that of extra bytes."""
    return [
        (v.user_id, v.record_id, v.record_data_bytes())
        for v in [*las.vlrs, *(las.evlrs or [])]
        if v.record_id != 4
    ]


def las(a: Path, b: Path, odd: Path) -> None:
    """Compare files of LAS."""
    x, y = laspy.read(a), laspy.read(b)
    assert len(x) == len(y) == y.header.point_count > 0
    assert records(x) == records(y)
    near(y.xyz, x.xyz + 0.25, "xyz", np.abs(x.header.scales))
    near(y.header.mins, y.xyz.min(0), "mins")
    near(y["residual"], np.arange(len(x)), "residual")
    near(y["nx"], 0.5 + np.zeros(len(x)), "nx")
    for name in x.point_format.dimension_names:
        if name == "ExtraBytes":
            names = y.point_format.dimension_names
            parts = [np.atleast_2d(y[n].T).T for n in names if "undescribed" in n]
            same(x[name].reshape(len(x), -1), np.hstack(parts), name)
        elif name not in ("X", "Y", "Z", "residual", "nx"):
            same(np.asarray(x[name]), np.asarray(y[name]), name)
    if odd.exists():
        z = laspy.read(odd)
        assert records(x) == records(z)
        assert z.header.point_count == len(x) // 2
        same(x.points.array[1::2], z.points.array, "odd")
        counts = [(np.asarray(z.return_number) == k + 1).sum() for k in range(5)]
        if len(z) != len(x):
            assert list(z.header.number_of_points_by_return[:5]) == counts, "returns"


def pcd(a: Path, b: Path, odd: Path) -> None:
    """Compare files of PCD, where pypcd4 is there."""
    try:
        from pypcd4 import PointCloud
    except ImportError:
        return
    try:
        x = PointCloud.from_path(a)
    except (ValueError, RuntimeError):  # it has no COUNT 0, data stored, two blanks
        return
    lines = a.read_bytes().partition(b"DATA")[0].decode("ascii", "replace").split("\n")
    named = next(
        line.split()[1:] for line in lines if line[:1] in "FC" and " x" in line
    )
    if not all(name.isidentifier() for name in named):  # it has no other names
        return
    y = PointCloud.from_path(b)
    names = [name for name in x.pc_data.dtype.names if not name.startswith("#")]
    columns(x.pc_data, y.pc_data, names, NAMES)
    if odd.exists():
        z = PointCloud.from_path(odd)
        for name in "xyz":
            same(x.pc_data[name][1::2], np.atleast_1d(z.pc_data[name]), name)


def table(path: Path) -> list[list[str]]:
    """Return the cells of a table of text."""
    text = path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    lines = [line for line in text.split("\n") if line.strip()]
    while lines[0].lstrip().startswith("#"):
        lines.pop(0)
    comma = next((c for c in ";," if c in lines[0]), None)
    return [[cell.strip() for cell in line.split(comma)] for line in lines]


def xyz(a: Path, b: Path, odd: Path) -> None:
    """Compare tables of text."""
    x, y = table(a), table(b)
    assert len(x) == len(y), "lines"
    for k, (u, v) in enumerate(zip(x, y, strict=True)):
        moved = [float(c) + 0.25 for c in u[:3]]
        near([float(c) for c in v[:3]], moved, f"line {k}")
        assert v[3:] == [*u[3:], str(k), "0.5"], f"line {k}: {u}, {v}"
    assert not odd.exists() or table(odd) == x[1::2], "odd"


Judge = Callable[[Path, Path, Path], None]
JUDGES: dict[str, Judge] = {".ply": ply, ".las": las, ".pcd": pcd, ".xyz": xyz}
bad = 0
for source in sorted(Path(sys.argv[1]).glob("*.in.*")):
    stem, suffix = source.name.removesuffix(f".in{source.suffix}"), source.suffix
    try:
        out, odd = (source.with_name(f"{stem}.{k}{suffix}") for k in ("out", "odd"))
        JUDGES[suffix](source, out, odd)
    except BaseException as error:  # whatever a reader throws
        bad += 1
        print(f"{source.name}: {type(error).__name__}: {str(error)[:300]}")
print(f"{bad} accepted otherwise")
sys.exit(bad > 0)
