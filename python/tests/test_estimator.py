"""The estimator as scikit-learn and its users see it.

The checks of scikit-learn, the attributes against their formulas, what a result may
depend on, and the errors of every parameter.
"""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scqm
from scqm import SCQM
from scqm.datasets import make_arc, make_sphere

Array = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def X() -> Array:
    return make_sphere(80, noise=0.05, random_state=0)[0]


def test_attributes_have_the_documented_shapes() -> None:
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, size=(60, 3))
    X = np.hstack([t, t**2, t[:, :1] * t[:, 1:2]]) + rng.normal(0, 0.05, size=(60, 7))
    m = SCQM(3, 4).fit(X)
    assert m.components_.shape == (3, 7)
    assert m.curvature_components_.shape == (4, 7)
    assert m.theta_.shape == (6, 4)
    assert m.offset_.shape == (7,)
    assert m.embedding_.shape == (60, 3)
    assert m.n_features_in_ == 7
    assert m.get_feature_names_out().tolist() == ["scqm0", "scqm1", "scqm2"]
    axes = np.vstack([m.components_, m.curvature_components_])
    np.testing.assert_allclose(axes @ axes.T, np.eye(7), atol=1e-12)
    assert set(m.kkt_) == {"c", "Q", "Theta", "tau"}
    assert m.history_["iteration"][-1] == m.n_iter_
    assert m.status_ in {"converged", "stalled"}
    assert m.loss_ == scqm.losses.L2()


def test_model_is_its_formula(X: Array) -> None:
    m = SCQM(2, loss="squared_l2").fit(X)
    tau = m.embedding_
    i, j = np.triu_indices(2)
    rows = (
        m.offset_
        + tau @ m.components_
        + (tau[:, i] * tau[:, j]) @ m.theta_ @ m.curvature_components_
    )
    np.testing.assert_allclose(m.inverse_transform(tau), rows, atol=1e-12)
    objective = ((rows - X) ** 2).sum()
    assert m.objective_ == pytest.approx(objective, rel=1e-12)
    # The coordinates of the fit are those of the projections.
    np.testing.assert_allclose(m.project(X), rows, atol=1e-4)


def test_linear_least_squares_is_pca(X: Array) -> None:
    m = SCQM(2, loss="squared_l2", linear=True).fit(X)
    pca = PCA(2).fit(X)
    np.testing.assert_allclose(
        np.abs((m.components_ * pca.components_).sum(axis=1)), 1, atol=1e-6
    )
    error = X - pca.inverse_transform(pca.transform(X))
    assert m.objective_ == pytest.approx((error**2).sum(), rel=1e-9)


def test_score_is_the_mean_loss_of_projections(X: Array) -> None:
    m = SCQM(2, loss="l1").fit(X)
    values = np.abs(m.project(X) - X).sum(axis=1)
    assert m.score(X) == pytest.approx(-values.mean(), rel=1e-12)
    weights = np.arange(len(X))
    weighted = -np.average(values, weights=weights)
    assert m.score(X, sample_weight=weights) == pytest.approx(weighted, rel=1e-12)


@pytest.mark.parametrize("loss", ["l2", "l1", "squared_l2"])
def test_rows_do_not_depend_on_their_batch(X: Array, loss: Any) -> None:
    m = SCQM(2, loss=loss).fit(X)
    whole = m.transform(X)
    single = np.vstack([m.transform(row[None]) for row in X])
    np.testing.assert_array_equal(whole, single)


def test_threads_do_not_change_a_bit(X: Array) -> None:
    one, two = (SCQM(2, n_threads=n).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.transform(X), two.transform(X))


def test_weights_count_as_repetitions(X: Array) -> None:
    weights = np.arange(len(X)) % 3
    a = SCQM(2).fit(X, sample_weight=weights)
    b = SCQM(2).fit(X.repeat(weights, axis=0))
    np.testing.assert_array_equal(a.transform(X), b.transform(X))


