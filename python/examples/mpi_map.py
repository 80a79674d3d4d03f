"""Fit a sheet to rows that the processes of MPI share: mpirun -n 4 python mpi_map.py.

A map is all that fit_blocks needs: here a broadcast of the question and a gathering of
the answers. The fit itself runs in process 0; the others answer until it ends.
"""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

import scqm

Sums = Callable[..., bytes]
BLOCK = 1024  # rows are cut at multiples of it


def make_rows(n: int) -> npt.NDArray[np.float32]:
    """Return rows near a curved sheet in five columns."""
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, (n, 2))
    bends = [t[:, 0] ** 2, t[:, 0] * t[:, 1], t[:, 1] ** 2]
    noise = rng.normal(scale=0.05, size=(n, 5))
    return (np.column_stack([t, *bends]) + noise).astype(np.float32)


def main(path: Path, n: int) -> None:
    """Fit rows of a file of which every process reads its part."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    if comm.rank == 0:
        np.save(path, make_rows(n))
    comm.barrier()
    blocks = -(-n // BLOCK)
    cuts = [min(blocks * k // comm.size * BLOCK, n) for k in range(comm.size + 1)]
    cuts[-1] = n
    first, end = cuts[comm.rank], cuts[comm.rank + 1]
    rows = np.load(path, mmap_mode="r")[first:end]

    def answer(function: Sums) -> list[bytes]:
        """Answer with the rows of this process; the list is that of process 0."""
        sums = comm.gather(function(rows, first) if len(rows) else None)
        return [part for part in sums or [] if part is not None]

    def mpi_map(function: Sums) -> list[bytes]:
        comm.bcast(function)
        return answer(function)

    if comm.rank > 0:
        while (function := comm.bcast(None)) is not None:
            answer(function)
        return
    try:
        model = scqm.large.fit_blocks(mpi_map, (n, 5), n_components=2)
    finally:
        comm.bcast(None)
    print(f"{model.status_} after {model.n_iter_} iterations: {model.objective_:.6g}")


if __name__ == "__main__":
    if importlib.util.find_spec("mpi4py") is None:
        print("mpi4py is not installed: pip install mpi4py, and run this with mpirun")
    else:
        main(Path("rows.npy").resolve(), 100_000)
