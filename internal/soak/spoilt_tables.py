"""What loss="auto" chooses for real tables with spoilt entries: spoilt_tables.py.

Tables are those of scikit-learn, which need no network, with patches of its two
pictures in gray and colour, noisy arcs, paraboloids and half spheres in 5 to 20
dimensions, and those of a folder of CSV files with a header (--folder). Each is split
70/30 and standardised by the rows to learn from. Of these, entries or whole rows are
then moved up or down by so many standard deviations; the rows held out stay clean. A
case is a table, a spoiling and a seed; it prints one line of JSON, and --summary makes
tables of such lines.

The measure is R2 of the clean rows held out, for nearest points in the Euclidean norm
whatever the loss of the fit. The regret of a choice is by how much that is below the
best of the candidates.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from known_tables import Array, tables
from sklearn.datasets import load_sample_image

import scqm

Record = dict[str, Any]

CANDIDATES = ("l2", "l1", "huber_entries", "squared_l2", "huber")
# The part of the entries or rows, and how far they are moved.
SPOILINGS = [
    ("clean", 0.0, 0.0),
    ("entries", 0.05, 10.0),
    ("rows", 0.05, 10.0),
    ("entries", 0.1, 5.0),
    ("entries", 0.01, 10.0),
    ("entries", 0.02, 5.0),
    ("entries", 0.1, 10.0),
    ("entries", 0.05, 5.0),
    ("entries", 0.02, 10.0),
    ("entries", 0.01, 5.0),
    ("rows", 0.1, 10.0),
    ("rows", 0.05, 5.0),
]
MAX_ROWS = 400
MAX_SECONDS = 10.0  # for a fit of one candidate
WORSE = 0.01  # how far auto may be below the best single loss, in the mean of a kind


def split(x: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return standardised rows to learn from and rows held out, of varied columns."""
    order = rng.permutation(len(x))[:MAX_ROWS]
    count = round(0.7 * len(order))
    train, test = x[order[:count]], x[order[count:]]
    varied = (train != np.median(train, axis=0)).mean(axis=0) > 0.2
    center, scale = train.mean(axis=0)[varied], train.std(axis=0)[varied]
    return (train[:, varied] - center) / scale, (test[:, varied] - center) / scale


def spoil(
    x: Array, kind: str, part: float, far: float, rng: np.random.Generator
) -> Array:
    """Return the rows with entries, or whole rows, moved up or down."""
    x = x.copy()
    if kind == "rows":
        rows = rng.permutation(len(x))[: round(part * len(x))]
        x[rows] += far * rng.choice([-1.0, 1.0], size=(len(rows), x.shape[1]))
    else:
        entries = rng.permutation(x.size)[: round(part * x.size)]
        x.ravel()[entries] += far * rng.choice([-1.0, 1.0], size=len(entries))
    return x


def sheet(name: str, columns: int, seed: int) -> Array:
    """Return 300 noisy rows of an arc, a paraboloid or a half sphere."""
    rng = np.random.default_rng([seed, columns])
    if name == "arc":
        t = rng.uniform(0, 2.5, 300)
        x = np.column_stack([np.cos(t), np.sin(t)])
    elif name == "paraboloid":
        t = rng.uniform(-1, 1, (300, 2))
        x = np.column_stack([t, (t**2).sum(axis=1)])
    else:
        x = rng.normal(size=(300, 3))
        x /= np.linalg.norm(x, axis=1)[:, None]
        x[:, 2] = abs(x[:, 2])
    turn, _ = np.linalg.qr(rng.normal(size=(columns, x.shape[1])))
    return np.asarray(x @ turn.T + 0.1 * rng.normal(size=(300, columns)))


def colors(name: str) -> Array:
    """Return 400 patches of 3 x 3 pixels, in colour, of a picture of scikit-learn."""
    image = load_sample_image(name).astype(np.float64)
    rng = np.random.default_rng(5)
    top = rng.integers(0, image.shape[0] - 3, 400)
    left = rng.integers(0, image.shape[1] - 3, 400)
    return np.array(
        [image[i : i + 3, j : j + 3].ravel() for i, j in zip(top, left, strict=True)]
    )


SHEETS: dict[str, Callable[[], Array]] = {
    "arc5": partial(sheet, "arc", 5, 1),
    "arc12": partial(sheet, "arc", 12, 2),
    "paraboloid6": partial(sheet, "paraboloid", 6, 3),
    "paraboloid15": partial(sheet, "paraboloid", 15, 4),
    "sphere8": partial(sheet, "sphere", 8, 5),
    "sphere20": partial(sheet, "sphere", 20, 6),
    "china-colors": partial(colors, "china.jpg"),
    "flower-colors": partial(colors, "flower.jpg"),
}


