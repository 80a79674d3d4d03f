"""The experiments of the paper.

Each function repeats an experiment of Zhai and Li (arXiv 2605.20300) and returns
an :class:`Experiment`: a table of means over repetitions with their standard
errors, and what its pictures need. Given a folder, it also writes what the program
``scqm experiment`` writes there: ``NAME.csv`` and ``NAME.md``, ``params.json`` that
says what was run, and pictures ``NAME*.png`` where Matplotlib is installed. The
numbers are those of the program, but for the rounding of large matrix products.

>>> from scqm import experiments
>>> experiments.names()
['toy', 'sphere', 'mnist', 'interpolation']
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._experiment import Experiment
from ._library import _core
from ._native import Array, Job, address, call, contiguous
from ._progress import PartProgress
from ._validation import (
    check_bool,
    check_count,
    check_real,
    check_seed,
    check_threads,
)
from .datasets import Digits, load_digits_sample
from .exceptions import InputError

__all__ = ["Experiment", "interpolation", "mnist", "names", "run", "sphere", "toy"]


def names() -> list[str]:
    """Return the names of the experiments.

    Returns
    -------
    list of str
        What :func:`run` takes.
    """
    return [spec["name"] for spec in json.loads(call(_core.bindings_Experiments))]


def run(
    name: str,
    out_dir: str | os.PathLike[str] | None = None,
    *,
    quick: bool = False,
    reps: int | None = None,
    sigma: Sequence[float] | None = None,
    alternatives: bool = True,
    random_state: int = 0,
    n_threads: int | None = None,
    verbose: bool = False,
) -> Experiment:
    """Run an experiment by its name.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    out_dir : str or PathLike, optional
        Where to write the outcome; by default nowhere.
    quick : bool, default=False
        Do less, in seconds.
    reps : int, optional
        Repetitions; by default 20 for toy, 10 for sphere, else 5, and 2 if quick.
    sigma : sequence of float, optional
        Standard deviations of the noise, for sphere only; by default those of the
        paper's table.
    alternatives : bool, default=True
        Put models of scikit-learn beside the others, for mnist only.
    random_state : int, default=0
        Seed of the first repetition.
    n_threads : int, optional
        Threads to use, as for :class:`scqm.SCQM`; the result does not depend on
        it.
    verbose : bool, default=False
        Show progress.

    Returns
    -------
    Experiment
        The table, and what its pictures need.

    Raises
    ------
    InputError
        Parameters that cannot be used; a ValueError.
    """
    if sigma is not None and name != "sphere":
        raise InputError(f"sigma does nothing with the experiment {name!r}")
    settings: dict[str, Any] = {
        "seed": check_seed(random_state),
        "reps": check_count("reps", reps) or 0,
        "quick": check_bool("quick", quick),
        "threads": check_threads(n_threads),
    }
    if sigma is not None:
        settings["sigmas"] = [check_real("sigma", s, 0, True) for s in sigma]
    digits = None
    if any(
        spec["name"] == name and spec["needs_digits"]
        for spec in json.loads(call(_core.bindings_Experiments))
    ):
        digits = load_digits_sample()
    outcome = _outcome(name, settings, digits, check_bool("verbose", verbose))
    if (
        name == "mnist"
        and check_bool("alternatives", alternatives)
        and digits is not None
    ):
        outcome = _with_alternatives(outcome, digits)
    if out_dir is not None:
        outcome.save(out_dir)
    return outcome


def toy(out_dir: str | os.PathLike[str] | None = None, **settings: Any) -> Experiment:
    """Fit noisy arcs in the plane, each noise with the loss of its likelihood.

    Parameters
    ----------
    out_dir : str or PathLike, optional
        Where to write the outcome; by default nowhere.
    **settings
        As for :func:`run`.

    Returns
    -------
    Experiment
        Mean squared distances from the true arc.
    """
    return run("toy", out_dir, **settings)


def sphere(
    out_dir: str | os.PathLike[str] | None = None, **settings: Any
) -> Experiment:
    """Denoise points of a sphere by every method.

    Parameters
    ----------
    out_dir : str or PathLike, optional
        Where to write the outcome; by default nowhere.
    **settings
        As for :func:`run`.

    Returns
    -------
    Experiment
        Mean squared errors by method and noise, beside those of the paper.
    """
    return run("sphere", out_dir, **settings)


def mnist(out_dir: str | os.PathLike[str] | None = None, **settings: Any) -> Experiment:
    """Reconstruct fours and nines from two numbers each.

    Parameters
    ----------
    out_dir : str or PathLike, optional
        Where to write the outcome; by default nowhere.
    **settings
        As for :func:`run`.

    Returns
    -------
    Experiment
        Distances of images from their reconstructions, and how well two numbers
        tell the kinds apart, by model; models of scikit-learn among them.
    """
    return run("mnist", out_dir, **settings)


def interpolation(
    out_dir: str | os.PathLike[str] | None = None, **settings: Any
) -> Experiment:
    """Draw the latent plane of twos, sixes and eights.

    Parameters
    ----------
    out_dir : str or PathLike, optional
        Where to write the outcome; by default nowhere.
    **settings
        As for :func:`run`.

    Returns
    -------
    Experiment
        As for :func:`mnist`, with the models of the pictures.
    """
    return run("interpolation", out_dir, **settings)


def _outcome(
    name: str, settings: dict[str, Any], digits: Digits | None, verbose: bool
) -> Experiment:
    """Run an experiment in the library."""
    images = labels = None
    rows, columns = 0, 0
    if digits is not None:
        images, labels = contiguous(digits.data), contiguous(digits.target)
        rows, columns = images.shape
    with (
        Job(images, labels) as job,
        PartProgress(name, verbose, "scqm") as progress,
    ):
        job.start(
            _core.bindings_StartExperiment,
            name,
            json.dumps(settings),
            address(images),
            rows,
            columns,
            address(labels),
        ).wait(progress=progress)
        report = json.loads(call(_core.bindings_ExperimentReport, job.number))
        arrays = {}
        for k, entry in enumerate(report["arrays"]):
            array = np.empty(entry["shape"])
            call(_core.bindings_ExperimentArray, job.number, k, address(array))
            arrays[entry["name"]] = array
    table = report["table"]
    lines = []
    for row in table["rows"]:
        line: dict[str, Any] = dict(zip(table["keys"], row["keys"], strict=True))
        for value, mean in zip(table["values"], row["values"], strict=True):
            line[value] = mean["value"] if mean["n"] else None
            line[f"{value}_se"] = mean["error"] if mean["n"] > 1 else None
        lines.append(line)
    params = {
        "experiment": name,
        "version": report["version"],
        "call": _call(name, settings),
        "settings": report["settings"],
    }
    return Experiment(
        name, table["title"], lines, table["notes"], arrays, params,
        report["csv"], report["markdown"],
    )  # fmt: skip


def _call(name: str, settings: dict[str, Any]) -> str:
    """Return the call that repeats an experiment."""
    given = {
        "quick": settings["quick"] or None,
        "reps": settings["reps"] or None,
        "sigma": settings.get("sigmas"),
        "random_state": settings["seed"],
    }
    text = ", ".join(f"{k}={v!r}" for k, v in given.items() if v is not None)
    return f"scqm.experiments.{name}(out_dir, {text})"


def _with_alternatives(outcome: Experiment, digits: Digits) -> Experiment:
    """Add rows for models of scikit-learn, on the same images."""
    values = ("learned", "held out", "accuracy")
    table, csv, lines = list(outcome.table), outcome.csv, []
    repetitions = sum(1 for name in outcome.arrays if name.startswith("held_rows/"))
    for model, make in _alternatives().items():
        scores = [
            _score(make, digits, outcome.arrays, rep) for rep in range(repetitions)
        ]
        row: dict[str, Any] = {"model": model}
        cells, fields = [model], [model]
        for k, value in enumerate(values):
            mean, error = _mean([s[k] for s in scores])
            row[value], row[f"{value}_se"] = mean, error
            shown = _digits(mean, 4), _digits(error, 2)
            cells.append(" ± ".join(s for s in shown if s))
            fields += shown
        table.append(row)
        lines.append("| " + " | ".join(cells) + " |\n")
        csv += ",".join(f'"{f}"' if "," in f else f for f in fields) + "\n"
    head, bar, rest = outcome.markdown.rpartition("|\n")
    note = (
        "Rows from factor analysis on are models of scikit-learn with 2 components; "
        "Isomap has no inverse_transform."
    )
    return Experiment(
        outcome.name, outcome.title, table, [*outcome.notes, note], outcome.arrays,
        outcome.params, csv, "".join([head, bar, *lines, rest, f"\n{note}\n"]),
    )  # fmt: skip


def _alternatives() -> dict[str, Callable[[Array], Any]]:
    """Return makers of models, which are given the images to learn from."""
    from sklearn.decomposition import NMF, FactorAnalysis, KernelPCA
    from sklearn.manifold import Isomap
    from sklearn.metrics import pairwise_distances

    def kernel(X: Array) -> Any:
        far = pairwise_distances(X)
        width = np.median(far[np.triu_indices(len(X), 1)])
        return KernelPCA(
            2, kernel="rbf", gamma=1 / (2 * width**2), fit_inverse_transform=True
        )

    return {
        "factor analysis": lambda _: FactorAnalysis(2, random_state=0),
        "NMF": lambda _: NMF(2, init="nndsvda", max_iter=2000),
        "Isomap": lambda _: Isomap(n_neighbors=10, n_components=2),
        "kernel PCA": kernel,
    }


def _score(
    make: Callable[[Array], Any], digits: Digits, arrays: dict[str, Array], rep: int
) -> tuple[float | None, float | None, float]:
    """Return the scores of a model on the images of a repetition."""
    from sklearn.neighbors import KNeighborsClassifier

    learned, held = (
        arrays[f"{side}_rows/{rep}"].astype(int) for side in ("learned", "held")
    )
    X, Y = digits.data[learned], digits.data[held]
    model = make(X).fit(X)
    codes = model.transform(X), model.transform(Y)
    distances: list[float] | list[None] = [None, None]
    if isinstance(getattr(model, "components_", None), np.ndarray) and not hasattr(
        model, "inverse_transform"
    ):
        # Factor analysis: the mean of a row given its factors.
        distances = [
            _distance(rows, code @ model.components_ + model.mean_)
            for rows, code in zip((X, Y), codes, strict=True)
        ]
    elif hasattr(model, "inverse_transform"):
        distances = [
            _distance(rows, model.inverse_transform(code))
            for rows, code in zip((X, Y), codes, strict=True)
        ]
    nearest = KNeighborsClassifier(1).fit(codes[0], digits.target[learned])
    accuracy = float(nearest.score(codes[1], digits.target[held]))
    return distances[0], distances[1], accuracy


def _distance(X: Array, Y: Array) -> float:
    return float(np.linalg.norm(X - Y, axis=1).mean())


def _mean(values: list[float | None]) -> tuple[float | None, float | None]:
    """Return the mean and its standard error."""
    present = [v for v in values if v is not None]
    if not present:
        return None, None
    if len(present) == 1:
        return present[0], None
    error = np.std(present, ddof=1) / math.sqrt(len(present))
    return float(np.mean(present)), float(error)


def _digits(value: float | None, n: int) -> str:
    """Round to n digits, without an exponent."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    return f"{value:.{max(n - 1 - math.floor(math.log10(abs(value))), 0)}f}"