def test_pipeline_and_grid_search(X: Array) -> None:
    pipe = make_pipeline(StandardScaler(), SCQM(loss="huber"))
    grid = {"scqm__loss": ["l2", scqm.losses.L1()], "scqm__ridge": [0.0, 0.1]}
    search = GridSearchCV(pipe, grid, cv=2, n_jobs=2, error_score="raise").fit(X)
    assert search.best_estimator_.transform(X).shape == (len(X), 2)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_clones_pickles_and_workers(X: Array) -> None:
    m = SCQM(2, loss=scqm.losses.Lp(1.5), random_state=3, ridge=0.01)
    assert clone(m).get_params()["loss"] == scqm.losses.Lp(1.5)
    m.fit(X)
    again = pickle.loads(pickle.dumps(m))
    np.testing.assert_array_equal(m.transform(X), again.transform(X))
    buffer = io.BytesIO()
    joblib.dump(m, buffer)
    there = joblib.Parallel(n_jobs=2)(
        joblib.delayed(m.transform)(part) for part in np.array_split(X, 2)
    )
    np.testing.assert_array_equal(np.vstack(there), m.transform(X))


def test_pandas_in_and_out() -> None:
    X, _ = make_arc(40, random_state=0)
    frame = pd.DataFrame(X, columns=["x", "y"])
    m = SCQM(1).set_output(transform="pandas").fit(frame)
    out = m.transform(frame)
    assert list(out.columns) == ["scqm0"]
    assert m.feature_names_in_.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="feature names"):
        m.transform(frame[["y", "x"]])


def test_not_fitted(X: Array) -> None:
    for act in ("transform", "project", "inverse_transform", "score"):
        with pytest.raises(NotFittedError):
            getattr(SCQM(), act)(X)
    with pytest.raises(NotFittedError):
        SCQM().save("never.npz")


def test_a_failed_fit_changes_nothing(X: Array) -> None:
    m = SCQM(2).fit(X)
    before = m.transform(X)
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        m.fit(bad)
    np.testing.assert_array_equal(m.transform(X), before)


def test_limits_are_reported(X: Array) -> None:
    with pytest.warns(ConvergenceWarning, match="stopped after 2 iterations"):
        m = SCQM(2, max_iter=2, tol=1e-300, solver="rgd").fit(X)
    assert (m.status_, m.n_iter_) == ("max_iter", 2)
    m = SCQM(2, time_limit=0.05, tol=1e-300, max_iter=10**9, loss="l1").fit(
        np.random.default_rng(0).normal(size=(3000, 40))
    )
    assert m.status_ == "time_limit"


def test_a_fit_that_stalls_is_warned_of() -> None:
    X = np.random.default_rng(3).normal(size=(40, 6))
    with pytest.warns(ConvergenceWarning, match="above the tolerance 1e-300"):
        m = SCQM(2, loss="squared_l2", tol=1e-300).fit(X)
    assert m.status_ == "stalled"
    assert m.warnings_ == [m.message_]


@pytest.mark.filterwarnings("error")
def test_a_good_fit_is_not_warned_of(X: Array) -> None:
    m = SCQM(2, loss="squared_l2").fit(X)
    assert m.warnings_ == []
    assert m.curvature_ is not None
    assert m.curvature_["verdict"] == "flat"
    assert m.curvature_extent_ == 0


def test_a_sheet_that_folds_is_warned_of() -> None:
    X = np.random.default_rng(0).normal(size=(30, 8))
    with pytest.warns(UserWarning, match="the sheet folds") as told:
        m = SCQM(2, "full", loss="squared_l2", ridge=0, max_iter=500).fit(X)
    assert m.curvature_ is not None
    assert m.curvature_["slope"] < 0.3
    assert len(told) == len(m.warnings_)
    # That of the formula, from what the model is.
    d, theta = 2, m.theta_
    forms = [np.array([[t[0], t[1] / 2], [t[1] / 2, t[2]]]) for t in theta.T]
    top = np.linalg.eigvalsh(sum(a @ a for a in forms))[-1]
    far = np.linalg.norm(m.embedding_ - np.median(m.embedding_, axis=0), axis=1)
    assert theta.shape[0] == d * (d + 1) // 2
    assert m.curvature_extent_ == pytest.approx(
        np.sqrt(top) * np.quantile(far, 0.95), rel=0.3
    )


