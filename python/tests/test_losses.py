"""Losses of the library and losses written in Python.

Each built-in loss is held against its formula in NumPy. Losses of one's own serve every
solver, and those that are none are named with what is wrong.
"""

from __future__ import annotations

import pickle
import traceback
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import scqm
from scqm import SCQM, losses
from scqm.datasets import make_arc
from scqm.exceptions import InputError

Array = npt.NDArray[np.float64]

BUILT_IN = [
    losses.L1(),
    losses.L2(),
    losses.SquaredL2(),
    losses.Lp(1.5),
    losses.Lp(3),
    losses.Huber(0.7),
    losses.HuberEntries(0.7),
    losses.Tukey(2),
    losses.Cauchy(0.7),
    losses.Welsch(0.7),
    losses.GemanMcClure(0.7),
    losses.Quantile(0.2),
    losses.Mahalanobis([[2.0, 0.5], [0.5, 1.0]]),
]


def by_formula(loss: losses.Loss, R: Array) -> tuple[Array, Array]:
    """Return the loss by the formula of its documentation."""
    norm = np.linalg.norm(R, axis=1)
    match loss:
        case losses.L1():
            return np.abs(R).sum(axis=1), np.sign(R)
        case losses.L2():
            return norm, R / norm[:, None]
        case losses.SquaredL2():
            return norm**2, 2 * R
        case losses.Lp():
            p = loss.p
            return (np.abs(R) ** p).sum(axis=1), p * np.abs(R) ** (p - 1) * np.sign(R)
        case losses.Huber():
            assert loss.delta is not None
            factor = np.minimum(1, loss.delta / norm)
            values = np.where(
                norm <= loss.delta, norm**2 / 2, loss.delta * norm - loss.delta**2 / 2
            )
            return values, factor[:, None] * R
        case losses.HuberEntries():
            assert loss.delta is not None
            size = np.abs(R)
            linear = loss.delta * size - loss.delta**2 / 2
            values = np.where(size <= loss.delta, size**2 / 2, linear).sum(axis=1)
            return values, np.clip(R, -loss.delta, loss.delta)
        case losses.Quantile():
            slope = np.where(R > 0, 1 - loss.p, -loss.p)
            return (slope * R).sum(axis=1), slope
        case losses.Tukey():
            assert loss.delta is not None
            left = np.maximum(0, 1 - norm**2 / loss.delta**2)
            return loss.delta**2 / 6 * (1 - left**3), (left**2)[:, None] * R
        case losses.Cauchy() | losses.Welsch() | losses.GemanMcClure():
            assert loss.delta is not None
            z = norm**2 / loss.delta**2
            values, weight = {
                "cauchy": (np.log(1 + z), 1 / (1 + z)),
                "welsch": (1 - np.exp(-z), np.exp(-z)),
                "geman_mcclure": (z / (1 + z), 1 / (1 + z) ** 2),
            }[loss.name]
            return loss.delta**2 / 2 * values, weight[:, None] * R
        case losses.Mahalanobis():
            return np.einsum("ni,ij,nj->n", R, loss.M, R), 2 * R @ loss.M
    raise AssertionError(loss)


