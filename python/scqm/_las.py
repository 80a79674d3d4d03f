"""Laser scans in the formats .las and .laz, by laspy where that is installed.

What a file says beside the points stays with it: a scan that was read is written with
other points, fewer of them, or more columns, and all else as it was.
"""

from __future__ import annotations

import copy
import os
import struct
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ._atomic import replacing
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
        las.evlrs = copy.deepcopy(self.las.evlrs)
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
        with replacing(target) as temporary:
            las.write(str(temporary))


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
        with open(source, "rb") as file:
            _check(file)
            file.seek(0)
            las = laspy.read(file, closefd=False)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # decoders throw what no Exception is, too
        raise FileError(f"{str(source)!r}: {error or type(error).__name__}") from error
    if len(las.points) == 0:
        raise FileError(f"{str(source)!r}: holds no points")
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
        raise InputError(f"{str(named)!r}: the name must end in .las or .laz")
    return named


def _add(las: Any, name: str, column: Array) -> None:
    """Add an attribute, or replace one of any type that is not a coordinate."""
    if name.lower() in ("x", "y", "z"):
        raise InputError(f"the column {name!r} would replace coordinates")
    if name in las.point_format.extra_dimension_names:
        las.remove_extra_dim(name)
    if name not in las.point_format.dimension_names:
        las.add_extra_dim(_laspy().ExtraBytesParams(name=name, type=np.float64))
    las[name] = column


def _check(file: BinaryIO) -> None:
    """Compare what a file says of itself with its size, before a decoder believes it.

    Source: ASPRS, LAS specification 1.4 - R15 (2019); M. Isenburg, LASzip: lossless
    compression of LiDAR data (2013).
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    head = file.read(375).ljust(375, b"\0")
    points, records = struct.unpack_from("<II", head, 96)
    begin, more = struct.unpack_from("<QI", head, 235) if head[25] == 4 else (size, 0)
    if points + 60 * more > size or 54 * records > points:
        raise FileError(f"has {size} bytes, too few for what its header counts")
    end = begin if more else size
    file.seek(0)
    header = _laspy().LasHeader.read_from(file)
    count, stride = header.point_count, header.point_format.size
    (short,) = struct.unpack_from("<I", head, 107)
    if short not in (0, count):
        raise FileError(f"counts {count} points and {short}")
    if header.are_points_compressed:
        laszip = header.vlrs.get("LasZipVlr")[0].record_data
        _check_chunks(file, laszip, points, end, count, stride)
    elif points + count * stride > end:
        raise FileError(f"has {end - points} bytes for {count} points of {stride}")


# Writers take 50,000 points; decoders end the process where there is no memory for one.
_LARGEST_CHUNK = 2**24


def _check_chunks(
    file: BinaryIO, laszip: bytes, points: int, end: int, count: int, stride: int
) -> None:
    """Compare the table of compressed chunks with the points and the file."""
    (chunk,) = struct.unpack_from("<I", laszip, 12)
    (items,) = struct.unpack_from("<H", laszip, 32)
    sizes = [struct.unpack_from("<H", laszip, 36 + 6 * k)[0] for k in range(items)]
    if sum(sizes) != stride:
        raise FileError(f"compresses points that have not {stride} bytes")
    file.seek(points)
    (table,) = struct.unpack("<q", file.read(8))
    if table == -1:
        file.seek(-8, os.SEEK_END)
        (table,) = struct.unpack("<q", file.read(8))
    room = table - points - 8
    if not 0 <= room <= end - points - 16:
        raise FileError(f"has its table of chunks at {table}, points end at {end}")
    file.seek(table)
    _, chunks = struct.unpack("<II", file.read(8))
    variable = chunk == 2**32 - 1
    if not variable and chunk > max(count, _LARGEST_CHUNK):  # it is set aside, whole
        raise FileError(f"has chunks of {chunk} points, and {count} points")
    fits = variable or chunks == -(-count // max(chunk, 1))
    if not fits or not min(count, 1) * stride <= chunks * stride <= room:
        raise FileError(f"has {chunks} chunks in {room} bytes for {count} points")
    try:
        import lazrs
    except ImportError:  # the decoder is laszip
        return
    file.seek(points)
    entries = lazrs.read_chunk_table(file, lazrs.LazVlr(laszip))
    held, taken = (sum(column) for column in zip(*entries, strict=True))
    if taken != room or (variable and held != count):
        raise FileError("has chunks of other sizes than its table says")