def test_ridges(X: Array) -> None:
    by_default = SCQM(2, "full", loss="squared_l2").fit(X)
    assert by_default.ridge_ == 1e-3
    assert by_default.penalty_ > 0
    paper = SCQM(2, "full", loss="squared_l2", ridge=0).fit(X)
    assert (paper.ridge_, paper.penalty_) == (0, 0)
    assert paper.objective_ <= by_default.objective_ + by_default.penalty_
    assert SCQM(2, linear=True).fit(X).ridge_ == 0
    chosen = SCQM(2, "full", loss="squared_l2", ridge="auto", random_state=1).fit(X)
    assert chosen.ridge_ in (1e-3, 1e-2, 0.1, 1.0, 10.0)
    assert any("rows held out" in note for note in chosen.notes_)
    again = SCQM(2, "full", loss="squared_l2", ridge=chosen.ridge_).fit(X)
    np.testing.assert_array_equal(again.theta_, chosen.theta_)


def test_a_solver_that_cannot_serve_is_refused() -> None:
    X = np.random.default_rng(0).normal(size=(50, 784))
    with pytest.raises(
        scqm.exceptions.InputError, match=r"newton cannot fit.*use auto, alt"
    ):
        SCQM(2, solver="newton").fit(X)


def test_several_starts_are_no_worse(X: Array) -> None:
    one = SCQM(2, random_state=1).fit(X)
    many = SCQM(2, n_init=4, random_state=1).fit(X)
    assert many.objective_ <= one.objective_ * (1 + 1e-9)


def test_random_states(X: Array) -> None:
    by_state = [
        SCQM(2, n_init=2, random_state=np.random.RandomState(5)).fit(X).embedding_
        for _ in range(2)
    ]
    np.testing.assert_array_equal(by_state[0], by_state[1])


