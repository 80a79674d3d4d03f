"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__: list[str] = []


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a new file to write, and put it in the place of another when all went well.

    Links are followed, and stay. The file keeps the mode of the other; a new one has
    that which the umask leaves.
    """
    target = Path(os.path.realpath(path))
    name = target.with_name(f".scqm-{secrets.token_hex(8)}{target.suffix}")
    os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    try:
        yield name
        with open(name, "rb+") as written:
            os.fsync(written.fileno())
        if target.exists():
            name.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(name, target)
    except BaseException:
        name.unlink(missing_ok=True)
        raise
