"""Write a plugin to begin with.

The template is the same that ``scqm plugin new`` writes; its first line names this
interpreter, so that the plugin finds what it imports.
"""

from __future__ import annotations

import re
import sys
from importlib.resources import files
from pathlib import Path

from scqm.plugin._find import PREFIX


def new(name: str, folder: str | Path = ".") -> Path:
    """Write a plugin that works.

    Parameters
    ----------
    name : str
        Name of the loss: a lower case letter and up to 63 of a-z, 0-9 and _.
    folder : str or Path
        Where to write it.

    Returns
    -------
    Path
        The executable file ``scqm-loss-NAME``, run by this interpreter.

    Raises
    ------
    ValueError
        If the name cannot be used.
    FileExistsError
        If the file exists; nothing is overwritten.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name):
        raise ValueError(
            f"the name {name!r} is not a lower case letter "
            "and up to 63 of a-z, 0-9 and _"
        )
    text = files("scqm.plugin").joinpath("template.txt").read_text(encoding="utf-8")
    text = text.replace("#!/usr/bin/env python3", f"#!{sys.executable}", 1).replace(
        "NAME", name
    )
    path = Path(folder) / (PREFIX + name)
    with path.open("x", encoding="utf-8") as f:
        f.write(text)
    path.chmod(0o755)
    return path