def test_checkers_of_types_refuse_names_that_there_are_not(X: Array) -> None:
    # mypy, which runs on the tests, says so where it stops to refuse these.
    with pytest.raises(scqm.exceptions.InputError, match='did you mean "huber"'):
        SCQM(loss="hubber").fit(X)  # type: ignore[arg-type]  # which mypy must say
    with pytest.raises(scqm.exceptions.InputError, match="no solver"):
        SCQM(solver="newtn").fit(X)  # type: ignore[arg-type]  # which mypy must say


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 0}, "n_components is 0; want at least 1"),
        ({"n_components": 2.0}, "n_components is 2.0; want an integer"),
        ({"n_components": True}, "n_components is True; want an integer"),
        ({"n_components": 4}, "n_components=4 exceeds n_features=3"),
        ({"n_curvature": -1}, "n_curvature is -1; want at least 1"),
        ({"loss": "l3"}, 'no loss "l3" \\(did you mean "l1"\\?\\)'),
        ({"loss": None}, "loss is None; want a name"),
        ({"loss": scqm.losses.L2}, "loss is the class L2; want an object of it"),
        ({"loss": "lp"}, "loss 'lp' needs p"),
        ({"loss": "lp", "p": 0.5}, "want p >= 1"),
        ({"loss": "l2", "p": 2}, "loss 'l2' takes no p"),
        ({"loss": scqm.losses.L2(), "p": 2}, "p goes with a loss given by name"),
        ({"loss": "huber", "delta": -1}, "delta"),
        ({"loss": "huber", "delta": "big"}, "delta is 'big'; want a finite number"),
        ({"loss": "mahalanobis"}, "loss 'mahalanobis' needs precision"),
        ({"loss": "mahalanobis", "precision": [1, 2]}, "precision has shape \\(2,\\)"),
        ({"loss": "mahalanobis", "precision": np.eye(2)}, "rows of length 2"),
        ({"loss": "mahalanobis", "precision": -np.eye(3)}, "definite"),
        ({"solver": "adam"}, 'no solver "adam"'),
        ({"solver": 3}, "solver is 3; want a name"),
        ({"linear": "no"}, "linear is 'no'; want True or False"),
        ({"ridge": -1.0}, "ridge is -1.0; want a finite number of at least 0"),
        ({"ridge": np.inf}, "ridge is inf; want a finite number"),
        ({"n_init": 0}, "n_init is 0; want at least 1"),
        ({"max_iter": 0}, "max_iter is 0; want at least 1"),
        ({"tol": 0}, "tol is 0; want a finite number above 0"),
        ({"time_limit": np.nan}, "time_limit is nan; want a finite number above 0"),
        ({"random_state": -1}, "random_state is -1; want at least 0"),
        ({"random_state": "x"}, "random_state is 'x'; want an integer"),
        ({"n_threads": 0}, "n_threads is 0; want at least 1"),
    ],
)
def test_settings_that_cannot_be(
    X: Array, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(scqm.exceptions.InputError, match=message) as caught:
        SCQM(**params).fit(X)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def test_contiguous_rows_are_not_copied() -> None:
    """The rows take 80 MB; a second copy would show in the peak."""
    program = """
import resource, sys, numpy as np, scqm
X = np.random.default_rng(0).normal(size=(50000, 200))
assert X.nbytes == 80_000_000
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
scqm.SCQM(2, loss="squared_l2", solver="alternating", time_limit=0.01, n_threads=1).fit(X)
print((peak() - before) / X.nbytes)
"""
    environment = os.environ | {"GOGC": "20"}
    out = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert out.returncode == 0, out.stderr
    assert float(out.stdout) < 0.8


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
    SCQM(2, verbose=True).fit(X)
    shown = capsys.readouterr().err
    assert "SCQM" in shown
    assert "objective" in shown


def test_rows_go_through_slab_by_slab(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    model = SCQM(2).fit(X)
    want = (model.transform(X), model.project(X), model.score(X))
    monkeypatch.setattr("scqm._model.SLAB", 4 * 7)
    forms: list[Any] = [X, np.asfortranarray(X), X.tolist()]
    for rows in forms:
        assert np.array_equal(model.transform(rows), want[0])
        assert np.array_equal(model.project(rows), want[1])
        assert model.score(rows) == want[2]
    single = X.astype(np.float32)
    assert model.project(single).dtype == np.float32
    exact = model.project(single.astype(float)).astype(np.float32)
    assert np.array_equal(model.project(single), exact)
    assert np.array_equal(model.transform(X[:1]), want[0][:1])


def test_hidden_entries_are_scored() -> None:
    rng = np.random.default_rng(4)
    t = rng.uniform(-1, 1, (400, 2))
    bend = np.column_stack([t**2, t[:, :1] * t[:, 1:]])
    X = np.column_stack([t, bend]) @ np.linalg.qr(rng.normal(size=(9, 5)))[0].T
    X += 0.05 * rng.normal(size=X.shape)
    scores = [
        SCQM(2, loss="squared_l2", linear=linear)
        .fit(X[:300])
        .score(X[300:], hidden=0.3)
        for linear in (False, True)
    ]
    assert -0.15 < scores[0] < -0.05
    assert scores[0] > 0.8 * scores[1]
    model = SCQM(2).fit(X)
    assert model.score(X, hidden=0.3) == model.score(X, hidden=0.3)
    wrongs: list[Any] = [0, 1, -0.1, "half", np.nan]
    for wrong in wrongs:
        with pytest.raises(scqm.exceptions.InputError, match="hidden"):
            model.score(X, hidden=wrong)


def test_the_rule_on_curvature() -> None:
    rng = np.random.default_rng(5)
    noise = SCQM(2).fit(rng.normal(size=(300, 10)))
    assert noise.curvature_ is not None
    assert noise.curvature_["verdict"] == "flat"
    assert noise.curvature_components_.shape == (0, 10)
    assert noise.theta_.shape == (3, 0)
    t = rng.uniform(-1, 1, 200)
    arc = np.column_stack([np.cos(t), np.sin(t), np.zeros_like(t)])
    arc += 0.03 * rng.normal(size=arc.shape)
    for solver in ("auto", "streaming"):
        bent = SCQM(1, solver=solver).fit(arc)
        assert bent.curvature_ is not None
        assert bent.curvature_["verdict"] == "curved"
        assert bent.curvature_["s"] == 1
        assert bent.curvature_["slope"] > 0.8
        assert "curvature: in 1 of 1 directions" in bent.curvature_["sentence"]
    with pytest.raises(scqm.exceptions.InputError, match="'full'"):
        SCQM().set_params(n_curvature="most").fit(arc)
