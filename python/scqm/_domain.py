"""Points of one manifold or of a product, as users write them and as the library does.

Users have an array (a tuple, for FixedRank) where there is one manifold, and a dict
of those by the name of the block where there are several. The library has one flat
array, block after block.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._own_manifold import Operations, validate
from .exceptions import InputError
from .manifolds import Manifold, _BuiltIn

# The name of the only block.
ALONE = "x"

_FLOAT = np.dtype(np.float64)


class Domain:
    """A manifold, or the product of the manifolds of a dict.

    Parameters
    ----------
    manifold : Manifold or dict of Manifold by name
        What points are on.
    """

    def __init__(self, manifold: Manifold[Any] | Mapping[str, Manifold[Any]]) -> None:
        self.single = isinstance(manifold, Manifold)
        blocks = {ALONE: manifold} if isinstance(manifold, Manifold) else manifold
        if not isinstance(blocks, Mapping) or not blocks:
            raise InputError(
                f"manifold is {manifold!r}; want one of scqm.manifolds, or a dict of "
                "them by the names of the blocks"
            )
        self.blocks = dict(blocks)
        for name, block in self.blocks.items():
            if not isinstance(name, str) or not name:
                raise InputError(f"manifold: block name {name!r}; want a string")
            if not isinstance(block, Manifold):
                raise InputError(
                    f"manifold: block {name} is {block!r}; want one of scqm.manifolds"
                )
            if not isinstance(block, _BuiltIn):
                validate(block)
        self.size = sum(block._size for block in self.blocks.values())

    def describe(
        self, raised: list[BaseException]
    ) -> tuple[list[dict[str, Any]], list[Operations]]:
        """Return what the library is told of the blocks, and what has to outlive it.

        Parameters
        ----------
        raised : list
            What gets the exceptions of manifolds written in Python.
        """
        own = {
            name: Operations(block, raised)
            for name, block in self.blocks.items()
            if not isinstance(block, _BuiltIn)
        }
        described = [
            block._describe(name)
            if isinstance(block, _BuiltIn)
            else own[name].describe(name)
            for name, block in self.blocks.items()
        ]
        return described, list(own.values())


class Buffer:
    """Memory for a point or vector that the library knows.

    Parameters
    ----------
    domain : Domain
        What the point is on.
    what : str
        What is written here, for errors.

    Attributes
    ----------
    flat : ndarray
        The entries as the library has them.
    """

    def __init__(self, domain: Domain, what: str) -> None:
        self.flat = np.zeros(domain.size)
        self._domain = domain
        self._what = what
        # The blocks of the array in their shapes: they share its memory.
        self._views: dict[str, Any] = {}
        # Where the blocks are and their shapes, None where they are no plain arrays.
        self._parts: list[tuple[str, slice, tuple[int, ...] | None]] = []
        at = 0
        for name, block in domain.blocks.items():
            place = slice(at, at + block._size)
            view = self._views[name] = block._shaped(self.flat[place])
            plain = type(view) is np.ndarray and view.flags.c_contiguous
            self._parts.append((name, place, view.shape if plain else None))
            at += block._size
        self._only = self._views[ALONE] if domain.single else None

    def write(self, point: Any) -> None:
        """Copy a point to the memory; raise InputError where it is none."""
        if self._domain.single:
            self._put(ALONE, self._only, point)
            return
        if type(point) is not dict and not isinstance(point, Mapping):
            raise InputError(
                f"{self._what} is a {type(point).__name__}; want a dict with the "
                f"blocks {', '.join(self._views)}"
            )
        if point.keys() != self._views.keys():
            raise InputError(
                f"{self._what} has the blocks {', '.join(map(str, point)) or 'none'}; "
                f"want {', '.join(self._views)}"
            )
        for name, view in self._views.items():
            part = point[name]
            if _fits(part, view):
                view[...] = part
            else:
                self._put(name, view, part)

    def read(self) -> Any:
        """Return a copy of the point."""
        if self._domain.single:
            return _copy(self._only)
        flat = self.flat.copy()  # once: copies of small arrays cost more than parts
        return {
            name: _copy(self._views[name])
            if shape is None
            else flat[place]
            if len(shape) == 1
            else flat[place].reshape(shape)
            for name, place, shape in self._parts
        }

    def _put(self, name: str, view: Any, part: Any) -> None:
        """Copy a block."""
        if _fits(part, view):
            view[...] = part
            return
        block = self._domain.blocks[name]
        what = self._what if self._domain.single else f"block {name} of {self._what}"
        given = block._shaped(block._flat(part, what).ravel())
        for to, array in (
            zip(view, given, strict=True)
            if isinstance(view, tuple)
            else [(view, given)]
        ):
            to[...] = array


def _fits(part: Any, view: Any) -> bool:
    """Tell arrays that can be copied as they are: most, at a tenth of the time."""
    return (
        type(part) is np.ndarray
        and type(view) is np.ndarray
        and part.shape == view.shape
        and part.dtype is _FLOAT
    )


def _copy(view: Any) -> Any:
    """Return a copy of an array, or of a tuple of them."""
    if type(view) is tuple:
        return tuple(part.copy() for part in view)
    return view.copy()
