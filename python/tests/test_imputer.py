"""ManifoldImputer: what it fills, how surely, and whether it says what is simpler."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scqm import ManifoldImputer
from scqm.exceptions import InputError

Array = npt.NDArray[np.float64]


def parabolas(n: int = 200) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, n)
    whole = np.column_stack([t, 100 * t**2, t + t**2, t - t**2])
    whole += rng.normal(size=whole.shape) * whole.std(axis=0) * 0.05
    hidden = rng.random(whole.shape) < 0.15
    return whole, np.where(hidden, np.nan, whole), hidden


def test_curved_tables_are_filled_and_errors_told() -> None:
    whole, gaps, hidden = parabolas()
    imputer = ManifoldImputer(1)
    filled = imputer.fit_transform(gaps)
    np.testing.assert_array_equal(filled[~hidden], whole[~hidden])
    unit = whole.std(axis=0)
    off = ((filled - whole) / unit)[hidden]
    means = ((SimpleImputer().fit_transform(gaps) - whole) / unit)[hidden]
    assert np.sqrt(np.mean(off**2)) < 0.35 * np.sqrt(np.mean(means**2))
    errors = imputer.errors_
    assert errors["curved"] < 0.7 * errors["flat"] < errors["mean"]
    assert "curved" in imputer.notes_[0]
    told = imputer.standard_errors(gaps)
    assert (told[~hidden] == 0).all()
    assert 0.5 < (np.abs(filled - whole) < told)[hidden].mean() < 0.95


def test_flat_tables_are_filled_by_flat_sheets() -> None:
    flowers = load_iris().data
    hidden = np.random.default_rng(0).random(flowers.shape) < 0.15
    gaps = np.where(hidden, np.nan, flowers)
    imputer = ManifoldImputer("auto").fit(gaps)
    assert imputer.model_.linear
    assert "flat; errors" in imputer.notes_[0]
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(120, 2)) @ rng.normal(size=(2, 8))
    plane += 0.3 * rng.normal(size=plane.shape)
    bent = ManifoldImputer(2, 1).fit(
        np.where(rng.random(plane.shape) < 0.15, np.nan, plane)
    )
    assert not bent.model_.linear
    assert "a flat sheet predicts hidden entries better" in bent.notes_
    noise = np.random.default_rng(1).normal(size=(100, 6))
    noise[::4, 2] = np.nan
    means = ManifoldImputer(2).fit(noise)
    assert "the means of columns predict hidden entries better" in means.notes_


def test_conventions_of_imputers() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is optional")
    gaps = parabolas(60)[1]
    gaps[:, 3], gaps[7] = np.nan, np.nan
    frame = pandas.DataFrame(gaps, columns=["a", "b", "c", "d"])
    imputer = ManifoldImputer(1, add_indicator=True).set_output(transform="pandas")
    filled = imputer.fit_transform(frame)
    names = ["a", "b", "c"]
    marks = [f"missingindicator_{name}" for name in "abcd"]
    assert list(filled.columns) == list(imputer.get_feature_names_out())
    assert list(filled.columns)[:3] == names
    assert set(filled.columns) - set(names) <= set(marks)
    np.testing.assert_allclose(filled.loc[7, names], np.nanmean(gaps[:, :3], axis=0))
    coded = np.nan_to_num(gaps, nan=-999)
    marked = ManifoldImputer(1, missing_values=-999)
    np.testing.assert_array_equal(marked.fit_transform(coded), filled[names])
    with pytest.raises(ValueError, match="NaN"):
        marked.transform(gaps)
    with pytest.raises(InputError, match="no entry"):
        ManifoldImputer().fit(np.full((3, 2), np.nan))
    pipe = make_pipeline(ManifoldImputer(1), StandardScaler()).fit(gaps)
    assert np.isfinite(pipe.transform(gaps)).all()