@pytest.mark.parametrize("loss", BUILT_IN, ids=repr)
def test_formulas(loss: Any) -> None:
    R = np.random.default_rng(0).normal(size=(20, 2))
    for got, want in zip(loss.evaluate(R), by_formula(loss, R), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("loss", BUILT_IN, ids=repr)
def test_laws(loss: losses.Loss) -> None:
    redescends = losses.Tukey, losses.Cauchy, losses.Welsch, losses.GemanMcClure
    report = losses.check(loss, dim=2, convex=not isinstance(loss, redescends))
    assert report, report
    assert len(report.verdicts) > 15


@pytest.mark.parametrize("loss", BUILT_IN, ids=repr)
def test_values_of_losses(loss: losses.Loss) -> None:
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss
    assert hash(again) == hash(loss)
    assert loss != losses.Lp(17)
    assert repr(loss).startswith(type(loss).__name__)


def test_names_are_those_of_the_library() -> None:
    assert set(losses.names()) >= {
        "l1",
        "l2",
        "squared_l2",
        "lp",
        "huber",
        "huber_entries",
        "tukey",
        "cauchy",
        "welsch",
        "geman_mcclure",
        "quantile",
        "mahalanobis",
    }


class LogCosh(losses.Loss):
    """A loss as a user writes it, with all a loss can offer."""

    def evaluate(self, R: Array) -> tuple[Array, Array]:
        a = np.abs(R)
        values = (a + np.log1p(np.exp(-2 * a)) - np.log(2)).sum(axis=1)
        return np.maximum(values, 0), np.tanh(R)

    def weights(self, R: Array) -> Array:
        return np.divide(np.tanh(R), R, out=np.ones_like(R), where=np.abs(R) > 1e-8)

    def hessian_product(self, R: Array, V: Array) -> Array:
        return V * (1 - np.tanh(R) ** 2)


def squared(R: Array) -> tuple[Array, Array]:
    """Be the loss squared_l2."""
    return (R**2).sum(axis=1), 2 * R


def test_check_tries_what_a_loss_offers() -> None:
    laws = {v.law: v.ok for v in losses.check(LogCosh()).verdicts}
    assert {"Hessian slope", "majorizer"} <= set(laws)
    report = losses.check(LogCosh())
    assert report, report


class Wrong(LogCosh):
    """A loss whose Hessian and weights are wrong."""

    def weights(self, R: Array) -> Array:
        return 0.1 * np.ones_like(R)

    def hessian_product(self, R: Array, V: Array) -> Array:
        return 2 * V


def test_check_finds_what_is_broken() -> None:
    assert {"Hessian slope", "majorizer"} <= set(losses.check(Wrong()).broken)
    assert "gradient slope" in losses.check(lambda R: ((R**2).sum(axis=1), R)).broken
    assert "not negative" in losses.check(lambda R: (-(R**2).sum(axis=1), R)).broken
    concave = losses.check(
        lambda R: (
            np.log1p((R**2).sum(axis=1)),
            2 * R / (1 + (R**2).sum(axis=1, keepdims=True)),
        )
    )
    assert concave.broken == ("convex",)
    assert losses.check(
        lambda R: (
            np.log1p((R**2).sum(axis=1)),
            2 * R / (1 + (R**2).sum(axis=1, keepdims=True)),
        ),
        convex=False,
    )
    assert "BROKEN  convex" in str(concave)


@pytest.fixture(scope="module")
def X() -> Array:
    return make_arc(60, noise=0.02, random_state=0)[0]


def test_a_function_is_the_loss_it_computes(X: Array) -> None:
    ours = SCQM(1, loss=squared).fit(X)
    theirs = SCQM(1, loss="squared_l2").fit(X)
    assert ours.loss_.name == "squared"
    assert ours.objective_ == pytest.approx(theirs.objective_, rel=1e-6)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-3)
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_subclass_serves_every_solver(X: Array) -> None:
    X = X[::2]
    refused: list[str] = []
    for solver in scqm.solvers.names():
        try:
            m = SCQM(1, loss=LogCosh(), solver=solver, max_iter=50, tol=1e-3).fit(X)
        except scqm.exceptions.InputError as error:
            refused.append(str(error))
            continue
        again = SCQM(1, loss=LogCosh(), solver=solver, max_iter=50, tol=1e-3).fit(X)
        np.testing.assert_array_equal(m.embedding_, again.embedding_)
        residuals = m.inverse_transform(m.embedding_) - X
        values, _ = LogCosh().evaluate(residuals)
        assert m.objective_ == pytest.approx(values.sum(), rel=1e-10)
    # It sweeps, and needs losses of the norm.
    assert all("alternating" in text for text in refused), refused


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "returned NoneType; want a pair"),
        (1.0, "returned float; want a pair"),
        ((np.zeros(3),), "returned tuple; want a pair"),
        ((0.0, np.zeros((1, 2))), r"values has shape \(\); want"),
        (
            (lambda R: np.zeros((len(R), 1)), lambda R: R),
            r"values has shape \(\d+, 1\)",
        ),
        ((lambda R: np.zeros(len(R)), lambda R: R[0]), r"gradients has shape \(2,\)"),
        (
            (lambda R: np.zeros(len(R)), lambda R: R * 1j),
            "gradients has dtype complex128",
        ),
        ((lambda R: np.full(len(R), "a"), lambda R: R), "values has dtype <U1"),
        ((lambda R: np.full(len(R), None), lambda R: R), "values has dtype object"),
    ],
)
def test_results_that_are_no_loss(X: Array, result: Any, message: str) -> None:
    def loss(R: Array) -> Any:
        if not isinstance(result, tuple):
            return result
        return tuple(part(R) if callable(part) else part for part in result)

    with pytest.raises(scqm.exceptions.LossError, match=message) as caught:
        SCQM(1, loss=loss).fit(X)
    assert str(caught.value).startswith("loss loss: ")


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
def test_results_of_other_types(X: Array, dtype: Any) -> None:
    def loss(R: Array) -> Any:
        return (R**2).sum(axis=1).astype(dtype), (2 * R).astype(dtype)

    if dtype is np.float32:
        SCQM(1, loss=loss, max_iter=10**5).fit(X)
    losses.check(loss)  # whatever the verdict, it comes


