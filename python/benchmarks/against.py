"""Compare the curves of two runs of ``scqm bench``: those of a version and another.

A run that converges where one of the other version stalled takes more passes and ends
lower. So for every fit this counts the passes that the new version takes to the last
cost of the old one, within 1e-6 of it, beside those that the old one took to there, and
tells how far the new run ends above the old one.

    old/scqm bench all --loss l2,squared_l2,huber,l1,lp --threads 1 -o old
    new/scqm bench all --loss l2,squared_l2,huber,l1,lp --threads 1 -o new
    python python/benchmarks/against.py old new

Folders may hold others, as where parts were run one by one. Costs are those of
iterates: what rounds kinks less and less shows its rounded cost on the way. Time limits
end slow solvers at other iterations on every machine; their passes to the same cost
compare all the same.
"""

from __future__ import annotations

import argparse
import csv
import math
import statistics
from collections import defaultdict
from pathlib import Path

WITHIN = 1e-6

# Regime, loss and solver of some fits; the sets of rows in them; (passes, cost) of the
# iterations of one.
Key = tuple[str, str, str]
Curve = list[tuple[float, float]]
Curves = dict[Key, dict[tuple[str, str], Curve]]


def read(folder: Path) -> Curves:
    """Return the curves of all files in a folder."""
    found: Curves = defaultdict(lambda: defaultdict(list))
    for path in sorted(folder.rglob("bench-*.csv")):
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                key = row["regime"], row["loss"], row["solver"]
                found[key][row["n"], row["set"]].append(
                    (float(row["passes"]), float(row["cost"]))
                )
    if not found:
        raise SystemExit(f"{folder}: no bench-*.csv; want the folder given to -o")
    return found


def passes_to(curve: Curve, cost: float) -> float:
    """Return the passes after which a curve is within 1e-6 of a cost."""
    goal = cost + WITHIN * abs(cost)
    return next((passes for passes, at in curve if at <= goal), math.inf)


def number(value: float) -> str:
    """Return a number of passes as text."""
    return "never" if math.isinf(value) else f"{value:.0f}"


def main() -> None:
    """Print a line for each regime, loss and solver that both folders have."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path, help="what -o of the old version has written")
    parser.add_argument("new", type=Path, help="what -o of the new version has written")
    given = parser.parse_args()
    old, new = read(given.old), read(given.new)
    print("| fits | solver | sets | cost, new to old: median, most | ", end="")
    print("passes to the old cost: old, new | reached by | passes in all: old, new |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for key in sorted(old.keys() & new.keys()):
        regime, loss, solver = key
        sets = sorted(old[key].keys() & new[key].keys())
        before, after, change, all_before, all_after = [], [], [], [], []
        for of in sets:
            end = old[key][of][-1][1]
            before.append(passes_to(old[key][of], end))
            after.append(passes_to(new[key][of], end))
            change.append((new[key][of][-1][1] - end) / abs(end))
            all_before.append(old[key][of][-1][0])
            all_after.append(new[key][of][-1][0])
        median = statistics.median
        reached = sum(map(math.isfinite, after))
        print(
            f"| {regime} {loss} | {solver} | {len(sets)} "
            f"| {median(change):+.1e}, {max(change):+.1e} "
            f"| {number(median(before))}, {number(median(after))} "
            f"| {reached} of {len(sets)} "
            f"| {number(median(all_before))}, {number(median(all_after))} |"
        )


if __name__ == "__main__":
    main()
