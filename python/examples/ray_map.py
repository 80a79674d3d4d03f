"""Fit a sheet to rows in a file with Ray.

A map is all that fit_blocks needs: here tasks that read parts of one file, which every
machine must see. Rows that Ray holds go as well, as ray.put(rows) for every part.
"""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

import scqm

Sums = Callable[..., bytes]
STEP = 16 * 1024  # rows of a part: a multiple of 1024


def make_rows(n: int) -> npt.NDArray[np.float32]:
    """Return rows near a curved sheet in five columns."""
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, (n, 2))
    bends = [t[:, 0] ** 2, t[:, 0] * t[:, 1], t[:, 1] ** 2]
    noise = rng.normal(scale=0.05, size=(n, 5))
    return (np.column_stack([t, *bends]) + noise).astype(np.float32)


def main(path: str, n: int) -> None:
    """Fit on as many processors as Ray has."""
    import ray

    ray.init(include_dashboard=False, log_to_driver=False)

    def add_up(function: Sums, first: int) -> bytes:
        rows = np.load(path, mmap_mode="r")
        return function(rows[first : first + STEP], first)

    task = ray.remote(add_up)

    def ray_map(function: Sums) -> list[bytes]:
        shared = ray.put(function)
        sums: list[bytes] = ray.get(
            [task.remote(shared, first) for first in range(0, n, STEP)]
        )
        return sums

    model = scqm.large.fit_blocks(ray_map, (n, 5), n_components=2)
    print(f"{model.status_} after {model.n_iter_} iterations: {model.objective_:.6g}")
    ray.shutdown()


if __name__ == "__main__":
    if importlib.util.find_spec("ray") is None:
        print("Ray is not installed: pip install ray, and run this again")
    else:
        table = make_rows(100_000)
        np.save("rows.npy", table)
        main(str(Path("rows.npy").resolve()), len(table))
