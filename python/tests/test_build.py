"""What builds the wheel and the sdist gives equal bytes for equal sources.

What gopy writes in any order is sorted, archives are levelled, and requirements are
pinned by their hashes. Nothing is built here.
"""

from __future__ import annotations

import os
import random
import re
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Only for these: workers of other tests would import the sources with the path.
sys.path.insert(0, str(ROOT / "python"))
import distribution  # noqa: E402
import extension  # noqa: E402

sys.path.remove(str(ROOT / "python"))

NAMES = ["Cancel", "Cost", "FitReport", "StartFit", "Wait"]
CALL = "add_checked_function(mod, 'bindings_{0}', retval('int64_t'), [])\n"
EXPORT = "//export bindings_{0}\nfunc bindings_{0}() C.longlong {{\n\treturn 1\n}}\n\n"


def build_py(names: list[str]) -> str:
    calls = "".join(CALL.format(n) for n in names)
    return f"mod = Module('_core')\n{calls}\nmod.generate(open('core.c', 'w'))\n"


def core_go(names: list[str]) -> str:
    exports = "".join(EXPORT.format(n) for n in names)
    return f"//export Slice_len\n\n// ---- Functions ---\n\n{exports}\n"


def test_the_order_of_gopy_does_not_matter() -> None:
    for seed in range(5):
        shuffled = random.Random(seed).sample(NAMES, len(NAMES))
        assert extension.sort_calls(build_py(shuffled)) == build_py(NAMES)
        ordered = extension.sort_exports(core_go(shuffled))
        assert ordered == extension.sort_exports(core_go(NAMES))
        assert re.findall(r"(?m)^func bindings_(\w+)", ordered) == NAMES
        assert ordered.startswith("//export Slice_len\n\n// ---- Functions ---\n")


def test_other_sources_than_those_of_gopy_are_refused() -> None:
    with pytest.raises(extension.BuildError, match="list of functions"):
        extension.sort_exports("//export bindings_Cost\n")


def tree(folder: Path, mask: int) -> Path:
    """Make a folder with three files; mask are the rights that others lack."""
    old = os.umask(mask)
    try:
        top = folder / "scqm-0"
        (top / "sub").mkdir(parents=True)
        for name in ("b.txt", "a.txt", "sub/run"):
            (top / name).write_text(name, encoding="utf-8")
        (top / "sub/run").chmod(0o777 & ~mask)
    finally:
        os.umask(old)
    return top


def test_sdists_are_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    archives = []
    for k, mask in enumerate((0o022, 0o077)):
        archive = tmp_path / f"{k}.tar.gz"
        folder = tmp_path / str(k)
        folder.mkdir()
        distribution.write_sdist(archive, tree(folder, mask))
        os.utime(folder / "scqm-0" / "a.txt", (k, k))
        distribution.write_sdist(archive, folder / "scqm-0")
        archives.append(archive.read_bytes())
    assert archives[0] == archives[1]
    with tarfile.open(tmp_path / "0.tar.gz") as packed:
        names = [m.name for m in packed]
        assert names == [
            "scqm-0",
            *(f"scqm-0/{n}" for n in ("a.txt", "b.txt", "sub", "sub/run")),
        ]
        assert {m.mtime for m in packed} == {1000000000}
        assert packed.getmember("scqm-0/sub/run").mode == 0o755
        assert packed.getmember("scqm-0/a.txt").mode == 0o644


def test_files_of_wheels_are_levelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    top = tree(tmp_path, 0o077)
    distribution.level(top)
    found = {p.name: p.stat() for p in top.rglob("*") if p.is_file()}
    assert {n: s.st_mode & 0o777 for n, s in found.items()} == {
        "a.txt": 0o644,
        "b.txt": 0o644,
        "run": 0o755,
    }
    assert {s.st_mtime for s in found.values()} == {1000000000}


def test_requirements_are_pinned_by_hash() -> None:
    lists = sorted((ROOT / "python").glob("requirements-*.in"))
    assert lists
    for source in lists:
        text = source.with_suffix(".txt").read_text(encoding="utf-8")
        packages = re.findall(r"(?m)^([\w.-]+)==\S+.*\\$", text)
        assert packages, source.name
        for package in re.split(r"(?m)^(?=[\w.-]+==)", text)[1:]:
            assert "--hash=sha256:" in package, package
        assert "://" not in text, "an address of a package index"
        wanted = re.findall(
            r"(?m)^([A-Za-z][\w.-]*)", source.read_text(encoding="utf-8")
        )
        assert {w.lower() for w in wanted} <= {p.lower() for p in packages}
