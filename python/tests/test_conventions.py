"""Conventions of the field that users expect; docs/guide/conventions.md lists them."""

from __future__ import annotations

import logging
import re
import warnings
from importlib.metadata import metadata
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.decomposition import PCA

import scqm
from scqm import SCQM
from scqm.exceptions import InputError
from scqm.losses import check
from scqm.losses._loss import LossName
from scqm.solvers import SolverName

Array = npt.NDArray[Any]
ROOT = Path(__file__).resolve().parents[2]


def arc(n: int = 60, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, n)
    X = np.zeros((n, 4))
    X[:, 0], X[:, 1] = 2 * t, t**2
    found: Array = X + 0.05 * rng.normal(size=X.shape)
    return found


def test_mean_and_explained_variance_are_those_of_pca(tmp_path: Path) -> None:
    X = arc()
    flat = SCQM(2, linear=True, loss="squared_l2").fit(X)
    pca = PCA(2).fit(X)
    np.testing.assert_allclose(flat.mean_, pca.mean_)
    np.testing.assert_allclose(
        flat.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-6
    )
    weighted = SCQM(1).fit(X, sample_weight=np.arange(60.0))
    np.testing.assert_allclose(
        weighted.mean_, np.average(X, axis=0, weights=np.arange(60.0))
    )
    flat.save(tmp_path / "m.npz")
    again = scqm.load(tmp_path / "m.npz")
    np.testing.assert_array_equal(again.mean_, flat.mean_)
    np.testing.assert_array_equal(
        again.explained_variance_ratio_, flat.explained_variance_ratio_
    )


def test_n_components_left_open() -> None:
    X = arc()
    for part in 0.5, 0.95, 0.999:
        model = SCQM(part, linear=True, loss="squared_l2").fit(X)
        assert model.n_components_ == PCA(part).fit(X).n_components_
        assert model.n_components == part
    auto = SCQM("auto").fit(X)
    found = scqm.suggest(X)
    assert auto.n_components_ == found.n_components == 1
    assert auto.ridge_ == found.ridge
    assert auto.notes_[0] == found.reason
    wrong: Any
    for wrong in "many", 1.5, -0.1, 0, True:
        with pytest.raises(InputError, match="n_components is"):
            SCQM(wrong).fit(X)
    with pytest.raises(AttributeError, match="partial_fit"):
        SCQM("auto").partial_fit(X)


