"""Many small fits are those of SCQM, one by one, and errors name the fit."""

from __future__ import annotations

import pickle
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.exceptions import ConvergenceWarning

from scqm import SCQM, Fits, fit_many
from scqm.exceptions import InputError
from scqm.losses import Huber

Array = npt.NDArray[np.float64]


def neighbourhoods(
    count: int, n: int = 30, noise: float = 0.06, seed: int = 0
) -> Array:
    """Return the nearest of 300 noisy points on the unit sphere to some of them."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(300, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    points += noise * rng.normal(size=points.shape)
    far = np.linalg.norm(points[:count, None] - points, axis=2)
    found: Array = points[np.argsort(far, axis=1)[:, :n]]
    return found


@pytest.mark.filterwarnings("ignore:.*fold")
@pytest.mark.parametrize("n_curvature", [None, "full"])
@pytest.mark.parametrize("loss", ["squared_l2", "huber", "l2"])
def test_same_as_one_by_one(loss: Any, n_curvature: Any) -> None:
    X = np.concatenate([neighbourhoods(3, noise=noise) for noise in (0.01, 0.06, 0.5)])
    fits = fit_many(X, 2, n_curvature, loss=loss)
    assert isinstance(fits, Fits)
    assert len(fits) == len(list(fits)) == 9
    assert fits.curvature_components.shape == (9, 1, 3)
    for i, x in enumerate(X):
        one, model = SCQM(2, n_curvature, loss=loss).fit(x), fits[i]
        assert model.objective_ == fits.objective[i] == one.objective_
        assert model.status_ == one.status_ == fits.status[i]
        assert model.loss_ == one.loss_
        assert model.curvature_ == one.curvature_
        for name in "components_", "curvature_components_", "theta_", "embedding_":
            np.testing.assert_array_equal(getattr(model, name), getattr(one, name))
        np.testing.assert_array_equal(model.project(x), one.project(x))
        s = len(model.curvature_components_)
        assert not fits.theta[i, :, s:].any()
        assert not fits.curvature_components[i, s:].any()
        assert set(vars(one)) == set(vars(model))
        assert model.get_params() == one.get_params() | {"random_state": 0}
    flat = [len(model.curvature_components_) == 0 for model in fits]
    assert any(flat) == (n_curvature is None)
    assert not all(flat)
    if loss == "huber":
        first, second = fits[0].loss_, fits[1].loss_
        assert isinstance(first, Huber)
        assert isinstance(second, Huber)
        assert first.delta != second.delta


def test_lists_of_other_lengths_and_weights(tmp_path: Path) -> None:
    X = [x[: 20 + i] for i, x in enumerate(neighbourhoods(4))]
    weights = [np.linspace(0.5, 2, len(x)) for x in X]
    fits = fit_many(X, 2, "full", loss="squared_l2", ridge=1, sample_weight=weights)
    for i, x in enumerate(X):
        one = SCQM(2, "full", loss="squared_l2", ridge=1).fit(
            x, sample_weight=weights[i]
        )
        assert fits.objective[i] == one.objective_
        assert fits.embeddings[i].shape == fits[i].embedding_.shape == (len(x), 2)
    fits[-1].save(tmp_path / "model.npz")  # the report is whole
    some = pickle.loads(pickle.dumps(fits))[1:3]
    assert len(some) == 2
    np.testing.assert_array_equal(some[0].theta_, fits[1].theta_)
    assert repr(some) == "Fits(2 of d=2, s=1, D=3 by squared_l2: 2 converged)"
    with pytest.raises(IndexError, match="fit 4 of 4"):
        fits[4]


def test_threads_make_no_difference() -> None:
    X = neighbourhoods(8)
    a, b = (fit_many(X, 2, loss="squared_l2", n_threads=k) for k in (1, 3))
    for name in "components", "curvature_components", "theta", "offset", "objective":
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def spoilt(i: int, j: int, value: float) -> Array:
    X = neighbourhoods(3)
    X[i, j, 1] = value
    return X


@pytest.mark.parametrize(
    ("X", "params", "message"),
    [
        (spoilt(2, 17, np.nan), {}, r"^fit 2: row 17, column 1 is NaN \(missing\)"),
        (spoilt(1, 3, np.inf), {}, r"^fit 1: row 3, column 1 is \+Inf"),
        (np.ones((3, 4)), {}, "X has 2 dimensions"),
        (
            [np.ones((5, 3)), np.ones((5, 2))],
            {},
            "fit 1: X has 2 features, but SCQM is expecting 3",
        ),
        ([np.ones((5, 3)), np.ones((1, 3))], {}, "fit 1: Found array with 1 sample"),
        ([np.ones((5, 3)), [["a"]]], {}, "fit 1: could not convert string"),
        ([], {}, "no sets"),
        (np.ones((2, 5, 3)), {"n_components": 4}, "n_components=4 exceeds"),
        (np.ones((2, 5, 3)), {"loss": "auto"}, "name a loss"),
        (np.ones((2, 5, 3)), {"loss": "l3"}, "l3"),
        (np.ones((2, 5, 3)), {"sample_weight": np.ones((1, 5))}, "is for 1 fits"),
        (
            np.ones((2, 5, 3)),
            {"sample_weight": np.ones((2, 4))},
            "fit 0: sample_weight",
        ),
    ],
)
def test_errors_name_fit_and_row(X: Any, params: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fit_many(X, **params)


def test_losses_of_ones_own() -> None:
    def squares(R: Array) -> tuple[Array, Array]:
        return (R**2).sum(axis=1) / 2, R

    X = neighbourhoods(3)
    fits = fit_many(X, 2, loss=squares, tol=1e-3)
    for i, x in enumerate(X):
        one = SCQM(2, loss=squares, tol=1e-3).fit(x)
        np.testing.assert_array_equal(fits[i].embedding_, one.embedding_)


def test_warns_once_with_the_count() -> None:
    X = neighbourhoods(5)
    with pytest.warns(ConvergenceWarning) as caught:
        fits = fit_many(X, 2, "full", loss="squared_l2", max_iter=1)
    assert fits.warnings == {"max_iter": 5}
    assert len(caught) == 1
    assert "5 of 5 fits ended 'max_iter', the first is fit 0" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_progress_and_interrupt(capsys: pytest.CaptureFixture[str]) -> None:
    fit_many(neighbourhoods(3), 2, loss="squared_l2", verbose=True)
    assert "fit_many: 3 fits" in capsys.readouterr().err
    X = np.concatenate([neighbourhoods(100, seed=k) for k in range(20)])
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        start = time.process_time()
        with pytest.raises(KeyboardInterrupt):
            fit_many(X, 2, loss="l2", ridge=1e-3)
        assert time.process_time() - start < 5  # of about 20 s
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(fit_many(X[:2], 2, loss="squared_l2")) == 2
