"""Laser scans in and out by laspy, where it is installed.

What the program writes is read, and the other way round; all that a file says beside
the points stays; and what cannot be read or written is refused by name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scqm import InputError, ManifoldDenoiser
from scqm.datasets import make_sphere, read_las
from scqm.exceptions import FileError

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
    assert sorted(p.name for p in tmp_path.iterdir()) == ["damaged.las", "scan.las"]
