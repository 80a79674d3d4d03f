"""Parameters of fits: what they must be, and how docstrings and signatures get them.

All follows from :mod:`scqm._parameters`. A line ``{n_components, ridge}`` in the
docstring of a class or function stands for the entries of these parameters, and
``{...}`` for those of all that are in its signature and not described there.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from textwrap import indent
from typing import Any, TypeVar

from ._parameters import DOCUMENTED, RULES, FitParameters
from ._validation import check_bool, check_integer, check_real
from .exceptions import InputError

T = TypeVar("T", bound=Callable[..., Any])

# Type and text of each parameter.
ENTRIES = {
    name: (kind, text)
    for name, kind, text in re.findall(r"(?m)^(\w+) : (.*)\n((?: .*\n)+)", DOCUMENTED)
}
OPTIONS = inspect.signature(FitParameters).parameters
PLACE = re.compile(r"(?m)^( *)\{([\w, ]+|\.\.\.)\}$")


def check_parameter(name: str, value: Any) -> Any:
    """Return a parameter as the library takes it: a number, a word, or None."""
    kind, least, above, words, optional = RULES[name]
    if (value is None and optional) or (isinstance(value, str) and value in words):
        return value
    if kind is bool:
        return check_bool(name, value)
    if kind is str or (words and isinstance(value, str)):
        wanted = [repr(word) for word in words]
        wanted[:0] = {int: ["an integer"], float: ["a number"]}.get(kind, [])
        raise InputError(f"{name} is {value!r}; want {' or '.join(wanted)}")
    if kind is int:
        return check_integer(name, value, int(least))
    return check_real(name, value, int(least), above)


def documented(thing: T) -> T:
    """Fill in the docstring of a class or function, and what its ``**options`` are."""
    target: Any = thing.__init__ if inspect.isclass(thing) else thing
    signature = inspect.signature(target)
    found = dict(signature.parameters)
    open_end = next(reversed(found.values())).kind is inspect.Parameter.VAR_KEYWORD
    if open_end:
        found.popitem()
        found |= {name: p for name, p in OPTIONS.items() if name not in found}
    text = thing.__doc__ or ""
    described = re.findall(r"\w+", " ".join(names for _, names in PLACE.findall(text)))
    described += re.findall(r"(?m)^ *(\w+) : ", text)
    left = [name for name in found if name in ENTRIES and name not in described]

    def entries(place: re.Match[str]) -> str:
        names = left if place[2] == "..." else place[2].split(", ")
        filled = "".join(entry(name, found[name].default) for name in names)
        return indent(filled, place[1]).rstrip()

    thing.__doc__ = PLACE.sub(entries, text)
    if open_end:
        # Arguments that only their names tell are in the order of their description.
        order = re.findall(r"(?m)^ *(\w+) : ", thing.__doc__)
        named = [p for p in found.values() if p.kind is inspect.Parameter.KEYWORD_ONLY]
        named.sort(key=lambda p: order.index(p.name) if p.name in order else 0)
        first = [p for p in found.values() if p not in named]
        target.__signature__ = signature.replace(parameters=first + named)
    return thing


def entry(name: str, default: object) -> str:
    """Return the entry of a parameter, with its default, in the form of numpydoc."""
    kind, text = ENTRIES[name]
    if default is None and not kind.endswith("None"):
        return f"{name} : {kind}, optional\n{text}"
    shown = f'"{default}"' if isinstance(default, str) else default
    return f"{name} : {kind}, default={shown}\n{text}"
