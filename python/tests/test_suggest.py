"""The choice of d and s, of a loss, and what residuals tell about noise.

The dimensions of surfaces that are known are found, flat ones and pure noise too; the
loss chosen is near the best, and refusals say why.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import scqm
from scqm import SCQM, losses
from scqm.datasets import generalized_gaussian_noise, radial_laplace_noise

Array = npt.NDArray[np.float64]


def bowl(n: int, D: int, noise: Array, seed: int = 0) -> Array:
    t = np.random.default_rng(seed).uniform(-2, 2, size=(n, 2))
    X = np.zeros((n, D))
    X[:, :2], X[:, 2] = t, (t**2).sum(axis=1) / 3
    return X + noise


def test_suggest_finds_a_bowl() -> None:
    noise = generalized_gaussian_noise((100, 8), 2.0, 0.1, random_state=1)
    X = bowl(100, 8, noise)
    s = scqm.suggest(X, max_components=3)
    assert (s.n_components, s.n_curvature) == (2, 1)
    assert s.params == {"n_components": 2, "n_curvature": 1, "ridge": s.ridge}
    best = s.table[s.best]
    assert best["d"] == 2
    assert best["s_effective"] == len(best["singular_values"]) == 1
    text = str(s)
    assert s.reason in text
    assert text.count("\n*") == 1
    assert len(text.splitlines()) == len(s.table) + 3
    assert SCQM(**s.params).fit(X).curvature_components_.shape == (1, 8)
    assert scqm.suggest(X, max_components=3, n_threads=1) == s


# More surfaces and seeds are drilled in Go.
@pytest.mark.parametrize(("d", "s"), [(0, 0), (1, 1), (2, 1)])
def test_suggest_finds_surfaces(d: int, s: int) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-2, 2, size=(2, 120))
    X = 0.1 * rng.normal(size=(120, 10))
    surfaces = {
        (0, 0): [],
        (1, 1): [a, a**2 / 2],
        (2, 1): [a, b, (a**2 + b**2) / 3],
    }
    for j, column in enumerate(surfaces[d, s]):
        X[:, j] += column
    X = X @ np.linalg.qr(rng.normal(size=(10, 10)))[0]
    found = scqm.suggest(X, max_components=2, random_state=0)
    assert (found.n_components, found.n_curvature) == (d, s), found


def six_noises(D: int, n: int, rng: np.random.Generator) -> dict[str, Array]:
    outliers = rng.normal(size=(n, D))
    outliers[::10] *= 10
    seed = int(rng.integers(1000))
    return {
        "Gaussian": rng.normal(size=(n, D)),
        "Laplace": rng.laplace(size=(n, D)),
        "radial Laplace": radial_laplace_noise(n, D, D**-0.5, random_state=seed),
        "Student's t": rng.standard_t(3, size=(n, D)),
        "10 % outliers": outliers,
        "uniform": rng.uniform(-(3**0.5), 3**0.5, size=(n, D)),
    }


# The tests in Go try all six.
@pytest.mark.parametrize("name", ["Gaussian", "10 % outliers"])
def test_auto_is_near_the_best_loss(name: str) -> None:
    rng = np.random.default_rng(11)
    X, held = (bowl(100, 12, 0.1 * six_noises(12, 100, rng)[name], k) for k in (0, 1))

    def error(loss: Any) -> float:
        model = SCQM(2, 1, loss=loss, max_iter=1000).fit(X)
        model.loss_ = losses.L2()  # the distance is measured in the same way for all
        return float(np.linalg.norm(model.project(held) - held, axis=1).mean())

    single: list[Any] = ["l2", "squared_l2", "l1", "huber"]
    single += [losses.Lp(p) for p in (1.5, 4.0, 6.0)]
    assert error("auto") < 1.02 * min(error(loss) for loss in single)


def test_suggest_finds_flat_sheets_and_noise() -> None:
    X = generalized_gaussian_noise((80, 6), 2.0, 0.1, random_state=2)
    none = scqm.suggest(X, max_components=2)
    assert none.n_components == none.n_curvature == 0
    with pytest.raises(scqm.exceptions.InputError, match="no model to take: no sheet"):
        _ = none.params
    line = SCQM("auto").fit(X)
    assert line.n_components_ == 1
    assert "a line is fitted all the same" in line.notes_[0]
    X[:, 0] += np.random.default_rng(0).uniform(-2, 2, 80)
    flat = scqm.suggest(X, max_components=2, loss="squared_l2", folds=4)
    assert flat.params == {"n_components": 1, "linear": True}


def test_suggest_takes_losses_of_python_and_weights() -> None:
    X = bowl(30, 4, generalized_gaussian_noise((30, 4), 2.0, 0.1, random_state=3))

    def squares(R: Array) -> tuple[Array, Array]:
        return (R**2).sum(axis=1), 2 * R

    mine = scqm.suggest(X, max_components=1, folds=2, loss=squares)
    library = scqm.suggest(X, max_components=1, folds=2, loss="squared_l2")
    assert mine.table[1]["predicted"] == pytest.approx(library.table[1]["predicted"])
    assert mine.n_samples == 30
    few = scqm.suggest(X, max_components=1, folds=2, loss="l2", max_samples=20)
    assert few.n_samples == 20
    weights = np.ones(30)
    weights[15:] = 0
    half = scqm.suggest(X, max_components=1, folds=2, loss="l2", sample_weight=weights)
    assert half.n_samples == 15


@pytest.mark.parametrize(
    ("X", "settings", "match"),
    [
        (np.ones((20, 1)) * np.arange(20)[:, None], {}, "2 columns or more"),
        (np.eye(5), {}, "5 distinct rows in 3 parts"),
        (np.eye(20), {"folds": 1}, "folds is 1"),
        (np.eye(20), {"max_components": 0}, "max_components is 0"),
        (np.eye(20), {"loss": "l3"}, "no loss"),
        (np.eye(20), {"verbose": 1}, "verbose is 1"),
    ],
)
def test_suggest_refusals(X: Array, settings: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        scqm.suggest(X, **settings)


def test_suggest_shows_progress(capsys: pytest.CaptureFixture[str]) -> None:
    scqm.suggest(np.eye(12), max_components=1, folds=2, verbose=True)
    assert "scqm: suggest" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("noise", "wanted"),
    [
        (
            generalized_gaussian_noise((120, 12), 1.0, 0.1, random_state=4),
            {"l1", "lp", "huber_entries"},
        ),
        (radial_laplace_noise(120, 12, 0.03, random_state=4), {"l2"}),
    ],
)
def test_auto_chooses_a_loss(noise: Array, wanted: set[str]) -> None:
    X = bowl(120, 12, noise)
    model = SCQM(2, 1, loss="auto").fit(X)
    assert model.loss_.name in wanted
    assert model.loss_reason_ == model.notes_[-1]
    assert f" the loss {model.loss_.name}" in (model.loss_reason_ or "")
    named = SCQM(2, 1, loss=model.loss_).fit(X)
    assert named.objective_ == model.objective_
    assert named.loss_reason_ is None
    np.testing.assert_array_equal(named.transform(X), model.transform(X))


def test_auto_refuses_to_choose_and_takes_no_parameters() -> None:
    X = bowl(60, 4, generalized_gaussian_noise((60, 4), 2.0, 0.1, random_state=5))
    model = SCQM(2, loss="auto").fit(X)
    assert model.loss_ == losses.L2()
    assert "2 directions off the sheet" in (model.loss_reason_ or "")
    with pytest.raises(ValueError, match="loss 'auto' takes no p"):
        SCQM(2, loss="auto", p=1.5).fit(X)


@pytest.mark.parametrize("p", [1.0, 1.25, 1.5, 2.0])
def test_power_of_noise(p: float) -> None:
    noise = generalized_gaussian_noise((200, 10), p, 0.3, random_state=7)
    estimate = losses.estimate_power(noise)
    assert abs(estimate.p - p) < 2 * estimate.p_error < 0.3
    assert estimate.scale == pytest.approx(0.3, rel=0.15)


def test_power_of_residuals_needs_parts() -> None:
    X = bowl(300, 12, generalized_gaussian_noise((300, 12), 1.0, 0.1, random_state=8))
    model = SCQM(2, 1).fit(X)
    R = model.inverse_transform(model.embedding_) - X
    blind = losses.estimate_power(R)
    parts = model.residual_parts()
    assert 9.5 < parts.sum(axis=1).mean() < 10
    seeing = losses.estimate_power(R, parts)
    assert abs(blind.p - 1) > 2 * blind.p_error
    assert abs(seeing.p - 1) < 2 * seeing.p_error


def test_choose_says_why() -> None:
    R = radial_laplace_noise(200, 12, 1.0, random_state=9)
    choice = losses.choose(R, 0)
    assert choice.loss == losses.L2()
    assert choice.decided
    few = losses.choose(R, 10)
    assert not few.decided
    assert "2 directions off the sheet" in few.reason


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: losses.estimate_power([1.0, 2.0]), "want 10 or more"),
        (lambda: losses.estimate_power(np.ones(20), np.ones(3)), "parts have shape"),
        (lambda: losses.estimate_power(np.ones(20), np.zeros(20)), "above 0"),
        (lambda: losses.estimate_power([np.nan] * 20), "NaN"),
        (lambda: losses.choose(np.ones(20), 0), "want rows"),
        (lambda: losses.choose(np.ones((20, 3)), 3), "want 0 to 2"),
    ],
)
def test_noise_refusals(call: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        call()
