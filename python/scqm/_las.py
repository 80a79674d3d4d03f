"""Laser scans in the formats .las and .laz, by laspy where that is installed.

What a file says beside the points stays with it: a scan that was read is written with
other points, fewer of them, or more columns, and all else as it was.
"""

from __future__ import annotations

import copy
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._native import Array
from .exceptions import FileError, InputError

__all__ = ["LasScan", "read_las"]


class LasScan:
    """A laser scan with all that its file says of it.

    Attributes
    ----------
    points : ndarray of shape (n, 3)
        Coordinates x, y and z.
    las : laspy.LasData
        The scan as laspy has it, with its attributes.
    """

    points: Array
    las: Any

    def __init__(self, las: Any) -> None:
        self.las = las
        self.points = np.ascontiguousarray(las.xyz, dtype=np.float64)

    def write(
        self,
        path: str | os.PathLike[str],
        points: npt.ArrayLike,
        *,
        keep: npt.ArrayLike | None = None,
        columns: dict[str, npt.ArrayLike] | None = None,
    ) -> None:
        """Write the scan with other points, all else as it was.

        Parameters
        ----------
        path : str or path-like
            File to write, ending in .las or .laz. It appears whole or not at all.
        points : array-like of shape (n, 3)
            Coordinates, in the order of `points`. They are rounded to the steps of
            the file.
        keep : array-like of bool, shape (n,), optional
            Points to write; all by default.
        columns : dict of array-like of shape (n,), optional
            Further attributes by name, such as normals and scores, as extra bytes.

        Raises
        ------
        InputError
            Shapes or names that do not fit; a ValueError.
        """
        target = _named(path)
        moved = np.asarray(points, dtype=np.float64)
        if moved.shape != self.points.shape or not np.isfinite(moved).all():
            raise InputError(
                f"points must be finite numbers of the shape {self.points.shape}"
            )
        kept = np.ones(len(moved), bool) if keep is None else np.asarray(keep)
        if kept.shape != moved.shape[:1] or kept.dtype != bool or not kept.any():
            raise InputError(f"keep must be {len(moved)} truth values, not all False")
        las = _laspy().LasData(copy.deepcopy(self.las.header), self.las.points.copy())
        for name, values in (columns or {}).items():
            column = np.asarray(values, dtype=np.float64)
            if column.shape != moved.shape[:1]:
                raise InputError(f"the column {name!r} must have {len(moved)} values")
            _add(las, name, column)
        try:
            las.xyz = moved
        except OverflowError as error:
            raise InputError(
                f"points are beyond the steps of the file: {error}"
            ) from error
        if not kept.all():
            las.points = las.points[kept]
        _write(las, target)


def read_las(path: str | os.PathLike[str]) -> LasScan:
    """Read a laser scan.

    Parameters
    ----------
    path : str or path-like
        File ending in .las or .laz. The latter needs lazrs or laszip beside laspy
        (``pip install laspy[lazrs]``).

    Returns
    -------
    LasScan
        The points and all that the file says of them.

    Raises
    ------
    ImportError
        If laspy is not installed. The program ``scqm denoise`` reads .las without it.
    FileError
        If the file cannot be read.

    Examples
    --------
    >>> from scqm.datasets import read_las
    >>> read_las("scan.laz")  # doctest: +SKIP
    """
    source = _named(path)
    laspy = _laspy()
    try:
        las = laspy.read(source)
    except Exception as error:  # laspy raises what it comes upon in a damaged file
        raise FileError(f"{source}: {error or type(error).__name__}") from error
    if len(las.points) == 0:
        raise FileError(f"{source}: holds no points")
    return LasScan(las)


def _laspy() -> Any:
    try:
        import laspy
    except ImportError as error:
        raise ImportError(
            "reading .las and .laz needs laspy; pip install 'laspy[lazrs]'"
        ) from error
    return laspy


def _named(path: str | os.PathLike[str]) -> Path:
    named = Path(path)
    if named.suffix.lower() not in (".las", ".laz"):
        raise InputError(f"{named}: the name must end in .las or .laz")
    return named


def _add(las: Any, name: str, column: Array) -> None:
    """Add an attribute, or replace one that is not a coordinate."""
    if name.lower() in ("x", "y", "z"):
        raise InputError(f"the column {name!r} would replace coordinates")
    if name not in las.point_format.dimension_names:
        las.add_extra_dim(_laspy().ExtraBytesParams(name=name, type=np.float64))
    las[name] = column


def _write(las: Any, target: Path) -> None:
    """Write into a file of its own beside the target, and rename that."""
    handle, name = tempfile.mkstemp(suffix=target.suffix, dir=target.parent or ".")
    os.close(handle)
    try:
        las.write(name)
        with open(name, "rb+") as written:
            os.fsync(written.fileno())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
