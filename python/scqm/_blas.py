"""Lend SciPy's matrix product to the library.

SciPy brings an optimised BLAS, which scikit-learn has loaded anyway. Its dgemm
is several times as fast as the one of the library. Any doubt about it leaves
the library with its own.
"""

from __future__ import annotations

import ctypes
import os
import re

from ._library import _core
from .exceptions import InputError

VARIABLE = "SCQM_BLAS"

# The signature of dgemm with 32-bit lengths; SciPy has a name for double.
SIGNATURE = (
    "void (char *, char *, int *, int *, int *, double *, double *, int *, "
    "double *, int *, double *, double *, int *)"
)
DOUBLE = re.compile(r"\b__pyx_t_\w+_d\b")

# Of OpenBLAS it is known up to which size it computes products on the calling
# thread, so that its results do not depend on the number of its threads.
OPENBLAS = ("scipy_openblas_get_config", "openblas_get_config")


def borrow() -> str:
    """Lend SciPy's dgemm, and return whose products are used: scipy or gonum."""
    wanted = os.environ.get(VARIABLE) or "scipy"
    if wanted not in ("scipy", "gonum"):
        raise InputError(f"{VARIABLE} is {wanted!r}; want scipy or gonum")
    if wanted == "gonum":
        return "gonum"
    address = dgemm()
    if address == 0 or _core.bindings_UseDgemm(address) == 0:
        return "gonum"
    return "scipy"


def dgemm() -> int:
    """Return the address of SciPy's dgemm, 0 where it is not what is known."""
    try:
        from scipy.linalg import cython_blas

        capsule = cython_blas.__pyx_capi__["dgemm"]
        library = ctypes.CDLL(cython_blas.__file__)
    except (ImportError, AttributeError, KeyError, OSError):
        return 0
    if not any(hasattr(library, name) for name in OPENBLAS):
        return 0
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    name = name_of(capsule)
    if name is None or DOUBLE.sub("double", name.decode()) != SIGNATURE:
        return 0
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype = ctypes.c_void_p
    pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address: int = pointer_of(capsule, name) or 0
    return address
