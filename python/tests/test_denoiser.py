"""ManifoldDenoiser as scikit-learn, its users and hostile rows see it.

The checks of scikit-learn, the results of the program to the last bit, what a row may
depend on, and what is said where rows have no surface near.
"""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from interrupting import HANGS, forever, interrupted
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_hostile import REFUSED, SAME, grid, memmap

import scqm
from scqm import ManifoldDenoiser, losses
from scqm.datasets import make_sphere
from scqm.exceptions import InputError

ROOT = Path(__file__).resolve().parents[2]
Array = npt.NDArray[np.float64]
METHODS = list(ManifoldDenoiser.methods())


@pytest.fixture(scope="module")
def sphere() -> tuple[Array, Array]:
    return make_sphere(150, noise=0.06, random_state=0)


@pytest.fixture(scope="module")
def X(sphere: tuple[Array, Array]) -> Array:
    return sphere[0]


@pytest.fixture(scope="module")
def auto(X: Array) -> ManifoldDenoiser:
    return ManifoldDenoiser().fit(X)


def test_denoises(sphere: tuple[Array, Array], auto: ManifoldDenoiser) -> None:
    X, clean = sphere

    def error(rows: Array) -> float:
        return float(((rows - clean) ** 2).sum(axis=1).mean())

    # No projection of single rows does better than that on the true sphere.
    oracle = error(X / np.linalg.norm(X, axis=1)[:, None])
    assert error(auto.transform(X)) < 1.15 * oracle < error(X)


@pytest.mark.parametrize(
    ("params", "flags"),
    [({"method": m}, f"--method {m} --weights w.npy") for m in METHODS]
    + [
        ({}, ""),
        ({"n_neighbors": 50}, "--neighbors 50"),
        ({"loss": "squared_l2"}, "--loss squared_l2"),
        ({"method": "scqm", "n_neighbors": 15, "loss": "lp", "p": 1.5, "ridge": 0, "passes": 2},
         "--method scqm --neighbors 15 --loss lp --p 1.5 --ridge 0 --passes 2"),
        ({"method": "linear", "loss": losses.Huber(0.1)},
         "--method linear --loss huber --delta 0.1"),
        ({"method": "scqm", "loss": "huber"}, "--method scqm --loss huber"),
        ({"method": "mls", "n_neighbors": "auto"}, "--method mls --neighbors auto"),
        ({"method": "mls", "degree": 1, "flat_weights": True}, "--method mls --degree 1 --flat-weights"),
        ({"method": "logkde", "width": "local"}, "--method logkde --width local"),
        ({"method": "kde", "width": 0.4}, "--method kde --width 0.4"),
        ({"method": "lpca", "average": 5}, "--method lpca --average 5"),
        ({"method": "lpca", "share": 0.5}, "--method lpca --share 0.5"),
        ({"method": "mls", "n_components": 1}, "--method mls -d 1"),
    ],
    ids=str,
)  # fmt: skip
def test_equal_to_the_program(
    params: dict[str, Any],
    flags: str,
    X: Array,
    program: Path,
    tmp_path: Path,
) -> None:
    X, Y = X[:60], X[45:75]
    weights = np.linspace(0, 2, len(X)) if "weights w" in flags else None
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    if weights is not None:
        np.save(tmp_path / "w.npy", weights[:, None])
    command = f"{program} denoise x.npy --queries y.npy --report {flags} -o out.npy --progress never"
    subprocess.run(command.split(), cwd=tmp_path, check=True, capture_output=True)
    want = np.load(tmp_path / "out.npy")
    rows, report = ManifoldDenoiser(**params).fit(X, sample_weight=weights).denoise(Y)
    np.testing.assert_array_equal(rows, want[:, :3])
    np.testing.assert_array_equal(report.residual, want[:, 3])
    np.testing.assert_array_equal(report.noise, want[:, 4])
    np.testing.assert_array_equal(report.n_neighbors, want[:, 5])
    np.testing.assert_array_equal(report.ridge, want[:, 6])
    np.testing.assert_array_equal(report.extrapolated, want[:, 7])
    np.testing.assert_array_equal(report.unchanged, want[:, 8])


