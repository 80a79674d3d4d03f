"""The library written in Go, loaded where there is room for it.

Its runtime reserves address space for its tables when it is loaded, and ends the
process where a limit leaves too little, then or for a thread later. So limits are
looked at first, and threads share what glibc reserves for their allocations, which
else is 64 MiB for each.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from .exceptions import MemoryLimitError

__all__ = ["_core"]

# What loading takes, in bytes: the tables of the runtime (1.1 GiB), the library
# itself, the first pieces of the heap, and a few threads with stacks of 8 MiB.
_ADDRESS_SPACE = 1728 << 20
_DATA = 320 << 20
# What scikit-learn and SciPy take beside that when they are imported, and for each
# processor: OpenBLAS sets aside a buffer and a stack, and where it cannot, it tries
# again for ever or ends the process.
_SCIENCE = 320 << 20
_SCIENCE_EACH = 48 << 20
# The parameter of mallopt for the number of arenas, and their number.
_M_ARENA_MAX = -8
_ARENAS = 2


def _check_room() -> None:
    """Raise MemoryLimitError where the library cannot be loaded."""
    try:
        import resource

        status = Path("/proc/self/status").read_text()
    except (ImportError, OSError):  # not Linux
        return
    more = 0
    if "sklearn.utils.validation" not in sys.modules:
        more = _SCIENCE + _SCIENCE_EACH * (os.cpu_count() or 1)
    taken = {
        words[0]: int(words[1]) << 10
        for words in map(str.split, status.splitlines())
        if len(words) == 3 and words[2] == "kB"
    }
    for limit, key, need, name in (
        (resource.RLIMIT_AS, "VmSize:", _ADDRESS_SPACE, "address space (ulimit -v)"),
        (resource.RLIMIT_DATA, "VmData:", _DATA, "the data segment (ulimit -d)"),
    ):
        most, _ = resource.getrlimit(limit)
        need += more
        left = most - taken.get(key, 0)
        if most == resource.RLIM_INFINITY:
            continue
        if left < need:
            raise MemoryLimitError(
                f"scqm needs {need >> 20} MiB to load its libraries, and the limit "
                f"of {name} leaves {max(left, 0) >> 20} MiB; raise it"
            )
        _share_arenas()


def _share_arenas() -> None:
    """Have threads share what the C library reserves for allocations."""
    try:
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)
    except (AttributeError, OSError):  # not glibc, and without arenas
        return


_check_room()

from . import _core  # noqa: E402
