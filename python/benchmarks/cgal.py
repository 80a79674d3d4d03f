"""Smooth points by CGAL, compiled on the spot where its headers are installed.

Debian's packages libcgal-dev and libeigen3-dev bring them.
"""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

# Neighbours, as in the demo that CGAL ships.
NEIGHBOURS = 24
FLAGS = ["-std=c++17", "-O2", "-DNDEBUG", "-DCGAL_EIGEN3_ENABLED"]
EIGEN = Path("/usr/include/eigen3")
HEADER = Path("/usr/include/CGAL/jet_smooth_point_set.h")


def missing() -> str | None:
    """Say what keeps it from being compiled, if anything does."""
    if shutil.which("g++") is None:
        return "g++ is not on the path"
    for needed in (HEADER, EIGEN):
        if not needed.exists():
            return f"there is no {needed}"
    return None


@functools.cache
def program() -> Path:
    """Compile, once, and return the program, which is deleted at the end."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    source = Path(__file__).with_name("cgal_smooth.cpp")
    made = Path(folder, "cgal_smooth")
    files = ["-o", str(made), str(source)]
    command = ["g++", *FLAGS, f"-I{EIGEN}", *files, "-lgmp", "-lmpfr"]
    subprocess.run(command, check=True, capture_output=True)
    return made


def smooth(
    X: npt.NDArray[np.float64], method: str, rounds: int = 1
) -> npt.NDArray[np.float64]:
    """Return points smoothed by "jet" or "bilateral", in their order."""
    command = [str(program()), method, str(NEIGHBOURS), str(rounds)]
    points = np.ascontiguousarray(X, np.float64).tobytes()
    done = subprocess.run(command, input=points, check=True, capture_output=True)
    return np.frombuffer(done.stdout, np.float64).reshape(-1, 3)
