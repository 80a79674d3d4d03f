"""Answers of tasks that were changed, or belong to other tasks, are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("dask", reason="dask is optional")

from scqm.dask._tiles import TOLD, opened, sealed
from scqm.exceptions import InputError


def changed(tile: Any, rng: np.random.Generator) -> Any:
    """Return another message than a tile."""
    parts = list(tile)
    kind = rng.integers(8)
    if kind < 3:  # a bit of the numbers, or of the seal
        place = (2, 3, 4)[kind]
        content = bytearray(parts[place] if kind == 2 else parts[place].tobytes())
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        parts[place] = (
            bytes(content)
            if kind == 2
            else np.frombuffer(content).reshape(parts[place].shape)
        )
    elif kind == 3:  # rows that are gone, or come twice
        parts[2] = parts[2][: rng.integers(len(parts[2]))]
    elif kind == 4:
        parts[3] = np.roll(parts[3], rng.integers(1, TOLD), axis=1)
    elif kind == 5:  # an honest answer to another question
        fit, task = (
            ("b", tile.task) if rng.integers(2) else (tile.fit, "piece 1, cell 0")
        )
        return sealed(fit, task, tile.rows, tile.told)
    elif kind == 6:  # of other numbers
        parts[rng.integers(2) + 2] = (None, "x", [1.0], np.ones(3, "f4"))[
            rng.integers(4)
        ]
    else:
        return (None, (), 7, tuple(parts[:4]), b"", "text")[rng.integers(6)]
    return tuple(parts)


def test_changed_messages() -> None:
    rng = np.random.default_rng(53)
    for _ in range(200):
        n, D = int(rng.integers(2, 9)), int(rng.integers(1, 5))
        rows, told = rng.normal(size=(n, D)), rng.normal(size=(n, TOLD))
        tile = sealed("a", "piece 0, cell 0", rows, told)
        got = opened(tile, "a", "piece 0, cell 0", (n, D))
        np.testing.assert_array_equal(got[0], rows)
        with pytest.raises(InputError, match="answer"):
            opened(changed(tile, rng), "a", "piece 0, cell 0", (n, D))
