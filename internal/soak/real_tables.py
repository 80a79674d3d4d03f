"""Default fits of real tables, judged by rows held out: real_tables.py [OPTION]...

Tables are those of scikit-learn, which need no network, with patches of its two
pictures, and those of a folder of CSV files (--folder). Each is split 70/30, eight
times; columns are standardised by the rows to learn from. With --learn only so many
rows are learned from and all others held out, which tells what fits of few rows come
to without the chance of a few rows held out. A case is a table, a loss, a dimension and
a split; it prints one line of JSON, and --summary makes Markdown of such lines.

The measure is R2 of rows held out, in the measure of the loss itself:
1 - sum loss(x - projection) / sum loss(x - center), the center being the mean of the
loss of the rows to learn from. "linear" is the flat sheet of the same loss, which for
squared_l2 is principal component analysis; "squares" is R2 by sums of squares.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from known_tables import Array, tables

import scqm

Record = dict[str, Any]
Groups = dict[tuple[str, str, int], list[Record]]

LOSSES: dict[str, Callable[[Array], Array]] = {
    "squared_l2": lambda r: (r**2).sum(axis=1),
    "l2": lambda r: np.sqrt((r**2).sum(axis=1)),
    "l1": lambda r: np.abs(r).sum(axis=1),
}
DIMENSIONS = (1, 2, 3)
SPLITS = 8
DEFAULT = 1e-3
RIDGES = (0.0, 1e-4, DEFAULT, 1e-2, 0.1, 1.0)
WORSE = 0.01  # how far below linear a fit may be
ENDS = ("converged", "stalled", "max_iter", "time_limit")


def split(x: Array, seed: int, learn: int | None = None) -> tuple[Array, Array]:
    """Return standardised rows to learn from, 70 % or so many, and rows held out."""
    order = np.random.default_rng(seed).permutation(len(x))
    count = learn or round(0.7 * len(x))
    train, test = x[order[:count]], x[order[count:]]
    scale = train.std(axis=0)
    varied = scale > 1e-12 * np.abs(train).max(axis=0)
    center = train.mean(axis=0)[varied]
    return (
        (train[:, varied] - center) / scale[varied],
        (test[:, varied] - center) / scale[varied],
    )


def quality(model: scqm.SCQM, test: Array, center: Array) -> tuple[float, float]:
    """Return R2 of rows held out by the loss of the model, and by squares."""
    residuals, around = test - model.project(test), test - center
    loss, squares = LOSSES[str(model.loss)], LOSSES["squared_l2"]
    return (
        float(1 - loss(residuals).sum() / loss(around).sum()),
        float(1 - squares(residuals).sum() / squares(test).sum()),
    )


def fitted(train: Array, **how: Any) -> tuple[scqm.SCQM, float]:
    """Return a model fitted with one thread, and the seconds of processor time."""
    model = scqm.SCQM(n_threads=1, **how)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(train)
    return model, time.process_time() - began


def influence_refused(model: scqm.SCQM, train: Array) -> str:
    """Say why the influence of rows is refused, if it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.influence(train)
    except (scqm.exceptions.ScqmError, ValueError) as error:
        return str(error)
    return ""


def attempt(
    x: Array,
    case: Record,
    ridges: tuple[float, ...],
    influence: bool,
    learn: int | None,
    limit: float | None,
) -> Record:
    """Fit one case, flat and with each ridge, each fit for at most limit seconds."""
    train, test = split(x, case["split"], learn)
    how = {"n_components": case["d"], "loss": case["loss"], "time_limit": limit}
    center = scqm.frechet_mean(train, loss=case["loss"], n_threads=1).mean
    flat, seconds = fitted(train, linear=True, **how)
    own, squares = quality(flat, test, center)
    out = case | {
        "rows": len(train),
        "columns": train.shape[1],
        "linear": own,
        "linear_squares": squares,
        "linear_seconds": seconds,
        "fits": [],
    }
    for ridge in ridges:
        settings = how if ridge == DEFAULT else how | {"ridge": ridge}
        model, seconds = fitted(train, **settings)
        own, squares = quality(model, test, center)
        fit = {
            "ridge": ridge,
            "r2": own,
            "squares": squares,
            "seconds": seconds,
            "status": model.status_,
            "iterations": model.n_iter_,
            "extent": model.curvature_extent_,
            "objective": model.objective_ + model.penalty_,
            "message": model.message_,
        }
        if ridge == DEFAULT and influence:
            fit["refused"] = influence_refused(model, train)
        out["fits"].append(fit)
    return out


def cases(names: list[str], options: argparse.Namespace) -> Iterator[Record]:
    """Return the cases, split by split so that a part of them has all tables."""
    for s in range(options.splits):
        for name in names:
            for loss in options.losses.split(","):
                for d in options.dims.split(","):
                    yield {"table": name, "loss": loss, "d": int(d), "split": s}


def judged(case: Record) -> Record:
    """Return what soak counts of a case; false verdicts end the program."""
    for fit in case["fits"]:
        if fit["ridge"] != DEFAULT:
            continue
        if fit["status"] == "converged" and fit.get("refused"):
            raise SystemExit(f"converged, but influence says {fit['refused']}: {case}")
        if not (math.isfinite(fit["r2"]) and math.isfinite(fit["objective"])):
            raise SystemExit(f"numbers that are not finite: {case}")
        print("happened:", fit["status"])
        if fit["r2"] < case["linear"] - WORSE:
            print("happened: held-out R2 more than .01 below that of a flat sheet")
    return case


