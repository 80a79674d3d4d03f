"""Write wheels and sdists whose bytes depend on the sources alone.

Equal sources, tools and ``SOURCE_DATE_EPOCH`` make equal files: members are in the
order of their names, with modes that no umask changes, without owners, and with
one date.
"""

from __future__ import annotations

import gzip
import os
import re
import stat
import tarfile
from pathlib import Path

import extension

# A date for who sets none: that of the oldest file a zip archive can hold.
OLDEST = 315532800


# Where files of the repository and pictures are for who reads the page of an index.
FILES = "https://github.com/scqm/scqm/blob/main/"
PICTURES = "https://raw.githubusercontent.com/scqm/scqm/main/"


def description() -> str:
    """Return the README with links that lead somewhere from the page of an index."""
    text = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
    relative = r"\]\((?!https?://|#)"
    text = re.sub(rf"(!\[[^]]*){relative}", rf"\1]({PICTURES}", text)
    return re.sub(relative, f"]({FILES}", text)


def epoch() -> int:
    """Return the date that files get, in seconds."""
    return int(os.environ.get("SOURCE_DATE_EPOCH", OLDEST))


def finish_wheel(dist_info: Path) -> None:
    """Add the bill of materials (PEP 770), and level the files."""
    package = dist_info.parent / "scqm"
    linked = [*package.glob("_core*.so"), *package.glob(extension.GUARD)]
    if not linked:
        return  # the stand-in that an editable install makes
    bills = dist_info / "sboms"
    bills.mkdir(exist_ok=True)
    bill = extension.capture(
        "go", "run", "-buildvcs=false", "./internal/release", "sbom", *map(str, linked)
    )
    (bills / "scqm.cdx.json").write_text(bill, encoding="utf-8")
    level(dist_info.parent)


def level(folder: Path) -> None:
    """Give files the modes and dates that any machine would give them."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            path.chmod(mode(path.stat().st_mode))
        os.utime(path, (epoch(), epoch()))


def mode(found: int) -> int:
    """Return the mode of a file: only whether it can be run is kept."""
    return 0o755 if found & stat.S_IXUSR else 0o644


def write_sdist(archive: Path, tree: Path) -> None:
    """Pack a folder as a gzipped archive."""
    with (
        archive.open("wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, epoch()) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in (tree, *sorted(tree.rglob("*"))):
            member = tar.gettarinfo(path, path.relative_to(tree.parent).as_posix())
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = epoch()
            member.mode = 0o755 if path.is_dir() else mode(path.stat().st_mode)
            if path.is_dir():
                tar.addfile(member)
            else:
                with path.open("rb") as text:
                    tar.addfile(member, text)