def test_losses_that_are_not_finite(X: Array) -> None:
    for bad in (np.nan, np.inf):
        with pytest.raises(
            (scqm.exceptions.NonFiniteError, scqm.exceptions.InputError)
        ):
            SCQM(1, loss=lambda R, bad=bad: (np.full(len(R), bad), R)).fit(X)  # type: ignore[misc]
    with pytest.raises((scqm.exceptions.NonFiniteError, scqm.exceptions.InputError)):
        SCQM(1, loss=lambda R: ((R**2).sum(axis=1), R * np.nan)).fit(X)


def test_residuals_may_be_kept_and_changed(X: Array) -> None:
    kept: list[Array] = []

    def loss(R: Array) -> Any:
        values, gradients = squared(R)
        kept.append(R)
        R[:] = np.nan
        return values, gradients

    m = SCQM(1, loss=loss).fit(X)
    assert m.objective_ == pytest.approx(SCQM(1, loss=squared).fit(X).objective_)
    del m
    assert all(np.isnan(R).all() for R in kept)


class Boom(Exception):
    """What a loss of these tests raises."""


def test_exceptions_come_with_their_own_traceback(X: Array) -> None:
    """20 of 20, in fits and in projections."""
    for count in range(20):
        calls = 0

        def loss(R: Array, count: int = count) -> Any:
            nonlocal calls
            calls += 1
            if calls > 3 * count:
                raise Boom(count)
            return squared(R)

        with pytest.raises(Boom) as caught:
            SCQM(1, loss=loss).fit(X)
        frames = traceback.extract_tb(caught.value.__traceback__)
        assert frames[-1].name == "loss"
        assert caught.value.args == (count,)
        assert caught.value.__cause__ is None
    m = SCQM(1, loss=squared).fit(X)

    class Broken(losses.Loss):
        def evaluate(self, R: Array) -> Any:
            raise Boom

    m.loss_ = Broken()
    with pytest.raises(Boom):
        m.transform(X)


def test_a_loss_may_fit_too(X: Array) -> None:
    def loss(R: Array) -> Any:
        SCQM(1, loss=squared, max_iter=1, solver="rgd", tol=10.0).fit(X[:10])
        return squared(R)

    m = SCQM(1, loss=loss, max_iter=1, tol=10.0, solver="rgd").fit(X[:10])
    assert np.isfinite(m.objective_)