def run(options: argparse.Namespace) -> None:
    """Try cases and print their records, or what soak counts of them."""
    known = tables(options.folder)
    names = options.tables.split(",") if options.tables else list(known)
    loaded = {name: known[name]() for name in names}
    ridges = RIDGES if options.ridges else (DEFAULT,)
    last = options.first + options.count if options.count else None
    for case in islice(cases(names, options), options.first, last):
        x = loaded[case["table"]]
        out = attempt(
            x, case, ridges, not options.no_influence, options.learn, options.limit
        )
        if options.count:
            judged(out)
        else:
            print(json.dumps(out), flush=True)
    if options.count:
        print("alive")


def mean_r2(records: list[Record], ridge: float) -> float:
    """Return the mean R2 of fits with a ridge."""
    return float(
        np.mean([f["r2"] for r in records for f in r["fits"] if f["ridge"] == ridge])
    )


def totals(groups: Groups) -> None:
    """Print what is asked of all fits together, loss by loss."""
    print(
        f"| loss | fits | {', '.join(ENDS)} | refused |"
        " more than .01 below flat | groups below flat in the mean |"
        " flat | curved by ridge |"
    )
    print("|" + " --- |" * 8)
    for loss in LOSSES:
        own = [rs for (_, name, _), rs in groups.items() if name == loss]
        if not own:
            continue
        records = [r for rs in own for r in rs]
        fits = [f for r in records for f in r["fits"] if f["ridge"] == DEFAULT]
        ends = [f["status"] for f in fits]
        counts = [ends.count(e) for e in ENDS]
        gains = [[default_r2(r) - r["linear"] for r in rs] for rs in own]
        ridges = sorted({f["ridge"] for f in records[0]["fits"]})
        print(
            f"| {loss} | {len(fits)} | {', '.join(map(str, counts))} |"
            f" {sum(bool(f.get('refused')) for f in fits)} |"
            f" {sum(g < -WORSE for gs in gains for g in gs)} |"
            f" {sum(np.mean(gs) < 0 for gs in gains)} of {len(own)} |"
            f" {np.mean([r['linear'] for r in records]):.4f} |"
            f" {', '.join(f'{k:g}: {mean_r2(records, k):.4f}' for k in ridges)} |"
        )


def spread(differences: list[float]) -> float:
    """Return the standard deviation of a split; others share its rows."""
    return float(np.std(differences, ddof=1)) if len(differences) > 1 else math.nan


def default_r2(record: Record) -> float:
    """Return R2 of the fit with the default ridge."""
    return float(next(f["r2"] for f in record["fits"] if f["ridge"] == DEFAULT))


def summarize(path: Path) -> None:
    """Print tables in Markdown of records, one per line of a file."""
    groups: Groups = defaultdict(list)
    for line in path.read_text().splitlines():
        r = json.loads(line)
        groups[r["table"], r["loss"], r["d"]].append(r)
    totals(groups)
    print()
    print(
        "| table | loss | d | fits | flat | curved | difference | worst | best ridge |"
        f" {', '.join(ENDS)} | refused | CPU s |"
    )
    print("|" + " --- |" * 12)
    for (name, loss, d), records in groups.items():
        fits = [f for r in records for f in r["fits"] if f["ridge"] == DEFAULT]
        by = [default_r2(r) - r["linear"] for r in records]
        ridges = {f["ridge"] for f in records[0]["fits"]}
        tried = {ridge: mean_r2(records, ridge) for ridge in ridges}
        best = max(tried, key=tried.__getitem__)
        shown = f"{tried[best]:.4f} at {best:g}" if len(tried) > 1 else ""
        ends = [f["status"] for f in fits]
        counts = [ends.count(e) for e in ENDS]
        print(
            f"| {name} | {loss} | {d} | {len(fits)} |"
            f" {np.mean([r['linear'] for r in records]):.4f} |"
            f" {mean_r2(records, DEFAULT):.4f} |"
            f" {np.mean(by):+.4f} &plusmn; {spread(by):.4f} |"
            f" {min(by):+.4f} | {shown} |"
            f" {', '.join(map(str, counts))} |"
            f" {sum(bool(f.get('refused')) for f in fits)} |"
            f" {np.median([f['seconds'] for f in fits]):.3f} |"
        )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Default fits of real tables")
    parser.add_argument("--folder", help="of CSV files with a header, numbers only")
    parser.add_argument("--tables", help="names, with commas between")
    parser.add_argument("--losses", default=",".join(LOSSES))
    parser.add_argument("--dims", default=",".join(map(str, DIMENSIONS)))
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument(
        "--ridges", action="store_true", help="0 to 1 beside the default"
    )
    parser.add_argument("--learn", type=int, help="rows to learn from, not 70 %%")
    parser.add_argument("--limit", type=float, help="seconds that a fit may take")
    parser.add_argument("--no-influence", action="store_true")
    parser.add_argument("--first", type=int, default=0, help="first case")
    parser.add_argument("--count", type=int, help="of cases that are judged, for soak")
    parser.add_argument("--summary", type=Path, help="a file of records to sum up")
    options = parser.parse_args()
    if options.summary:
        summarize(options.summary)
    else:
        run(options)


if __name__ == "__main__":
    main()