@pytest.mark.parametrize("method", METHODS)
def test_rows_depend_on_nothing_else(X: Array, method: str) -> None:
    """Neither on their batch, nor on its order, nor on the threads."""
    one, two = (
        ManifoldDenoiser(method=method, n_threads=n).fit(X[:80]) for n in (1, 2)
    )
    Y = X[:30]
    whole = one.transform(Y)
    np.testing.assert_array_equal(whole, two.transform(Y))
    np.testing.assert_array_equal(whole[::-1], two.transform(Y[::-1]))
    for k in (0, 7, 29):
        np.testing.assert_array_equal(whole[k], one.transform(Y[k : k + 1])[0])


def test_report(X: Array, auto: ManifoldDenoiser) -> None:
    rows, report = auto.denoise(X[:5])
    assert isinstance(report, scqm.DenoiseReport)
    assert not report.unchanged.any()
    np.testing.assert_allclose(
        report.residual, np.linalg.norm(rows - X[:5], axis=1), rtol=1e-12
    )
    assert (report.n_neighbors >= 8).all()
    assert 0.03 < np.median(report.noise[:5]) < 0.12
    assert set(report.ridge[:5]) <= {0.0, 0.03, 0.1}


@pytest.fixture(scope="module")
def disc() -> ManifoldDenoiser:
    """Rows in a disc of radius 1; their planes go on where they end."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.uniform(-0.7, 0.7, size=(100, 2)), np.zeros(100)])
    return ManifoldDenoiser(method="lpca").fit(rows)


def test_rows_far_away_are_not_changed(disc: ManifoldDenoiser) -> None:
    Y = np.array([[0.0, 0.1, 0.2], [50.0, 0.0, 1.0]])
    rows, report = disc.denoise(Y)
    want = np.array([[0.0, 0.1, 0.0], [50.0, 0.0, 1.0]])
    np.testing.assert_allclose(rows, want, atol=1e-12)
    assert report.unchanged.tolist() == report.extrapolated.tolist() == [False, True]
    np.testing.assert_allclose(report.residual, [0.2, 0])
    with pytest.warns(UserWarning, match="no surface was found near any of the rows"):
        disc.transform(Y[[1, 1]])


def test_a_loss_that_is_never_finite_is_told(X: Array) -> None:
    def nothing(R: Array) -> tuple[Array, Array]:
        return np.full(len(R), np.nan), R

    m = ManifoldDenoiser(method="scqm", loss=nothing).fit(X)
    with pytest.raises(
        scqm.exceptions.NonFiniteError, match="row 0: loss nothing: the value is NaN"
    ):
        m.transform(X[:4])


def test_a_loss_and_neighbours_by_the_rows(X: Array) -> None:
    m = ManifoldDenoiser(method="linear", loss="huber", n_neighbors="auto", share=0.3)
    report = m.fit(X).report_
    assert isinstance(m.loss_, losses.Huber)
    assert m.loss_.delta is not None
    assert 0.03 < m.loss_.delta < 0.6
    assert 0 < report.share_error < report.residual.max()
    k = int(report.n_neighbors[0])
    again = ManifoldDenoiser(
        method="linear", loss="huber", delta=m.loss_.delta, n_neighbors=k
    )
    np.testing.assert_array_equal(
        again.fit(X).transform(X[:9]), m.set_params(share=None).fit(X).transform(X[:9])
    )
    assert again.report_.share_error == 0


def test_no_surface_near_any_row_is_told(X: Array) -> None:
    m = ManifoldDenoiser(method="lpca").fit(X)
    with pytest.warns(UserWarning, match="no surface was found"):
        np.testing.assert_array_equal(m.transform(X[:4] + 1e6), X[:4] + 1e6)


def test_report_on_the_rows_fitted(X: Array) -> None:
    a = ManifoldDenoiser(method="mls").fit(X)
    b = ManifoldDenoiser(method="mls")
    rows = b.fit_transform(X)
    np.testing.assert_array_equal(rows, a.transform(X))
    np.testing.assert_array_equal(a.report_.residual, b.report_.residual)
    assert a.report_ is a.report_
    first = a.report_
    assert a.fit(X[:100]).report_ is not first
    assert len(a.report_.noise) == 100
    with pytest.raises(AttributeError):
        _ = ManifoldDenoiser().report_


def test_default_neighbours_leave_the_choice_to_auto(X: Array) -> None:
    by_default, chosen, fixed = (
        ManifoldDenoiser(n_neighbors=k).fit(X[:90]).report_ for k in (30, "auto", 31)
    )
    np.testing.assert_array_equal(by_default.n_neighbors, chosen.n_neighbors)
    assert set(by_default.n_neighbors) != {30}
    assert set(fixed.n_neighbors) == {31}
    lpca = ManifoldDenoiser(method="lpca").fit(X).report_
    assert set(lpca.n_neighbors) == {30}


def squared(R: Array) -> tuple[Array, Array]:
    return (R**2).sum(axis=1), 2 * R


class Squared(losses.Loss):
    """squared_l2 with its majorizer."""

    def evaluate(self, R: Array) -> tuple[Array, Array]:
        return squared(R)

    def weights(self, R: Array) -> Array:
        return 2 * np.ones_like(R)


@pytest.mark.parametrize("loss", [squared, Squared()], ids=["function", "class"])
def test_losses_in_python(X: Array, loss: Any) -> None:
    want = ManifoldDenoiser(method="linear", loss="squared_l2").fit(X).transform(X[:9])
    m = ManifoldDenoiser(method="linear", loss=loss).fit(X)
    np.testing.assert_allclose(m.transform(X[:9]), want, atol=1e-5)
    np.testing.assert_array_equal(m.transform(X[4:5]), m.transform(X[:9])[4:5])
    assert isinstance(m.loss_, losses.Loss)


def test_losses_of_plugins(X: Array, tmp_path: Path) -> None:
    example = ROOT / "plugins" / "examples" / "student_t" / "scqm-loss-student_t"
    _, program = example.read_text(encoding="utf-8").split("\n", 1)
    plugin = tmp_path / example.name
    plugin.write_text(f"#!{sys.executable}\n{program}", encoding="utf-8")
    plugin.chmod(0o755)

    def denoised(loss: losses.Plugin) -> Array:
        m = ManifoldDenoiser(method="linear", loss=loss).fit(X)
        rows: Array = m.transform(X[:5])
        return rows

    rows = denoised(losses.Plugin(plugin, nu=3.0, sigma=0.05))
    # Nearly normal noise is nearly least squares.
    plain = denoised(losses.Plugin(plugin, nu=1e6))
    want = ManifoldDenoiser(method="linear", loss="squared_l2").fit(X).transform(X[:5])
    np.testing.assert_allclose(plain, want, atol=1e-3)
    assert 1e-4 < np.abs(rows - want).max() < 0.3
    with pytest.raises(InputError, match="nowhere"):
        ManifoldDenoiser(method="scqm", loss=losses.Plugin("nowhere")).fit(X)


def test_exceptions_of_losses(X: Array) -> None:
    class Failure(Exception):
        pass

    broken = False

    def loss(R: Array) -> tuple[Array, Array]:
        if broken:
            raise Failure("in the loss")
        return squared(R)

    m = ManifoldDenoiser(method="linear", loss=loss).fit(X)
    broken = True
    for _ in range(20):
        with pytest.raises(Failure, match="in the loss"):
            m.transform(X)
    wrong: Any = np.array
    with pytest.raises(scqm.exceptions.LossError, match="returned ndarray"):
        ManifoldDenoiser(method="linear", loss=wrong).fit(X).transform(X)


def test_weights_count_as_repetitions(X: Array) -> None:
    X = X[:60]
    weights = 1 + np.arange(len(X)) % 3
    for method in ("auto", "mls", "kde", "scqm"):
        a = ManifoldDenoiser(method=method).fit(X, sample_weight=weights)
        b = ManifoldDenoiser(method=method).fit(X.repeat(weights, axis=0))
        np.testing.assert_array_equal(a.transform(X[:20]), b.transform(X[:20]))


def test_rows_without_weight_are_nobodys_neighbours(X: Array) -> None:
    weights = np.arange(len(X)) % 2
    a = ManifoldDenoiser(method="mls").fit(X, sample_weight=weights)
    b = ManifoldDenoiser(method="mls").fit(X[1::2])
    np.testing.assert_array_equal(a.transform(X), b.transform(X))


@pytest.mark.parametrize(
    ("method", "n_components", "rows", "why"),
    [
        ("auto", 2, 9, "9 rows are too few for quadratic charts"),
        ("auto", 3, 100, "leaves no direction for noise"),
        ("lpca", 2, 2, "2 rows are too few"),
    ],
)
def test_rows_without_a_chart_stay(
    X: Array, method: str, n_components: int, rows: int, why: str
) -> None:
    denoiser = ManifoldDenoiser(n_components, method=method)
    with pytest.warns(UserWarning, match=f"{why}.*as they came"):
        denoiser.fit(X[:rows])
    assert denoiser.method_ == method
    assert len(denoiser.notes_) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # fit has said so
        np.testing.assert_array_equal(denoiser.transform(X[:rows]), X[:rows])
    assert denoiser.report_.unchanged.all()


def test_pipeline_and_grid_search(X: Array) -> None:
    pipe = make_pipeline(StandardScaler(), ManifoldDenoiser(method="mls"))
    values = {"manifolddenoiser__n_neighbors": [12, 20, 100]}
    search = GridSearchCV(pipe, values, cv=3, n_jobs=2, error_score="raise").fit(X)
    # A hundred of a hundred rows are no neighbourhood on a sphere.
    assert search.best_params_["manifolddenoiser__n_neighbors"] < 100
    assert search.best_estimator_.transform(X).shape == X.shape


def test_score(X: Array, disc: ManifoldDenoiser) -> None:
    m = ManifoldDenoiser(method="mls").fit(X[:100])
    Y = X[100:]
    distances = np.linalg.norm(m.transform(Y) - Y, axis=1)
    assert m.score(Y) == pytest.approx(-distances.mean(), rel=1e-12)
    weights = np.arange(len(Y))
    want = -np.average(distances, weights=weights)
    assert m.score(Y, sample_weight=weights) == pytest.approx(want, rel=1e-12)
    # What has no surface counts with its distance from the rows.
    assert -50.5 < disc.score([[50.0, 0.0, 1.0]]) < -49


def test_clones_pickles_and_workers(X: Array) -> None:
    m = ManifoldDenoiser(method="scqm", loss=losses.Lp(1.5), n_neighbors=12)
    assert clone(m).get_params() == m.get_params()
    want = m.fit(X).transform(X[:30])
    for again in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m)):
        np.testing.assert_array_equal(again.transform(X[:30]), want)
    there = joblib.Parallel(n_jobs=2)(
        joblib.delayed(m.transform)(part) for part in np.array_split(X[:30], 2)
    )
    np.testing.assert_array_equal(np.vstack(there), want)


def test_pandas_in_and_out(X: Array) -> None:
    frame = pd.DataFrame(X, columns=["x", "y", "z"], index=np.arange(len(X)) + 7)
    m = ManifoldDenoiser(method="lpca").set_output(transform="pandas")
    out = m.fit_transform(frame)
    pd.testing.assert_frame_equal(out, m.transform(frame))
    assert list(out.columns) == m.get_feature_names_out().tolist() == ["x", "y", "z"]
    assert out.index.equals(frame.index)
    with pytest.raises(ValueError, match="feature names"):
        m.transform(frame[["y", "x", "z"]])


def test_changes_of_the_rows_after_a_fit_do_not_matter(X: Array) -> None:
    rows, weights = X.copy(), np.ones(len(X))
    m = ManifoldDenoiser(method="mls").fit(rows, sample_weight=weights)
    want = m.transform(X)
    rows[:] = 0
    weights[:] = 0
    np.testing.assert_array_equal(m.transform(X), want)


def test_not_fitted(X: Array) -> None:
    for act in ("transform", "denoise", "score"):
        with pytest.raises(NotFittedError):
            getattr(ManifoldDenoiser(), act)(X)


def test_a_failed_fit_changes_nothing(X: Array) -> None:
    m = ManifoldDenoiser(method="lpca").fit(X)
    before = m.transform(X)
    with pytest.raises(InputError):
        m.set_params(n_neighbors=2).fit(X)
    np.testing.assert_array_equal(m.transform(X), before)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 0}, "n_components is 0; want at least 1"),
        ({"n_components": 2.0}, "n_components is 2.0; want an integer"),
        ({"n_components": 4}, "n_components=4 exceeds n_features=3"),
        ({"n_neighbors": 0}, "n_neighbors is 0; want at least 1"),
        ({"n_neighbors": 5}, "auto: 5 neighbours are too few .* want at least 8"),
        ({"n_neighbors": "all"}, "n_neighbors is 'all'; want an integer or 'auto'"),
        ({"n_neighbors": "auto", "method": "kde"}, "kernels of fixed width have no neighbours"),
        ({"n_neighbors": 2, "method": "lpca"}, "lpca: 2 neighbours are too few"),
        ({"method": "best"}, "method is 'best'; want one of auto, scqm, "),
        ({"method": None}, "method is None; want one of auto"),
        ({"loss": "l1"}, "loss is 'l1'; the method 'auto' has Tukey's loss"),
        ({"loss": "l3"}, 'no loss "l3"'),
        ({"loss": "l1", "method": "mls"}, "the method 'mls' takes no loss"),
        ({"loss": "lp", "method": "scqm"}, "loss 'lp' needs p"),
        ({"p": 2.0, "method": "scqm"}, "loss 'l2' takes no p"),
        ({"loss": "mahalanobis", "precision": np.eye(2), "method": "scqm"}, "rows of length 2"),
        ({"ridge": 1.0}, "the method 'auto' has no ridge; scqm, sqmf, qmf have"),
        ({"ridge": -1.0, "method": "scqm"}, "ridge is -1.0; want a finite number of at least 0"),
        ({"passes": 0, "method": "scqm"}, "passes is 0; want at least 1"),
        ({"degree": 3, "method": "mls"}, "degree is 3; want 1 or 2"),
        ({"degree": 1}, "the method 'auto' has no degree; mls have"),
        ({"flat_weights": 1, "method": "mls"}, "flat_weights is 1; want True or False"),
        ({"width": "wide", "method": "kde"}, "width is 'wide'; want a number or 'local'"),
        ({"width": 0.0, "method": "kde"}, "width is 0.0; want a finite number above 0"),
        ({"average": 0}, "average is 0; want at least 1"),
        ({"share": 1.5}, "share is 1.5; want at most 1"),
        ({"share": 0.5, "average": 3}, "share and average exclude each other"),
        ({"n_threads": 0}, "n_threads is 0; want at least 1"),
    ],
    ids=str,
)  # fmt: skip
def test_settings_that_cannot_be(
    X: Array, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        ManifoldDenoiser(**params).fit(X)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def reference() -> ManifoldDenoiser:
    return ManifoldDenoiser(method="mls").fit(grid())


@pytest.mark.parametrize("kind", [*SAME, "memmap"])
def test_same_bits(kind: str, reference: ManifoldDenoiser, tmp_path: Path) -> None:
    X = grid()
    given = memmap(X, tmp_path) if kind == "memmap" else SAME[kind](X)
    before = np.array(given, dtype=float) if kind != "matrix-like" else X.copy()
    m = ManifoldDenoiser(method="mls").fit(given)
    moved, wanted = m.transform(given), reference.transform(X)
    np.testing.assert_array_equal(moved, wanted.astype(moved.dtype))
    assert (moved.dtype == np.float32) == (kind == "float32")
    after = np.array(given, dtype=float) if kind != "matrix-like" else given.X
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("kind", REFUSED)
def test_refused(kind: str, reference: ManifoldDenoiser) -> None:
    make, error, message = REFUSED[kind]
    if kind == "too large":
        message += "|beyond the numbers"
    with pytest.raises(error, match=message):
        ManifoldDenoiser().fit(make())
    if kind in {"one row", "too large"}:
        return
    with pytest.raises((ValueError, TypeError)):
        reference.transform(make())


@pytest.mark.parametrize(
    ("X", "about"),
    [
        (np.zeros((20, 4)), "all rows zero"),
        (np.ones((20, 4)), "all rows equal"),
        (np.eye(4)[:3], "few rows"),
        (np.outer(np.arange(20.0), np.ones(4)), "one direction only"),
        (np.repeat(grid()[:5], 8, axis=0), "repeated rows"),
        (np.repeat(grid()[:15], 40, axis=0), "rows repeated more often than neighbours"),
        (np.column_stack([grid(), np.full(40, 7.0)]), "a constant column"),
        (grid() * 1e100, "huge"),
        (grid() * 1e-100, "tiny"),
        (grid() + 1e8, "far from the origin"),
        (grid() * np.array([1e-8, 1, 1e8, 1]), "columns of different scale"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)  # fmt: skip
@pytest.mark.parametrize("method", ["auto", "mls", "lpca", "kde"])
def test_odd_data_give_finite_rows(X: Array, about: str, method: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        refusal = None
        try:
            rows, report = ManifoldDenoiser(method=method).fit(X).denoise(X)
        except scqm.exceptions.ScqmError as error:
            refusal = error
    if refusal is not None:
        assert isinstance(refusal, ValueError)
        assert "\n" not in str(refusal)
        return
    assert np.isfinite(rows).all(), about
    assert np.isfinite(report.noise).all(), about


def test_rows_of_another_length(reference: ManifoldDenoiser) -> None:
    with pytest.raises(ValueError, match="2 features, but ManifoldDenoiser is expect"):
        reference.transform(np.zeros((4, 2)))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(40), "at least one non-zero number|all weights are 0"),
        (-np.ones(40), "Negative values|negative"),
        (np.full(40, np.nan), "NaN"),
        (np.ones(39), "shape"),
        ("heavy", "could not convert|scalar|1D|Expected"),
    ],
)
def test_weights_that_cannot_be(weights: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        ManifoldDenoiser().fit(grid(), sample_weight=weights)


def test_interrupts() -> None:
    """Of fits and of denoising, in Go and with a loss in Python, are heard."""
    X, _ = make_sphere(2000, noise=0.05, random_state=0)
    # Seconds on the fastest machine, for a fit that ends leaves something.
    big, _ = make_sphere(200000, noise=0.05, random_state=0)
    many = ManifoldDenoiser(method="scqm", loss="l1", n_threads=1).fit(X)
    mine = ManifoldDenoiser(method="linear", loss=squared, n_threads=1).fit(X)
    delays = []
    for k in range(5):
        delay = 0.01 + 0.05 * k
        m = ManifoldDenoiser(n_threads=1)
        delays.append(interrupted(partial(m.fit, big), delay))
        assert not hasattr(m, "method_")
        for long in (many, mine):
            delays.append(interrupted(forever(partial(long.transform, X)), delay))
    assert max(delays) < HANGS
    # The interpreter, the library and what was fitted go on.
    assert many.transform(X[:3]).shape == (3, 3)
    deadline = time.monotonic() + 20
    while scqm._native._jobs and time.monotonic() < deadline:
        for job in tuple(scqm._native._jobs):
            job._release()
        time.sleep(0.01)
    assert not scqm._native._jobs


def test_threads_give_equal_bits(X: Array, auto: ManifoldDenoiser) -> None:
    """Also where they all find a copy that must be fitted again first."""
    want = auto.transform(X)
    copied = pickle.loads(pickle.dumps(auto))
    with ThreadPoolExecutor(8) as pool:
        for rows in pool.map(lambda _: copied.transform(X), range(8)):
            np.testing.assert_array_equal(rows, want)


def test_the_library_forgets_what_nobody_needs(X: Array) -> None:
    m = ManifoldDenoiser(method="lpca").fit(X)
    number = m._kept.number
    made = json.loads(scqm._core.bindings_Report(number))
    assert made["report"]["method"] == "lpca"
    del m
    with pytest.raises(RuntimeError, match="job: "):
        scqm._core.bindings_Report(number)


def test_fork_is_an_error_and_exit_is_clean() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            """
import os
import numpy as np, scqm
X = np.random.default_rng(0).normal(size=(100, 3))
m = scqm.ManifoldDenoiser(method="lpca").fit(X)
pid = os.fork()
if pid == 0:
    try:
        m.transform(X)
    except RuntimeError as error:
        print(type(error).__name__, flush=True)
        os._exit(7)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "ForkError\n7\n"), done.stderr
    assert not done.stderr


