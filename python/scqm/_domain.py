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
    """A manifold, or the product of the manifolds of a dict."""

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

        The list ``raised`` gets the exceptions of manifolds written in Python.
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
    """Memory for a point or vector that the library knows, which errors call ``what``.

    The entries as the library has them are ``flat``.
    """

    def __init__(self, domain: Domain, what: str) -> None:
        self.flat = np.zeros(domain.size)
        self._domain = domain
        self._what = what
        # The blocks of the array in their shapes: they share its memory.
        self._views: dict[str, Any] = {}
        at = 0
        for name, block in domain.blocks.items():
            self._views[name] = block._shaped(self.flat[at : at + block._size])
            at += block._size

    def write(self, point: Any) -> None:
        """Copy a point to the memory; raise InputError where it is none."""
        if self._domain.single:
            point = {ALONE: point}
        if not isinstance(point, Mapping):
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
            self._put(name, view, point[name])

    def read(self) -> Any:
        """Return a copy of the point."""
        copies = {name: _copy(view) for name, view in self._views.items()}
        return copies[ALONE] if self._domain.single else copies

    def _put(self, name: str, view: Any, part: Any) -> None:
        """Copy a block."""
        if _fits(part, view):
            view[...] = part
            return
        block = self._domain.blocks[name]
        what = self._what if self._domain.single else f"block {name} of {self._what}"
        given = block._shaped(block._flat(part, what).ravel())
        if not isinstance(view, tuple):
            view, given = (view,), (given,)
        for to, array in zip(view, given, strict=True):
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