def test_huber_of_entries_finds_its_delta(X: Array) -> None:
    m = SCQM(1, loss="huber_entries").fit(X)
    assert isinstance(m.loss_, losses.HuberEntries)
    assert m.loss_.delta is not None
    named = SCQM(1, loss="huber_entries", delta=m.loss_.delta).fit(X)
    np.testing.assert_array_equal(named.embedding_, m.embedding_)
    twice = SCQM(1, loss="huber_entries").fit(2 * X).loss_
    assert isinstance(twice, losses.HuberEntries)
    assert twice.delta == pytest.approx(2 * m.loss_.delta)


def test_huber_finds_its_delta(X: Array) -> None:
    m = SCQM(1, loss="huber").fit(X)
    assert isinstance(m.loss_, losses.Huber)
    assert m.loss_.delta is not None
    assert m.loss_.delta > 0
    assert m.loss is not m.loss_
    np.testing.assert_array_equal(
        m.embedding_, SCQM(1, loss="huber", delta=m.loss_.delta).fit(X).embedding_
    )


def test_homes_do_not_show() -> None:
    for name in losses.__all__:
        if name != "LossLike":
            thing = getattr(losses, name)
            assert thing.__module__ == "scqm.losses", name
            assert pickle.loads(pickle.dumps(thing)) is thing


@pytest.mark.parametrize("d", [1.5, -1, True, 3])
def test_choose_wants_a_dimension(d: Any) -> None:
    with pytest.raises(scqm.exceptions.InputError, match=f"n_components is {d}; want "):
        losses.choose(np.ones((20, 3)), d)


@pytest.mark.parametrize("name", ["tukey", "cauchy", "welsch", "geman_mcclure"])
def test_losses_that_redescend_find_their_delta(name: Any, X: Array) -> None:
    m = SCQM(1, loss=name).fit(X)
    assert m.loss_.name == name
    again = SCQM(1, loss=name, delta=vars(m.loss_)["delta"]).fit(X)
    np.testing.assert_array_equal(m.embedding_, again.embedding_)
    assert scqm.frechet_mean(X, loss=name).status == "converged"
    assert scqm.frechet_mean(X, loss="quantile", p=0.3).status == "converged"


class Bounded(losses.Loss):
    """Geman and McClure's, written without a thought of NaN."""

    def evaluate(self, R: Array) -> tuple[Array, Array]:
        assert np.isfinite(R).all()
        u = (R**2).sum(axis=1)
        return u / (1 + u), 2 * R / ((1 + u) ** 2)[:, None]


def test_residuals_that_are_not_finite_never_reach_a_loss() -> None:
    report = losses.check(Bounded(), convex=False)
    assert report, report


class TwoMethods(losses.Loss):
    """A built-in loss behind its values and gradients."""

    def __init__(self, loss: losses.Loss) -> None:
        self.loss = loss

    def evaluate(self, R: Array) -> tuple[Array, Array]:
        values, gradients = self.loss.evaluate(R)
        return np.asarray(values), np.asarray(gradients)


@pytest.mark.parametrize("loss", [losses.L1(), losses.L2(), losses.Quantile(0.5)])
def test_kinks_that_nobody_declares_are_found(loss: losses.Loss) -> None:
    X = make_arc(150, noise=0.05, random_state=3)[0]
    X[::10] += np.random.default_rng(1).normal(size=X[::10].shape)
    want = SCQM(1, loss=loss).fit(X)
    for other in (TwoMethods(loss), loss.evaluate):
        got = SCQM(1, loss=other).fit(X)
        assert got.objective_ == pytest.approx(want.objective_, rel=1e-3)
        near = np.linalg.norm(got.project(X) - want.project(X), axis=1)
        assert np.median(near) < 1e-2


def test_other_kinks_are_refused_by_name() -> None:
    X = make_arc(60, noise=0.05, random_state=3)[0]
    with pytest.raises(InputError, match=r"framework\.Smoother .*quantile"):
        SCQM(1, loss=TwoMethods(losses.Quantile(0.9))).fit(X)
