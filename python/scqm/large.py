"""Fits of rows beyond the memory of one machine, by any engine that can map."""

from __future__ import annotations

from ._block_influence import BlockInfluence, influence_blocks
from ._streaming import fit_blocks

__all__ = ["BlockInfluence", "fit_blocks", "influence_blocks"]
