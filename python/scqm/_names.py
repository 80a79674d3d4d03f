"""What is said of names that a module does not have."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable


def unknown(module: str, name: str) -> AttributeError:
    """Return the error, with the public name that is nearest."""
    here = sys.modules[module]
    public = [n for n in dir(here) if not n.startswith("_")]
    near = difflib.get_close_matches(name, public, 1)
    if not near:  # in other letters
        near = [n for n in public if n.lower() == name.lower()]
    hint = f". Did you mean: {near[0]!r}?" if near else ""
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint}")


def lookup(module: str) -> Callable[[str], object]:
    """Return the function ``__getattr__`` of a module."""

    def missing(name: str) -> object:
        raise unknown(module, name)

    return missing