def test_files_keep_feature_names(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(arc(), columns=["a", "b", "c", "d"])
    model = SCQM(1).fit(frame)
    model.save(tmp_path / "m.npz")
    again = scqm.load(tmp_path / "m.npz")
    assert list(again.feature_names_in_) == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(again.transform(frame), model.transform(frame))
    for fitted in model, again:
        with pytest.raises(ValueError, match="feature names"):
            fitted.transform(frame[["b", "a", "c", "d"]])
    plain = SCQM(1).fit(arc())
    plain.save(tmp_path / "p.npz")
    assert not hasattr(scqm.load(tmp_path / "p.npz"), "feature_names_in_")


def test_random_state_takes_a_generator() -> None:
    X = arc()
    first, second = (
        SCQM(1, n_init=3, random_state=np.random.default_rng(7)).fit(X)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.components_, second.components_)
    a, b = (
        scqm.datasets.make_torus(9, random_state=np.random.default_rng(0))[0]
        for _ in range(2)
    )
    np.testing.assert_array_equal(a, b)
    text: Any = "7"
    with pytest.raises(InputError, match="a Generator"):
        SCQM(1, random_state=text).fit(X)


def test_float32_in_float32_out() -> None:
    X = arc().astype(np.float32)
    model = SCQM(1).fit(X)
    out = model.transform(X), model.project(X), model.inverse_transform(X[:, :1])
    assert {o.dtype for o in out} == {np.dtype(np.float32)}
    assert model.transform(X.astype(np.float64)).dtype == np.float64
    assert model.project(X, return_report=True)[0].dtype == np.float32
    denoiser = scqm.ManifoldDenoiser(1, 20, method="lpca").fit(X)
    assert denoiser.transform(X).dtype == np.float32
    pandas = pytest.importorskip("pandas")
    assert model.transform(pandas.DataFrame(X.astype(np.float64))).dtype == np.float64


def results() -> list[Any]:
    X = arc()
    model = SCQM(1, loss="squared_l2").fit(X)
    return [
        model.influence(X),
        model.project(X, return_report=True)[1],
        scqm.suggest(X, max_components=1),
        check("l2"),
        scqm.frechet_mean(X),
    ]


def test_results_are_short_and_tables() -> None:
    pandas = pytest.importorskip("pandas")
    found = results()
    for result in found:
        name = type(result).__name__
        assert repr(result).startswith(f"{name}(")
        assert len(repr(result)) < 400
        assert isinstance(result.to_frame(), pandas.DataFrame)
    influence = found[0]
    assert influence.to_frame().influence.argmax() == influence.top(1)[0]
    assert f"of row {influence.top(1)[0]}" in repr(influence)


def test_show_versions(capsys: pytest.CaptureFixture[str]) -> None:
    scqm.show_versions()
    told = capsys.readouterr().out
    for name in "scqm", "numpy", "scikit-learn", "python":
        assert f"\n{name}" in f"\n{told}"
    assert scqm.__version__ in told


def test_logging(caplog: pytest.LogCaptureFixture) -> None:
    assert any(
        isinstance(h, logging.NullHandler) for h in logging.getLogger("scqm").handlers
    )
    with caplog.at_level(logging.INFO, logger="scqm"):
        SCQM(1).fit(arc())
    assert "fit of 60 x 4 rows: converged" in caplog.text


def test_project_urls() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    urls = text.partition("[project.urls]\n")[2].partition("\n\n")[0]
    names = {line.partition(" = ")[0] for line in urls.splitlines()}
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= names


def test_literals_are_the_names() -> None:
    assert set(get_args(LossName)) == {"auto", *scqm.losses.names()}
    assert set(get_args(SolverName)) == set(scqm.solvers.names())


def test_embedding_takes_rows_like_its_siblings() -> None:
    pytest.importorskip("matplotlib").use("agg")
    from scqm import plot

    X = arc()
    model = SCQM(2).fit(X)
    axes = plot.embedding(model, X[:7], y=np.arange(7))
    drawn = axes.collections[0].get_offsets()
    np.testing.assert_allclose(np.asarray(drawn), model.transform(X[:7]))
    everything: Any = plot.embedding(model).collections[0].get_offsets()
    assert len(everything) == 60
    with pytest.raises(InputError, match="y="):
        plot.embedding(model, np.arange(60))
    with pytest.raises(InputError, match="y is for 3 rows"):
        plot.embedding(model, X, y=[1, 2, 3])


def squares(R: Array) -> tuple[Array, Array]:
    return (R**2).sum(axis=1), 2 * R


def wrong(R: Array) -> tuple[Array, Array]:
    return (R**2).sum(axis=1), R


def absolute(R: Array) -> tuple[Array, Array]:
    return np.abs(R).sum(axis=1), np.sign(R)


def test_a_wrong_gradient_is_suspected_aloud() -> None:
    X = arc()
    with pytest.warns(
        UserWarning, match=r"gradient of the loss 'wrong'.*losses\.check"
    ):
        model = SCQM(1, loss=wrong).fit(X)
    assert any("gradient" in text for text in model.warnings_)
    for right in squares, absolute:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            SCQM(1, loss=right, max_iter=20).fit(X)
        assert not any("gradient of" in str(w.message) for w in caught)


def test_the_page_of_an_index_has_no_relative_links() -> None:
    text = metadata("scqm")["Description"]
    assert "](https://raw.githubusercontent.com/scqm/scqm/main/docs/images/" in text
    assert "](https://github.com/scqm/scqm/blob/main/docs/guide/python.md)" in text
    assert not re.findall(r"\]\((?!https?://|#)", text)
