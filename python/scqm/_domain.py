"""Points of one manifold or of a product, as users write them and as the library does.

Users have an array (a tuple, for FixedRank) where there is one manifold, and a dict
of those by the name of the block where there are several. The library has one flat
array, block after block.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._native import Array
from .exceptions import InputError
from .manifolds import ArrayManifold, Manifold

# The name of the only block.
ALONE = "x"


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
        self._slices: dict[str, slice] = {}
        at = 0
        for name, block in self.blocks.items():
            if not isinstance(name, str) or not name:
                raise InputError(f"manifold: block name {name!r}; want a string")
            if not isinstance(block, Manifold):
                raise InputError(
                    f"manifold: block {name} is {block!r}; want one of scqm.manifolds"
                )
            self._slices[name] = slice(at, at + block._size)
            at += block._size
        self.size = at
        alone = self.blocks.get(ALONE) if self.single else None
        # The common case of one array takes no loops.
        self.shape = alone.shape if isinstance(alone, ArrayManifold) else None

    def describe(self) -> list[dict[str, Any]]:
        """Return what the library is told of the blocks."""
        return [block._describe(name) for name, block in self.blocks.items()]

    def pack(self, to: Array, point: Any, what: str) -> None:
        """Write a point or vector to a flat array; ``what`` is for errors."""
        if (
            self.shape is not None
            and type(point) is np.ndarray
            and point.shape == self.shape
            and point.dtype == np.float64
        ):
            to[:] = point.ravel()
            return
        if self.single:
            to[:] = self.blocks[ALONE]._flat(point, what).ravel()
            return
        if not isinstance(point, Mapping):
            raise InputError(
                f"{what} is a {type(point).__name__}; want a dict with the blocks "
                f"{', '.join(self.blocks)}"
            )
        if point.keys() != self.blocks.keys():
            raise InputError(
                f"{what} has the blocks {', '.join(map(str, point)) or 'none'}; want "
                f"{', '.join(self.blocks)}"
            )
        for name, block in self.blocks.items():
            part = block._flat(point[name], f"block {name} of {what}")
            to[self._slices[name]] = part.ravel()

    def unpack(self, flat: Array) -> Any:
        """Return a copy of a flat array as a point or vector."""
        own = flat.copy()
        if self.shape is not None:
            own.shape = self.shape
            return own
        if self.single:
            return self.blocks[ALONE]._shaped(own)
        return {
            name: block._shaped(own[self._slices[name]])
            for name, block in self.blocks.items()
        }
