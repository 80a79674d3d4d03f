"""Fit a sheet to rows that Spark holds.

A map is all that fit_blocks needs: here one over an RDD of parts, each the number of
its first row with the rows as an array. Sums merge along a tree, so that little
comes to the driver. It was not run where this was written, for want of Spark.
"""

import importlib.util
from collections.abc import Callable

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


def main(table: npt.NDArray[np.float32]) -> None:
    """Fit with as many tasks as there are parts."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("scqm").getOrCreate()
    cuts = [
        (first, table[first : first + STEP]) for first in range(0, len(table), STEP)
    ]
    parts = spark.sparkContext.parallelize(cuts, len(cuts)).cache()

    def spark_map(function: Sums) -> list[bytes]:
        sums: list[bytes] = parts.map(lambda part: function(part[1], part[0])).collect()
        return sums

    model = scqm.large.fit_blocks(spark_map, table.shape, n_components=2)
    print(f"{model.status_} after {model.n_iter_} iterations: {model.objective_:.6g}")
    spark.stop()


if __name__ == "__main__":
    if importlib.util.find_spec("pyspark") is None:
        print("Spark is not installed: pip install pyspark, and run this again")
    else:
        main(make_rows(100_000))
