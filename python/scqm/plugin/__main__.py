"""Command line: ``python -m scqm.plugin new NAME``.

It is for who has the Python package and not the program: ``new`` writes a plugin to
begin with, and ``find`` prints where one is.
"""

from __future__ import annotations

import argparse
import sys

from scqm.plugin._find import find
from scqm.plugin._new import new


def main(args: list[str] | None = None) -> int:
    """Run a command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m scqm.plugin", description="Begin and find loss plugins."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    begin = commands.add_parser("new", help="write a plugin to begin with")
    begin.add_argument("name", metavar="NAME", help="name of the loss")
    begin.add_argument(
        "-o", "--output", metavar="FOLDER", default=".", help="folder to write into"
    )
    where = commands.add_parser("find", help="print the file of a plugin")
    where.add_argument("name", metavar="NAME")
    given = parser.parse_args(args)
    try:
        if given.command == "find":
            print(find(given.name))
        else:
            path = new(given.name, given.output)
            print(
                f"wrote {path}\nnext: scqm plugin check ./{path}"
                if not path.is_absolute()
                else f"wrote {path}"
            )
    except (OSError, ValueError) as e:
        print(f"scqm.plugin: {given.command}: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
