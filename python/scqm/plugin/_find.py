"""Where plugins are.

A name is looked for in the folders of the user and among the scripts of installed
packages, never in the working folder: what is found does not depend on where one
stands.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from importlib.metadata import entry_points
from pathlib import Path

PREFIX = "scqm-loss-"
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class PluginNotFoundError(FileNotFoundError):
    """There is no plugin of that name."""


def folders() -> list[Path]:
    """List the folders in which plugins are looked for.

    Returns
    -------
    list of Path
        Those of ``$SCQM_PLUGIN_PATH``, then ``scqm/plugins`` in the user's
        data directory. Only absolute paths count: what is found does not depend
        on the working directory.
    """
    listed = [Path(f) for f in os.environ.get("SCQM_PLUGIN_PATH", "").split(os.pathsep)]
    if sys.platform == "darwin":
        data = Path.home() / "Library" / "Application Support"
    else:
        data = Path.home() / ".local" / "share"
    chosen = Path(os.environ.get("XDG_DATA_HOME", ""))
    listed.append((chosen if chosen.is_absolute() else data) / "scqm" / "plugins")
    return [folder for folder in listed if folder.is_absolute()]


def find(name: str) -> Path:
    """Find the file of a plugin.

    Parameters
    ----------
    name : str
        A path, or the NAME of a file ``scqm-loss-NAME`` in `folders`, or of a
        console script ``scqm-loss-NAME`` that an installed package declares as
        an entry point.

    Returns
    -------
    Path
        The file, to be given to ``scqm fit --plugin``.

    Raises
    ------
    PluginNotFoundError
        If there is none.
    """
    if os.sep in name:
        if Path(name).is_file():
            return Path(name)
        raise PluginNotFoundError(f"there is no plugin {name!r}")
    if not NAME.fullmatch(name):
        raise PluginNotFoundError(
            f"{name!r} is no name of a plugin, a lower case letter and up to 63 of "
            "a-z, 0-9 and _; a path has a /, as in ./scqm-loss-mine"
        )
    file = PREFIX + name
    for folder in folders():
        if (folder / file).is_file():
            return folder / file
    if entry_points(group="console_scripts", name=file):
        script = Path(sysconfig.get_path("scripts")) / file
        if script.is_file():
            return script
    places = ", ".join(map(str, folders()))
    raise PluginNotFoundError(
        f"there is no {file} in {places}, and no installed package "
        "declares it; give its path, or set SCQM_PLUGIN_PATH"
    )
