"""What the program writes, as plyfile, laspy and trimesh read it, where installed.

All that a file says beside its points stays, value by value.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib.recfunctions import repack_fields

CLOUDS = Path(__file__).resolve().parents[2] / "cmd" / "scqm" / "testdata" / "clouds"
NEW = {
    "residual", "noise", "neighbors", "ridge", "extrapolated", "unchanged", "error",
    "outlier_score", "nx", "ny", "nz",
}  # fmt: skip


def denoise(program: Path, source: Path, target: Path, *flags: str) -> None:
    arguments: list[Any] = ["denoise", source, "--method", "mls", "-o", target, *flags]
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def same(a: Any, b: Any) -> None:
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


@pytest.fixture(params=["text", "<", ">"])
def mesh(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Vertices with a list, a property of the name of a column, faces and edges."""
    ply = pytest.importorskip("plyfile", reason="plyfile is optional")
    rng = np.random.default_rng(3)
    points = rng.normal(size=(90, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    vertex = np.empty(
        90,
        dtype=[
            ("seen", "O"),
            *((n, "f4") for n in "xyz"),
            ("noise", "u1"),
            ("w", "f8"),
        ],
    )
    if request.param == ">":  # plyfile writes lists beside numbers in one order only
        vertex = repack_fields(vertex[["x", "y", "z", "noise", "w"]])
    else:
        vertex["seen"] = [np.arange(k % 3, dtype="i4") for k in range(90)]
    for k, name in enumerate("xyz"):
        vertex[name] = points[:, k]
    vertex["noise"], vertex["w"] = 7, rng.normal(size=90)
    face = np.empty(4, dtype=[("vertex_indices", "O"), ("kind", "i1")])
    face["vertex_indices"] = [np.arange(3, dtype="i4") + k for k in range(4)]
    face["kind"] = -1
    elements = [
        ply.PlyElement.describe(vertex, "vertex", comments=["points"]),
        ply.PlyElement.describe(face, "face"),
    ]
    text = request.param == "text"
    order = "=" if text else request.param
    path = tmp_path / "mesh.ply"
    ply.PlyData(elements, text=text, byte_order=order, comments=["by plyfile"]).write(
        path
    )
    return path


def test_ply(program: Path, mesh: Path, tmp_path: Path) -> None:
    ply = pytest.importorskip("plyfile", reason="plyfile is optional")
    denoise(program, mesh, tmp_path / "a.ply", "--report", "--normals")
    denoise(program, tmp_path / "a.ply", tmp_path / "b.ply", "--report", "--normals")
    before = ply.PlyData.read(mesh)
    for name in ("a.ply", "b.ply"):
        after = ply.PlyData.read(tmp_path / name)
        assert (after.text, after.comments) == (before.text, before.comments)
        assert [e.name for e in after] == ["vertex", "face"]
        for field in set(before["vertex"].data.dtype.names) - set("xyz") - {"noise"}:
            same(before["vertex"][field], after["vertex"][field])
        for field in ("vertex_indices", "kind"):
            same(before["face"][field], after["face"][field])
        names = set(before["vertex"].data.dtype.names)
        assert set(after["vertex"].data.dtype.names) == names | NEW
        assert 0 < after["vertex"]["noise"].max() < 1, "of any type"
        normals = np.stack([after["vertex"][n] for n in ("nx", "ny", "nz")], 1)
        np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1)


@pytest.mark.parametrize("name", ["list_first.ply", "crlf_header.ply"])
def test_ply_of_others(program: Path, name: str, tmp_path: Path) -> None:
    ply = pytest.importorskip("plyfile", reason="plyfile is optional")
    denoise(program, CLOUDS / name, tmp_path / name, "--report", "--drop-outliers")
    before, after = ply.PlyData.read(CLOUDS / name), ply.PlyData.read(tmp_path / name)
    assert 60 < after["vertex"].count <= before["vertex"].count
    if "seen_by" in before["vertex"].data.dtype.names:
        assert all(
            np.issubdtype(v.dtype, np.integer) for v in after["vertex"]["seen_by"]
        )


@pytest.mark.parametrize("name", ["evlr.las", "twice.las", "made.las"])
def test_las(program: Path, name: str, tmp_path: Path) -> None:
    laspy = pytest.importorskip("laspy", reason="laspy is optional")
    source = CLOUDS / name
    if name == "made.las":  # with extra bytes, some of which no record describes
        las = laspy.read(CLOUDS / "evlr.las")
        las.add_extra_dim(laspy.ExtraBytesParams("noise", "3i2"))
        las.add_extra_dim(laspy.ExtraBytesParams("mine", "u2"))
        las["mine"] = np.arange(len(las))
        source = tmp_path / name
        las.write(source)
        content = bytearray(source.read_bytes())
        at = content.index(b"LASF_Spec") - 2
        content[at + 20 : at + 22] = (192).to_bytes(2, "little")  # noise alone
        start = int.from_bytes(content[96:100], "little")
        del content[at + 54 + 192 : start]
        for place, size in ((96, 4), (235, 8)):
            old = int.from_bytes(content[place : place + size], "little")
            content[place : place + size] = (old - 192).to_bytes(size, "little")
        source.write_bytes(content)
    denoise(program, source, tmp_path / "a.las", "--report", "--drop-outliers=3")
    denoise(program, tmp_path / "a.las", tmp_path / "b.las", "--report")
    before = laspy.read(source)
    for path in (tmp_path / "a.las", tmp_path / "b.las"):
        after = laspy.read(path)
        assert 60 < len(after) == after.header.point_count <= len(before)
        assert sum(after.header.number_of_points_by_return) == len(after)
        evlrs = [
            [(v.user_id, v.record_id, v.record_data_bytes()) for v in f.evlrs or []]
            for f in (before, after)
        ]
        assert evlrs[0] == evlrs[1]
        np.testing.assert_allclose(after.header.maxs, after.xyz.max(0))
        assert np.isfinite(after["residual"]).all()
        assert after["noise"].dtype == np.float64
    if name == "made.las":
        kept = before["ExtraBytes"].view("<u2").ravel()
        assert set(after["undescribed_0"].view("<u2").ravel()) <= set(kept)