def quality(
    train: Array, test: Array, d: int, loss: Any
) -> tuple[float, float, scqm.SCQM]:
    """Fit, and return R2 of clean rows with the seconds of processor time."""
    began = time.process_time()
    limit = MAX_SECONDS if loss in ("l1", "huber") else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = scqm.SCQM(d, loss=loss, n_threads=1, random_state=0, time_limit=limit)
        model.fit(train)
    seconds = time.process_time() - began
    chosen, model.loss_ = model.loss_, scqm.losses.L2()
    r2 = (
        1
        - ((test - model.project(test)) ** 2).sum()
        / ((test - test.mean(axis=0)) ** 2).sum()
    )
    model.loss_ = chosen
    return float(r2), seconds, model


def noise(model: scqm.SCQM, x: Array) -> float:
    """Return the median size of an entry of the noise, the delta that auto takes."""
    left = x.shape[1] - model.n_components
    median = float(np.median(abs(model.project(x) - x)))
    return median * float(np.sqrt(x.shape[1] / left))


def attempt(
    name: str,
    x: Array,
    d: int,
    spoiling: tuple[str, float, float],
    seed: int,
    candidates: list[str],
) -> Record:
    """Fit one case with each candidate, and with the one that auto chooses."""
    kind, part, far = spoiling
    rng = np.random.default_rng([seed, 14])
    train, test = split(x, rng)
    train = spoil(train, kind, part, far, rng)
    case: Record = {
        "table": name,
        "d": d,
        "kind": kind,
        "part": part,
        "far": far,
        "seed": seed,
    }
    case |= {"rows": len(train), "columns": train.shape[1], "r2": {}, "seconds": {}}
    named: dict[str, Any] = {}
    for loss in (*candidates, "auto"):
        r2, seconds, model = quality(train, test, d, named.get(loss, loss))
        case["r2"][loss], case["seconds"][loss] = r2, seconds
        if loss == "l2":
            named["huber_entries"] = scqm.losses.HuberEntries(noise(model, train))
    case |= {"chosen": model.loss_.name, "reason": model.loss_reason_}
    return case


def regret(case: Record) -> float:
    """By how much R2 is below that of the best candidate."""
    return float(max(0.0, best(case) - case["r2"]["auto"]))


def best(case: Record) -> float:
    """Return the R2 of the best candidate."""
    return max(float(v) for k, v in case["r2"].items() if k != "auto")


def summarize(cases: list[Record]) -> bool:
    """Print means by kind and by table; report whether no loss is better than auto."""
    candidates = [k for k in CANDIDATES if all(k in c["r2"] for c in cases)]

    def lines(title: str, key: Callable[[Record], str]) -> bool:
        groups = defaultdict(list)
        for case in cases:
            groups[key(case)].append(case)
        print(
            f"| {title} | cases | {' | '.join(candidates)} | auto | chose "
            "| regret of l2 | of auto | worst | time / l2 |"
        )
        print("|" + " --- |" * (len(candidates) + 8))
        near = True
        for name, group in groups.items():
            r2 = [
                np.mean([c["r2"][loss] for c in group])
                for loss in (*candidates, "auto")
            ]
            lost = [regret(c) for c in group]
            of_l2 = np.mean([best(c) - c["r2"]["l2"] for c in group])
            chose = ", ".join(
                f"{k} {v}" for k, v in Counter(c["chosen"] for c in group).most_common()
            )
            times = np.median(
                [c["seconds"]["auto"] / c["seconds"]["l2"] for c in group]
            )
            values = " | ".join(f"{v:.3f}" for v in r2)
            print(
                f"| {name} | {len(group)} | {values} | {chose} "
                f"| {of_l2:.4f} | {np.mean(lost):.4f} | {max(lost):.3f} | {times:.1f} |"
            )
            near = near and bool(r2[-1] >= max(r2[:-1]) - WORSE)
        print()
        return near

    near = lines("kind", lambda c: c["kind"])
    lines(
        "spoilt",
        lambda c: (
            f"{100 * c['part']:g} % of {c['kind']} by {c['far']:g}"
            if c["part"]
            else "clean"
        ),
    )
    lines("table", lambda c: f"{c['table']}, d = {c['d']}")
    return near


def main() -> int:
    """Run cases, or sum up lines of JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", help="folder of more tables")
    parser.add_argument(
        "--tables", help="names, with commas between, each NAME or NAME:d"
    )
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument(
        "--spoilings", type=int, default=len(SPOILINGS), help="how many of the list"
    )
    parser.add_argument(
        "--losses", default=",".join(CANDIDATES), help="candidates beside auto"
    )
    parser.add_argument("--summary", nargs="+", help="files of lines of JSON")
    options = parser.parse_args()
    if options.summary:
        text = "".join(Path(name).read_text() for name in options.summary)
        return 0 if summarize([json.loads(line) for line in text.splitlines()]) else 1
    known = tables(options.folder) | SHEETS
    candidates = options.losses.split(",")
    names = options.tables.split(",") if options.tables else list(known)
    cases = []
    for seed in range(options.first, options.first + options.seeds):
        for spoiling in SPOILINGS[: options.spoilings]:
            for entry in names:
                name, _, d = entry.partition(":")
                x = known[name]()
                cases.append(attempt(name, x, int(d or 2), spoiling, seed, candidates))
                print(json.dumps(cases[-1]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
