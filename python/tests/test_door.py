"""One door for rows: missing entries of every kind, and columns, in everything that takes rows.

The matrix of kinds, verbs and doors is printed with ``-s``: each cell is taken, or refused
by the one sentence.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import scqm
from scqm import SCQM, ManifoldDenoiser
from scqm.exceptions import InputError, ScqmError
from scqm.losses import L1, Huber, Lp

da = pytest.importorskip("dask.array", reason="Dask is optional")
dd = pytest.importorskip("dask.dataframe", reason="Dask is optional")
distributed = pytest.importorskip("distributed", reason="Dask is optional")
on_dask = pytest.importorskip("scqm.dask", reason="Dask is optional")

Array = npt.NDArray[Any]
pytestmark = pytest.mark.filterwarnings(
    f"ignore::{ConvergenceWarning.__module__}.{ConvergenceWarning.__name__}"
)
SENTENCE = (
    "row 7, column 1 is NaN (missing): fill it in, leave out its row, or ignore what is "
    'missing (missing="ignore", --missing ignore)'
)
EMPTY = "row 9 has no entry, all of its 3 are missing: leave it out (--drop-missing)"


def rows(n: int = 60) -> Array:
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, n)
    X = np.column_stack([t, t**2, 0.3 * t])
    found: Array = X + 0.02 * rng.normal(size=X.shape)
    return found


def spoilt() -> Array:
    X = rows()
    X[7, 1] = np.nan
    return X


def of_objects(value: Any) -> Array:
    X = rows().astype(object)
    X[7, 1] = value
    return X


KINDS: dict[str, Callable[[], Any]] = {
    "NaN": spoilt,
    "float32": lambda: spoilt().astype(np.float32),
    "None": lambda: of_objects(None),
    "list": lambda: of_objects(None).tolist(),
    "pd.NA": lambda: of_objects(pd.NA),
    "pd.NaT": lambda: of_objects(pd.NaT),
    "list of NA": lambda: of_objects(pd.NA).tolist(),
    "masked": lambda: np.ma.masked_invalid(spoilt()),
    "frame": lambda: pd.DataFrame(spoilt()),
    "frame of NA": lambda: pd.DataFrame(spoilt()).astype("Float64"),
    "frame of objects": lambda: pd.DataFrame(of_objects(pd.NA)),
}
L2: dict[str, Any] = {"loss": "squared_l2"}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as client:
        yield client


@pytest.fixture(scope="module")
def fitted() -> dict[str, Any]:
    X = rows()
    return {
        "model": SCQM(1, **L2).fit(X),
        "ignoring": SCQM(1, **L2, missing="ignore").fit(spoilt()),
        "denoiser": ManifoldDenoiser(1, method="mls").fit(X),
    }


def verbs(fitted: dict[str, Any]) -> dict[str, Callable[[Any], Any]]:
    """Return what takes rows, none of which takes missing entries unless asked."""
    model, denoiser = fitted["model"], fitted["denoiser"]
    return {
        "SCQM.fit": SCQM(1, **L2).fit,
        "partial_fit": SCQM(1, **L2).partial_fit,
        "SCQM(auto).fit": SCQM("auto", **L2).fit,
        "transform": model.transform,
        "project": model.project,
        "impute": model.impute,
        "score": model.score,
        "influence": model.influence,
        "suggest": scqm.suggest,
        "frechet_mean": scqm.frechet_mean,
        "denoiser.fit": ManifoldDenoiser(1, method="mls").fit,
        "denoise": denoiser.denoise,
        "describe": denoiser.describe,
        "denoiser.score": denoiser.score,
        "fit_many": lambda X: scqm.fit_many([X], 1, **L2),
    }


def asked(fitted: dict[str, Any]) -> dict[str, Callable[[Any], Any]]:
    """Return what takes missing entries."""
    model = fitted["ignoring"]
    denoiser = ManifoldDenoiser(1, method="mls", missing="ignore")
    return {
        "SCQM.fit": lambda X: SCQM(1, **L2, missing="ignore").fit(X).embedding_,
        "transform": model.transform,
        "project": model.project,
        "impute": model.impute,
        "score": model.score,
        "fit_many": lambda X: scqm.fit_many([X], 1, **L2, missing="ignore").offset,
        "denoise": lambda X: denoiser.fit(X).report_.residual,
        "suggest": lambda X: [
            row["predicted"]
            for row in scqm.suggest(X, max_components=1, missing="ignore").table
        ],
        "frechet_mean": lambda X: scqm.frechet_mean(X, missing="ignore").influence,
    }


@pytest.mark.parametrize("kind", KINDS)
def test_missing_entries_are_refused_by_one_sentence(
    kind: str, fitted: dict[str, Any]
) -> None:
    for verb, call in verbs(fitted).items():
        with pytest.raises(InputError) as error:
            call(KINDS[kind]())
        text = str(error.value).removeprefix("fit 0: ")
        assert text == SENTENCE, verb
        print(f"{kind:18}{verb:18}refused by the sentence")


@pytest.mark.parametrize("kind", KINDS)
def test_missing_entries_are_taken_where_asked(
    kind: str, fitted: dict[str, Any]
) -> None:
    for verb, call in asked(fitted).items():
        found, want = call(KINDS[kind]()), call(spoilt())
        assert np.isfinite(found).all(), verb
        np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-6, err_msg=verb)
        print(f"{kind:18}{verb:18}taken")


def test_rows_without_any_entry(fitted: dict[str, Any]) -> None:
    X = rows()
    X[9] = np.nan
    for verb, call in asked(fitted).items():
        if verb in ("denoise", "suggest", "frechet_mean"):
            assert np.isfinite(call(X)).all()
            continue
        with pytest.raises(InputError) as error:
            call(X)
        assert str(error.value).removeprefix("fit 0: ") == EMPTY, verb


def test_the_denoiser_leaves_them_as_they_are() -> None:
    X = spoilt()
    denoiser = ManifoldDenoiser(1, method="mls", missing="ignore")
    out, alone = denoiser.fit_transform(X), ManifoldDenoiser(1, method="mls")
    kept = np.arange(60) != 7
    assert (out[kept] == alone.fit_transform(X[kept])).all()
    np.testing.assert_array_equal(out[7], X[7])
    assert denoiser.report_.unchanged[7]
    assert denoiser.geometry_.normals is None
    assert denoiser.geometry_.error[7] == 0


def test_mean_and_suggest_leave_rows_out() -> None:
    X, kept = spoilt(), np.arange(60) != 7
    weights = np.linspace(1, 2, 60)
    mean = scqm.frechet_mean(X, missing="ignore", sample_weight=weights)
    alone = scqm.frechet_mean(X[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(mean.mean, alone.mean)
    assert mean.influence is not None
    assert alone.influence is not None
    np.testing.assert_array_equal(mean.influence[kept], alone.influence)
    assert (mean.influence[7] == 0).all()
    said = "1 rows with missing entries are left out (counted from 0): 7"
    assert mean.notes == [said]
    found = scqm.suggest(X, max_components=1, missing="ignore")
    want = scqm.suggest(X[kept], max_components=1)
    assert found.table == want.table
    assert found.reason == f"{want.reason}; {said}"
    assert found.n_samples == 59
    for call in (scqm.frechet_mean, scqm.suggest):
        with pytest.raises(InputError, match="none of the 60 rows"):
            call(np.full((60, 3), np.nan), missing="ignore")


@pytest.mark.parametrize("kind", ["NaN", "frame", "frame of NA", "masked", "None"])
def test_dask_says_the_same(kind: str, client: Any) -> None:
    given = KINDS[kind]()
    X = (
        dd.from_pandas(given, npartitions=2)
        if isinstance(given, pd.DataFrame)
        else da.from_array(given, chunks=(30, 3))
    )
    model = on_dask.SCQM(1, **L2, client=client).fit(da.from_array(rows()))
    with pytest.raises(InputError) as error:
        on_dask.SCQM(1, **L2, client=client).fit(X)
    assert SENTENCE in str(error.value)
    for call in (model.transform, model.project, model.score):
        with pytest.raises(InputError, match=r"column 1 is NaN \(missing\)"):
            call(X).compute()
    with pytest.raises(InputError) as error:
        on_dask.ManifoldDenoiser(1, method="mls", client=client).fit(X)
    assert str(error.value) == SENTENCE
    leaving = on_dask.ManifoldDenoiser(1, method="mls", missing="ignore", client=client)
    want = ManifoldDenoiser(1, method="mls", missing="ignore").fit_transform(spoilt())
    np.testing.assert_array_equal(leaving.fit_transform(X).compute(), want)


def test_columns_in_another_order(client: Any) -> None:
    frame = pd.DataFrame(rows(), columns=["a", "b", "c"])
    other = frame[["b", "a", "c"]]
    lazy, lazy_other = (dd.from_pandas(f, npartitions=1) for f in (frame, other))
    model = SCQM(1, **L2).fit(frame)
    remote = on_dask.SCQM(1, **L2, client=client).fit(lazy)
    moving = on_dask.ManifoldDenoiser(1, method="mls", client=client).fit(lazy)
    calls: list[Callable[[], Any]] = [
        *(lambda v=v: getattr(model, v)(other) for v in ("transform", "influence")),
        *(lambda v=v: getattr(remote, v)(lazy_other) for v in ("transform", "score")),
        lambda: remote.influence(lazy_other),
        lambda: moving.transform(lazy_other),
        lambda: scqm.fit_many([frame, other], 1, **L2),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="feature names should match"):
            call()
    fits = scqm.fit_many([frame, frame], 1, **L2)
    assert list(fits[1].feature_names_in_) == ["a", "b", "c"]

    def parts(function: Any) -> Any:
        return [function(frame, 0)]

    with pytest.raises(InputError, match="are a data frame"):
        scqm.large.fit_blocks(parts, frame.shape, 1)


def test_chunks_that_lie(client: Any) -> None:
    """A chunk with fewer rows than it declares gave memory of others."""
    X = rows()
    short = da.from_array(X, chunks=(30, 3)).map_blocks(
        lambda part: part[:20], dtype=float, meta=np.empty((0, 0))
    )
    assert short.shape == (60, 3)
    model = on_dask.SCQM(1, **L2, client=client).fit(da.from_array(X))
    calls: list[Callable[[], Any]] = [
        lambda: on_dask.SCQM(1, **L2, client=client).fit(short),
        lambda: model.transform(short).compute(),
        lambda: model.project(short).compute(),
        lambda: model.score(short).compute(),
        lambda: on_dask.ManifoldDenoiser(1, method="mls", client=client).fit(short),
    ]
    for call in calls:
        with pytest.raises(InputError, match=r"are declared|cut inside of a block"):
            call()


def test_frames_keep_their_index_and_cause_no_warning() -> None:
    frame = pd.DataFrame(rows(), columns=list("abc"), index=np.arange(1000, 1060))
    model = SCQM(1, **L2).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.influence(frame).to_frame()
        model.score(frame)
        model.score(frame, hidden=0.3)
        _, report = model.project(frame, return_report=True)
    assert (found.index == frame.index).all()
    assert (report.to_frame().index == frame.index).all()


def test_integers_that_float64_rounds_are_said() -> None:
    X = (rows() * 1000).astype(np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SCQM(1, **L2).fit(X)
    X[:, 0] += 2**60
    for given in (X, pd.DataFrame(X), X.tolist()):
        with pytest.warns(UserWarning, match=r"beyond 2\*\*53"):
            SCQM(1, **L2).fit(given)


def test_grids_over_parameters_of_losses() -> None:
    search = GridSearchCV(SCQM(1, loss=Huber(1)), {"loss__delta": [0.5, 2]}, cv=2)
    assert search.fit(rows()).best_params_["loss__delta"] in (0.5, 2)
    assert search.best_estimator_.loss.delta == search.best_params_["loss__delta"]
    assert Lp(1.5).set_params(p=2) == Lp(2)
    with pytest.raises(InputError, match="loss l1 has no parameter 'p'"):
        L1().set_params(p=2)


def test_losses_that_cannot_learn_from_parts() -> None:
    for loss in ("l1", "lp", "huber_entries", "auto"):
        assert not hasattr(SCQM(1, loss=loss), "partial_fit")
    assert hasattr(SCQM(1), "partial_fit")


def hostile(seed: int) -> Array:
    """Return one of the tables that break: sizes, units, outliers, repeats, zeros."""
    rng = np.random.default_rng(seed)
    n, D = int(rng.integers(5, 60)), int(rng.integers(3, 7))
    t = rng.uniform(-1, 1, n)
    bends = [rng.normal() * t ** rng.integers(1, 3) for _ in range(D - 1)]
    X: Array = np.column_stack([t, *bends]) + 0.05 * rng.normal(size=(n, D))
    match seed % 10:
        case 0:
            X *= 10.0 ** rng.integers(-12, 13, size=D)
        case 1:
            X[:, :3] *= [1e-4, 1e12, 1e4]
        case 2:
            X[rng.integers(n), rng.integers(D)] = 10.0 ** rng.integers(3, 309)
        case 3:
            X = np.repeat(X[: max(n // 3, 2)], 3, axis=0)
        case 4:
            X[:, rng.integers(D)] = rng.choice([0, 7, 1e300])
        case 5:
            X = X * 10.0 ** rng.integers(-300, 300)
        case 6:
            X = X + 10.0 ** rng.integers(0, 16)
        case 7:
            X = np.round(X)
        case 8:
            X = rng.standard_cauchy(X.shape) ** 3
        case _:
            X[rng.random(X.shape) < 0.3] = 0
    return X


# Fits of such tables warn of how they end and of folds; numbers and errors are judged.
quiet = pytest.mark.filterwarnings("ignore")


@quiet
@pytest.mark.parametrize("seed", range(40))
def test_hostile_tables(seed: int) -> None:
    """Nothing but finite numbers and typed errors, and no fit above the flat one."""
    X = hostile(seed)
    loss: Any = ["l2", "squared_l2", "l1", "huber"][seed // 10]
    told: list[str] = []
    calls: list[Callable[[], Any]] = [
        lambda: scqm.frechet_mean(X, loss=loss).mean,
        lambda: [t["predicted"] for t in scqm.suggest(X, max_components=1).table],
        lambda: ManifoldDenoiser(1).fit_transform(X),
    ]
    for call in calls:
        try:
            assert np.isfinite(call()).all()
        except ScqmError as error:
            told.append(str(error))
    try:
        model = SCQM(1, loss=loss).fit(X)
        flat = SCQM(1, loss=model.loss_, linear=True).fit(X)
    except ScqmError as error:
        told.append(str(error))
        model = None
    assert not any("\n" in text for text in told), "one clear sentence each"
    if model is None:
        return
    for array in (model.embedding_, model.project(X), model.theta_):
        assert np.isfinite(array).all()
    assert model.objective_ <= flat.objective_ * (1 + 1e-6) + 1e-300


@quiet
@pytest.mark.parametrize("loss", ["l2", "squared_l2", "l1", "huber"])
@pytest.mark.parametrize("scale", [(1, 1, 1), (1e-4, 1e12, 1e4)])
def test_permuted_rows_give_permuted_results(loss: Any, scale: Any) -> None:
    X = rows(80) * scale
    order = np.random.default_rng(1).permutation(len(X))
    one, other = SCQM(1, loss=loss).fit(X), SCQM(1, loss=loss).fit(X[order])
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-6)
    off = np.abs(one.project(X)[order] - other.project(X[order])) / X.std(axis=0)
    assert off.max() < 1e-6


@quiet
def test_a_held_sheet_costs_no_more_than_a_flat_one() -> None:
    """It was held by the ridge at 1.6 times the objective of the flat fit."""
    rng = np.random.default_rng(20)
    t = rng.uniform(-1, 1, (80, 2))
    bends = [(t**2).sum(axis=1), t[:, 0] * t[:, 1], 0.2 * t[:, 0]]
    X = np.column_stack([t, *bends]) + 0.05 * rng.normal(size=(80, 5))
    X = (X + 0.3 * rng.standard_cauchy(X.shape))[rng.permutation(80)]
    flat = SCQM(2, loss="l1", linear=True).fit(X)
    assert SCQM(2, loss="l1").fit(X).objective_ <= flat.objective_ * (1 + 1e-6)


def test_doors_have_the_same_parameters() -> None:
    """What fits take by many doors has one default and one place in the order."""
    wanted = inspect.signature(SCQM).parameters
    for door in (scqm.fit_many, scqm.large.fit_blocks, on_dask.SCQM):
        own = inspect.signature(door).parameters
        shared = [name for name in own if name in wanted]
        assert shared == [name for name in wanted if name in shared], door
        for name in shared:
            same = own[name].default == wanted[name].default
            assert same or (door, name) in DIFFERENT, (door, name)
    assert not set(wanted) - set(inspect.signature(on_dask.SCQM).parameters)


# Sums over blocks are read by one solver, and each call has a thread.
DIFFERENT = {(scqm.large.fit_blocks, "solver"), (scqm.large.fit_blocks, "n_threads")}
