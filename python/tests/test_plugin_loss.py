"""Losses of plugins in the estimator."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import numpy.typing as npt
import psutil
import pytest

import scqm
from scqm import SCQM, ManifoldDenoiser, losses
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


def test_a_plugin_denoises(X: Array, tukey: Path) -> None:
    denoiser = ManifoldDenoiser(
        1, n_neighbors=20, method="scqm", loss=losses.Plugin(tukey, c=0.3)
    )
    clean = denoiser.fit(X).transform(X)
    radii = np.linalg.norm(clean[:, :2], axis=1)
    assert np.std(radii) < 0.7 * np.std(np.linalg.norm(X[:, :2], axis=1))
    assert not children()


def test_a_plugin_of_an_installed_package(
    X: Array, tukey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Declare it as packages do, with metadata beside and a console script."""
    info = tmp_path / "packed-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: packed\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text(
        "[console_scripts]\nscqm-loss-packed = packed:main\n"
    )
    scripts = tmp_path / "bin"
    scripts.mkdir()
    shutil.copy(tukey, scripts / "scqm-loss-packed")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(scripts))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    m = SCQM(1, loss=losses.Plugin("packed")).fit(X)
    assert m.objective_ > 0
    assert scqm.plugin.find("packed") == scripts / "scqm-loss-packed"

    folder = tmp_path / "data" / "scqm" / "plugins"
    folder.mkdir(parents=True)
    broken = folder / "scqm-loss-packed"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    assert scqm.plugin.find("packed") == broken
    with pytest.raises(scqm.PluginError, match="exit status 3"):
        SCQM(1, loss=losses.Plugin("packed")).fit(X)


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
