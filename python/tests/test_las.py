"""Laser scans in and out by laspy, where it is installed.

What the program writes is read, and the other way round; all that a file says beside
the points stays; and what cannot be read or written is refused by name.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scqm import ManifoldDenoiser
from scqm.datasets import make_sphere, read_las
from scqm.exceptions import FileError, InputError

laspy = pytest.importorskip("laspy", reason="laspy is optional")


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    points, _ = make_sphere(300, noise=0.02, random_state=0)
    header = laspy.LasHeader(point_format=7, version="1.4")
    header.scales, header.offsets = np.full(3, 1e-6), np.zeros(3)
    las = laspy.LasData(header)
    las.xyz = points
    las.red = np.arange(300)
    las.write(tmp_path / "scan.las")
    return tmp_path / "scan.las"


def test_attributes_stay(scan: Path, tmp_path: Path) -> None:
    read = read_las(scan)
    denoiser = ManifoldDenoiser(method="mls").fit(read.points)
    moved, geometry = denoiser.describe(read.points)
    keep = geometry.outlier_score < np.quantile(geometry.outlier_score, 0.9)
    clean = tmp_path / "clean.las"
    read.write(clean, moved, keep=keep, columns={"error": geometry.error})
    again = read_las(clean)
    np.testing.assert_allclose(again.points, moved[keep], atol=6e-7)
    np.testing.assert_array_equal(again.las.red, np.arange(300)[keep])
    np.testing.assert_array_equal(again.las["error"], geometry.error[keep])
    assert again.las.header.point_format.id == 7


def test_compressed(scan: Path, tmp_path: Path) -> None:
    pytest.importorskip("lazrs", reason="lazrs is optional")
    read = read_las(scan)
    read.write(tmp_path / "scan.laz", read.points)
    np.testing.assert_array_equal(read_las(tmp_path / "scan.laz").points, read.points)


def test_refused(scan: Path, tmp_path: Path) -> None:
    read = read_las(scan)
    clean = tmp_path / "clean.las"
    refused: list[dict[str, Any]] = [
        {"points": read.points[:2]},
        {"points": read.points * np.nan},
        {"points": read.points * 1e9},
        {"points": read.points, "keep": [True]},
        {"points": read.points, "keep": np.zeros(300, bool)},
        {"points": read.points, "columns": {"a": [1.0]}},
        {"points": read.points, "columns": {"x": read.points[:, 0]}},
    ]
    for arguments in refused:
        with pytest.raises(InputError):
            read.write(clean, **arguments)
    with pytest.raises(InputError):
        read.write(tmp_path / "clean.ply", read.points)
    (tmp_path / "damaged.las").write_bytes(scan.read_bytes()[:300])
    with pytest.raises(FileError):
        read_las(tmp_path / "damaged.las")
    (tmp_path / "damaged.las").write_bytes(scan.read_bytes() + b"\0")
    assert len(read_las(tmp_path / "damaged.las").points) == 300
    assert sorted(p.name for p in tmp_path.iterdir()) == ["damaged.las", "scan.las"]


def test_damaged_chunks(scan: Path, tmp_path: Path) -> None:
    """What decoders of .laz would believe is compared with the file."""
    pytest.importorskip("lazrs", reason="lazrs is optional")
    path = tmp_path / "scan.laz"
    read_las(scan).write(path, read_las(scan).points)
    whole = path.read_bytes()
    points = int.from_bytes(whole[96:100], "little")
    table = int.from_bytes(whole[points : points + 8], "little")
    for at, value in (
        (247, 2**40),  # points
        (107, 299),  # points, once more
        (points, 2**40),  # place of the table
        (table + 4, 2**31),  # chunks
        (table + 8, 2**63),  # their sizes
        (whole.index(b"laszip encoded") + 52 + 12, 7),  # points of a chunk
    ):
        damaged = bytearray(whole)
        size = 4 if at in (107, table + 4) or value == 7 else 8
        damaged[at : at + size] = value.to_bytes(size, "little")
        path.write_bytes(damaged)
        with pytest.raises(FileError, match=r"'.*scan\.laz': .+"):
            read_las(path)


def test_replaced(scan: Path, tmp_path: Path) -> None:
    """Columns of any type, records, links and modes."""
    read = read_las(scan)
    read.las.add_extra_dim(laspy.ExtraBytesParams("error", "u1"))
    read.las.evlrs = laspy.vlrs.vlrlist.VLRList([laspy.VLR("someone", 7, "", b"more")])
    target = tmp_path / "target.las"
    target.write_bytes(b"")
    target.chmod(0o640)
    (tmp_path / "link.las").symlink_to("second.las")
    (tmp_path / "second.las").symlink_to(target)
    values = np.linspace(0, 1, 300)
    read.write(tmp_path / "link.las", read.points, columns={"error": values})
    assert (tmp_path / "link.las").is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    again = read_las(target)
    np.testing.assert_array_equal(again.las["error"], values)
    assert again.las.evlrs[0].record_data == b"more"


def test_chunks_larger_than_memory(scan: Path, tmp_path: Path) -> None:
    pytest.importorskip("lazrs", reason="lazrs is optional")
    path = tmp_path / "scan.laz"
    read_las(scan).write(path, read_las(scan).points)
    content = path.read_bytes()
    chunk = laspy.open(path).header.vlrs.get("LasZipVlr")[0].record_data[12:16]
    at = content.index(chunk, 375)
    path.write_bytes(content[:at] + struct.pack("<I", 2**30) + content[at + 4 :])
    with pytest.raises(FileError, match="chunks of 1073741824 points, and 300"):
        read_las(path)


def test_changed_files(scan: Path, tmp_path: Path) -> None:
    """Changed files are refused, or read as laspy reads them (10,000 were, once)."""
    pytest.importorskip("lazrs", reason="lazrs is optional")
    path = tmp_path / "scan.laz"
    read_las(scan).write(path, read_las(scan).points)
    whole = path.read_bytes()
    seed = int(np.random.default_rng().integers(2**32))
    rng = np.random.default_rng(seed)
    for _ in range(200):
        content = bytearray(whole)
        for _ in range(rng.integers(1, 4)):
            at = int(rng.integers(rng.choice([len(content), min(len(content), 900)])))
            match rng.integers(4):
                case 0:
                    content[at] ^= 1 << rng.integers(8)
                case 1:
                    del content[at : at + rng.integers(1, 30)]
                case 2:
                    content[at:at] = rng.bytes(int(rng.integers(1, 9)))
                case _:
                    content[at] = rng.choice([0, 255])
        path.write_bytes(content)
        try:
            points = read_las(path).points
        except FileError:
            continue
        np.testing.assert_array_equal(points, laspy.read(path).xyz, f"seed {seed}")
