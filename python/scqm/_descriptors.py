"""A look at the open files of the process, before the Go library is loaded.

The Go runtime ends the whole process with a trace where it may not open the two
files that it waits with, which happens while the library ``_core`` is loaded.
"""

from __future__ import annotations

import errno
import os

# The library opens a file while it is loaded, and the runtime two that it waits
# with and two about control groups; the others are for good measure.
NEEDED = 8


def check_descriptors() -> None:
    """Raise OSError where the process may not open a few more files."""
    taken: list[int] = []
    try:
        for _ in range(NEEDED):
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            return
        raise OSError(
            error.errno,
            f"scqm: this process may not open {NEEDED} more files;"
            " raise the limit with ulimit -n, or close files",
        ) from None
    finally:
        for descriptor in taken:
            os.close(descriptor)
