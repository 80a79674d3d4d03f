"""Losses of plugins in the estimator."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import psutil
import pytest

import scqm
from scqm import SCQM, losses
from scqm.datasets import make_arc

ROOT = Path(__file__).resolve().parents[2]
Array = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def tukey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plugins") / "scqm-loss-tukey"
    build = [
        "go",
        "build",
        "-buildvcs=false",
        "-o",
        str(path),
        "./plugins/examples/tukey",
    ]
    subprocess.run(build, cwd=ROOT, check=True)
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def X() -> Array:
    return make_arc(60, noise=0.02, random_state=0)[0]


def children() -> list[str]:
    names = [p.name() for p in psutil.Process().children(recursive=True)]
    return [name for name in names if name.startswith("scqm-loss")]


def test_a_plugin_is_a_loss(X: Array, tukey: Path, tmp_path: Path) -> None:
    loss = losses.Plugin(tukey)
    assert losses.check(loss, convex=False)
    m = SCQM(1, loss=loss).fit(X)
    assert np.abs(m.project(X) - X).mean() < 0.05
    values, _ = loss.evaluate(m.inverse_transform(m.embedding_) - X)
    assert m.objective_ == pytest.approx(values.sum(), rel=1e-9)
    m.save(tmp_path / "m.npz")
    again = scqm.load(tmp_path / "m.npz", loss=loss)
    np.testing.assert_array_equal(again.transform(X), m.transform(X))
    assert isinstance(scqm.load(tmp_path / "m.npz").loss_, losses.Plugin)
    assert not children(), "a plugin outlives its job"


def test_plugins_that_cannot_be(X: Array, tukey: Path, tmp_path: Path) -> None:
    with pytest.raises(scqm.InputError, match="nowhere"):
        SCQM(1, loss=losses.Plugin("nowhere")).fit(X)
    with pytest.raises(scqm.InputError, match="speed"):
        SCQM(1, loss=losses.Plugin(tukey, speed=3)).fit(X)
    with pytest.raises(scqm.InputError, match="its SHA-256 is"):
        SCQM(1, loss=losses.Plugin(tukey, sha256="0" * 64)).fit(X)
    silent = tmp_path / "scqm-loss-silent"
    silent.write_text("#!/bin/sh\necho last words >&2\nexit 3\n")
    silent.chmod(0o755)
    with pytest.raises(scqm.PluginError, match="last words"):
        SCQM(1, loss=losses.Plugin(silent)).fit(X)
    assert not children()


def test_values_of_plugins() -> None:
    loss = losses.Plugin("tukey", c=3.0)
    assert loss == losses.Plugin("tukey", c=3.0) != losses.Plugin("tukey")
    assert hash(loss) == hash(losses.Plugin("tukey", c=3.0))
    assert "tukey" in repr(loss)
