"""Measure what a cluster adds to a fit, beside one process on the same rows.

Prints processor seconds of all processes together, wall seconds, what comes to the
client with a read, and whether the bits are equal. One process is fit_blocks with all
rows in one part and one thread; the cluster has workers of one thread, which hold the
rows, and have fitted once, before the clocks begin. Wall seconds mean something on an
idle machine only.

    python python/benchmarks/cluster.py 2000000x50 --workers 2
    python python/benchmarks/cluster.py 20000x50 200000x50 --losses l2 l1 --max-iter 5
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
from distributed import Client, LocalCluster, wait

import scqm
from scqm.dask import SCQM, _estimator

Array = npt.NDArray[np.float64]


def chunk(first: int, rows: int, columns: int) -> Array:
    """Return rows near a curved sheet, the same wherever they are made."""
    rng = np.random.default_rng(first)
    t = rng.uniform(-1, 1, (rows, 2))
    bends = np.column_stack([t[:, 0] ** 2, t[:, 0] * t[:, 1], t[:, 1] ** 2])
    frame = np.random.default_rng(0).normal(size=(5, columns)) / np.sqrt(columns)
    signal: Array = np.column_stack([t, bends]) @ frame
    return signal + rng.normal(scale=0.02, size=(rows, columns))


def starts(n: int, most: int) -> list[tuple[int, int]]:
    """Return first rows of chunks, with their lengths."""
    return [(first, min(most, n - first)) for first in range(0, n, most)]


def lazily(n: int, columns: int, most: int) -> da.Array:
    """Return the rows as an array of Dask."""
    parts = [
        da.from_delayed(
            dask.delayed(chunk)(first, rows, columns), (rows, columns), np.float64
        )
        for first, rows in starts(n, most)
    ]
    return da.concatenate(parts)


def spent() -> float:
    """Return the processor seconds of this process."""
    return time.process_time()


class Counting(_estimator.Parts):
    """A map that notes what comes to the client."""

    came: ClassVar[list[int]] = []  # in bytes, of the last fit

    def __call__(self, function: Any) -> Iterator[bytes]:
        """Yield the sums of all rows."""
        for sums in super().__call__(function):
            self.came.append(len(sums))
            yield sums


def measured(
    fit: Callable[[], scqm.SCQM], client: Client | None
) -> tuple[scqm.SCQM, float, float]:
    """Return a fit, and the processor and wall seconds that it took."""

    def all_spent() -> float:
        elsewhere = client.run(spent).values() if client else []
        return spent() + float(sum(elsewhere))

    before, begin = all_spent(), time.perf_counter()
    model = fit()
    wall = time.perf_counter() - begin
    return model, all_spent() - before, wall


def bits(model: scqm.SCQM) -> list[bytes]:
    """Return what a fit has learned."""
    names = ("offset_", "components_", "curvature_components_", "theta_")
    return [getattr(model, name).tobytes() for name in names]


def compare(
    n: int, columns: int, most: int, settings: dict[str, Any], client: Client
) -> None:
    """Fit in one process and on a cluster, and print a line for each."""
    parts = [chunk(first, rows, columns) for first, rows in starts(n, most)]
    table = np.concatenate(parts)
    del parts
    one, cpu, wall = measured(
        lambda: scqm.large.fit_blocks(
            lambda sums: [sums(table, 0)], table.shape, 2, **settings
        ),
        None,
    )
    what = f"{n} x {columns} {settings['loss']:>10}"
    print(f"{what}  one process  {cpu:8.2f} s CPU {wall:8.2f} s", flush=True)
    rows = client.persist(lazily(n, columns, most))
    wait(rows)
    SCQM(2, client=client, loss=settings["loss"], max_iter=1).fit(rows[:most])
    Counting.came.clear()
    model, cpus, walls = measured(
        lambda: SCQM(2, client=client, **settings).fit(rows),
        client,
    )
    workers = len(client.scheduler_info()["workers"])
    print(
        f"{what}  {workers} workers    {cpus:8.2f} s CPU {walls:8.2f} s; "
        f"CPU {cpus / cpu:.2f}, wall {walls / wall:.2f} of one; "
        f"{model.n_reads_} reads, {1e9 * cpus / model.n_reads_ / n:.0f} ns CPU a row "
        f"and read, {statistics.median(Counting.came):.0f} bytes a read "
        f"(most {max(Counting.came)}); bits "
        f"{'equal' if bits(model) == bits(one) else 'DIFFER'}",
        flush=True,
    )


def main() -> None:
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shapes", nargs="+", help="such as 2000000x50")
    parser.add_argument("--losses", nargs="+", default=["l2"])
    parser.add_argument("--workers", nargs="+", type=int, default=[2])
    parser.add_argument("--max-iter", type=int, default=None)
    parser.add_argument("--chunk", type=int, default=64 * 1024, help="rows of a chunk")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    _estimator.Parts = Counting  # type: ignore[misc] # counts what it maps
    for workers in options.workers:
        with (
            LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None
            ) as local,
            Client(local) as client,
        ):
            for shape in options.shapes:
                n, columns = map(int, shape.split("x"))
                for loss in options.losses:
                    settings = {"loss": loss, "max_iter": options.max_iter}
                    compare(n, columns, options.chunk, settings, client)


if __name__ == "__main__":
    main()
