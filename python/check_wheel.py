"""Try the wheel, and the sdist, in fresh environments of every Python here.

Every CPython from 3.10 on that is on the PATH or among the versions of pyenv gets
a virtual environment with the wheel, what pip installs with it, and pytest. It
imports the module, fits a model and runs the tests that need no more. The oldest
and the newest also build the sdist, with setuptools and nothing else of Python.

    make wheel-check
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 10)
TESTS = ("test_process.py", "test_losses.py")
SMOKE = """
import numpy as np, pickle, scqm, sys
X, truth = scqm.datasets.make_arc(60, random_state=0)
m = scqm.SCQM(1, loss="l1").fit(X)
assert (pickle.loads(pickle.dumps(m)).transform(X) == m.transform(X)).all()
assert scqm.ManifoldDenoiser(1, n_neighbors=10).fit(X).transform(X).shape == X.shape
print("CPython", sys.version.split()[0], "NumPy", np.__version__)
"""


def interpreters() -> dict[tuple[int, ...], Path]:
    """Return the first interpreter found of each version."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    folders = [Path(f) for f in os.environ.get("PATH", "").split(os.pathsep)]
    candidates = [*pyenv.glob("*/bin/python3")]
    candidates += [p for f in folders for p in sorted(f.glob("python3*"))]
    found: dict[tuple[int, ...], Path] = {}
    ask = "import sys; print(sys.implementation.name, *sys.version_info[:3])"
    for path in candidates:
        if not path.name.removeprefix("python3").lstrip(".").isdigit() and (
            path.name != "python3"
        ):
            continue
        done = subprocess.run(
            [path, "-c", ask], capture_output=True, text=True, check=False
        )
        name, *numbers = done.stdout.split() or [""]
        version = tuple(map(int, numbers))
        if done.returncode == 0 and name == "cpython" and version >= OLDEST:
            found.setdefault(version, path)
    return found


def environment(python: Path, folder: Path, *packages: str) -> Path:
    """Make a virtual environment with packages, and return its interpreter."""
    run(python, "-m", "venv", folder)
    inside = folder / "bin" / "python"
    run(inside, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages)
    return inside


def run(*command: str | Path, folder: Path | None = None) -> str:
    """Run a command, and return what it prints; show it where it fails."""
    # The environments are those of pip alone.
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        command,
        cwd=folder,
        env=clean,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}")
    return done.stdout


def check_wheel(python: Path, wheel: Path, folder: Path) -> str:
    """Install the wheel and run the tests."""
    inside = environment(python, folder / "wheel", str(wheel), "pytest")
    # From another folder, so that the sources cannot be imported instead.
    said = run(inside, "-c", SMOKE, folder=folder)
    tests = [ROOT / "python" / "tests" / name for name in TESTS]
    command = (inside, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    last = run(*command, *tests, folder=folder).splitlines()[-1]
    return f"{said.strip()}: {last.strip('= ')}"


def check_sdist(python: Path, sdist: Path, folder: Path) -> str:
    """Build and install the sdist, with setuptools alone."""
    inside = environment(
        python, folder / "sdist", "setuptools>=77", "numpy", "scikit-learn"
    )
    run(
        inside, "-m", "pip", "install", "-q", "--disable-pip-version-check",
        "--no-build-isolation", "--no-deps", "--no-index", str(sdist),
    )  # fmt: skip
    return f"sdist: {run(inside, '-c', SMOKE, folder=folder).strip()}"


def one(pattern: str) -> Path:
    """Return the one file of dist that matches."""
    found = list((ROOT / "dist").glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"dist/{pattern}: {len(found)} files; want one")
    return found[0]


def main() -> None:
    """Check every interpreter."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("versions", nargs="*", help="such as 3.12; all without")
    wanted = arguments.parse_args().versions
    wheel, sdist = one("*.whl"), one("*.tar.gz")
    print(f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB")
    found = interpreters()
    if wanted:
        found = {v: p for v, p in found.items() if f"{v[0]}.{v[1]}" in wanted}
    if not found:
        raise SystemExit("no CPython from 3.10 on found")
    for version, python in sorted(found.items()):
        folder = Path(tempfile.mkdtemp(prefix="scqm-wheel-"))
        try:
            print(check_wheel(python, wheel, folder), flush=True)
            if version in (min(found), max(found)):
                print(check_sdist(python, sdist, folder), flush=True)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
