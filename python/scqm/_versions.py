"""What a bug report needs: versions and the platform."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys

from ._native import library
from ._version import __version__

__all__ = ["show_versions"]

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "matplotlib",
    "pandas",
    "tqdm",
    "grpcio",
    "dask",
    "distributed",
    "pymanopt",
    "jax",
    "torch",
)


def show_versions() -> None:
    """Print the versions of scqm, of Python and of the packages around it.

    Examples
    --------
    >>> import scqm
    >>> scqm.show_versions()  # doctest: +ELLIPSIS
    scqm...
    """
    facts = {
        "scqm": __version__,
        "library": library()["platform"],
        "python": sys.version.replace("\n", " "),
        "executable": sys.executable,
        "machine": platform.platform(),
        "processors": str(os.cpu_count()),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "not set"),
        "SCQM_MEMORY": os.environ.get("SCQM_MEMORY", "not set"),
    }
    for name in PACKAGES:
        try:
            facts[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            facts[name] = "not installed"
    width = max(map(len, facts))
    for name, fact in facts.items():
        print(f"{name.ljust(width)}  {fact}")