@pytest.mark.parametrize("bar", [True, False])
def test_progress_is_shown(
    X: Array,
    bar: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if bar:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    ManifoldDenoiser(verbose=True).fit_transform(X)
    shown = capsys.readouterr().err
    assert "ManifoldDenoiser: fit" in shown
    assert "ManifoldDenoiser: denoise" in shown
    assert "100" in shown


def wide(n: int = 200, noise: float = 0.05) -> tuple[Array, Array]:
    """Return rows of a sphere in 30 columns, and the clean ones."""
    _, low = make_sphere(n, noise=noise, random_state=1)
    rng = np.random.default_rng(2)
    clean = low @ np.linalg.qr(rng.standard_normal((30, 3)))[0].T
    return clean + noise * rng.standard_normal(clean.shape), clean


def test_wide_rows_along_principal_axes() -> None:
    X, clean = wide()
    m = ManifoldDenoiser(method="mls").fit(X)
    assert m.n_axes_ == 3
    assert m.n_components_ == 2
    rows, report = m.denoise(X)
    assert ((rows - clean) ** 2).sum() < 0.3 * ((X - clean) ** 2).sum()
    assert np.allclose(report.residual, np.linalg.norm(rows - X, axis=1))
    assert (m.transform(X[7:8]) == rows[7:8]).all()
    again = pickle.loads(pickle.dumps(m))
    assert (again.transform(X) == rows).all()
    assert m.denoise(X[:1] + 10 * np.ones(30))[1].extrapolated.all()
    assert m.describe(X)[1].normals is None
    assert ManifoldDenoiser(method="mls", n_axes="all").fit(X).n_axes_ == 0
    assert ManifoldDenoiser(method="mls", n_axes=5).fit(X).n_axes_ == 5
    for given in (2, 31, "some", 0):
        with pytest.raises(InputError, match="axes"):
            ManifoldDenoiser(method="mls", n_axes=given).fit(X)


def test_a_linear_model_is_better() -> None:
    X = np.random.default_rng(3).standard_normal((200, 25))
    X[:, :4] *= 5
    with pytest.warns(UserWarning, match="a linear model is better here"):
        m = ManifoldDenoiser().fit(X)
    assert m.method_ == "pca"
    assert m.n_axes_ == 4
    assert m.n_components_ == 2
    rows = ManifoldDenoiser(method="pca").fit_transform(X)
    assert (m.transform(X) == rows).all()
    assert (pickle.loads(pickle.dumps(m)).transform(X) == rows).all()
    assert (m.describe(X)[1].curvature == 0).all()
    with pytest.raises(InputError, match="no n_neighbors"):
        ManifoldDenoiser(2, 20, "pca").fit(X)
