"""Losses of plugins in the estimator.

A model is held to the file of its plugin, pickles and models name no path, and no
process stays behind.
"""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import psutil
import pytest
from sklearn.base import clone

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
    with pytest.raises(scqm.exceptions.PluginError, match="exit status 3"):
        SCQM(1, loss=losses.Plugin("packed")).fit(X)


def test_plugins_that_cannot_be(X: Array, tukey: Path, tmp_path: Path) -> None:
    with pytest.raises(scqm.exceptions.InputError, match="nowhere"):
        SCQM(1, loss=losses.Plugin("nowhere")).fit(X)
    with pytest.raises(scqm.exceptions.InputError, match="speed"):
        SCQM(1, loss=losses.Plugin(tukey, speed=3)).fit(X)
    with pytest.raises(scqm.exceptions.InputError, match="its SHA-256 is"):
        SCQM(1, loss=losses.Plugin(tukey, sha256="0" * 64)).fit(X)
    silent = tmp_path / "scqm-loss-silent"
    silent.write_text("#!/bin/sh\necho last words >&2\nexit 3\n")
    silent.chmod(0o755)
    with pytest.raises(scqm.exceptions.PluginError, match="last words"):
        SCQM(1, loss=losses.Plugin(silent)).fit(X)
    assert not children()


@pytest.fixture
def folder(tukey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a copy of the plugin, where it is found."""
    path = tmp_path / "plugins"
    path.mkdir(mode=0o755)
    shutil.copy(tukey, path)
    monkeypatch.setenv("SCQM_PLUGIN_PATH", str(path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return path


def change(plugin: Path) -> str:
    """Change a plugin, which still works, and return its checksum."""
    plugin.write_bytes(plugin.read_bytes() + b"\0")
    return hashlib.sha256(plugin.read_bytes()).hexdigest()


LEARNED = "learned with another file of its plugin.*its SHA-256 is .{64}, not .{64}"


def test_a_model_is_held_to_its_plugin(X: Array, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    m = SCQM(1, loss=losses.Plugin("tukey", c=0.5)).fit(X)
    m.save(path)
    want = m.transform(X)
    loaded = scqm.load(path)
    np.testing.assert_array_equal(loaded.transform(X), want)
    assert isinstance(loaded.loss_, losses.Plugin)
    assert loaded.loss_.params == {"c": 0.5}

    present = change(folder / "scqm-loss-tukey")
    for model in (m, loaded, scqm.load(path), pickle.loads(pickle.dumps(m))):
        with pytest.raises(scqm.exceptions.InputError, match=LEARNED):
            model.transform(X)
    with pytest.raises(scqm.exceptions.InputError, match=LEARNED):
        scqm.load(path, plugin_sha256="0" * 64).transform(X)
    here = folder / "scqm-loss-tukey"
    with pytest.raises(scqm.exceptions.InputError, match=LEARNED):
        scqm.load(path, loss=losses.Plugin(here, c=0.5)).project(X)
    for trusting in (
        scqm.load(path, plugin_sha256=present),
        scqm.load(path, plugin_sha256=present.upper()),
        scqm.load(path, plugin_sha256="any"),
        scqm.load(path, loss=losses.Plugin(here, sha256=present, c=0.5)),
        scqm.load(path, loss=losses.Plugin(here, c=0.5), plugin_sha256="any"),
    ):
        np.testing.assert_array_equal(trusting.transform(X), want)
    for bad in ("", "12", present[:-1], 7):
        with pytest.raises(
            scqm.exceptions.InputError, match=r"plugin_sha256 is .*want the 64"
        ):
            scqm.load(path, plugin_sha256=bad)  # type: ignore[arg-type]
    with pytest.raises(
        scqm.exceptions.InputError, match="sha256 is 'x'; want the 64 digits"
    ):
        losses.Plugin("tukey", sha256="x")
    SCQM(1).fit(X).save(path)
    with pytest.raises(
        scqm.exceptions.InputError, match="plugin_sha256 does nothing beside"
    ):
        scqm.load(path, plugin_sha256="any")


def test_a_denoiser_is_held_to_its_plugin(X: Array, folder: Path) -> None:
    loss = losses.Plugin(folder / "scqm-loss-tukey", c=0.3)
    denoiser = ManifoldDenoiser(1, n_neighbors=20, method="scqm", loss=loss).fit(X)
    want = denoiser.transform(X)
    again = pickle.loads(pickle.dumps(denoiser))
    np.testing.assert_array_equal(again.transform(X), want)
    assert again.loss_.name == "tukey"
    change(folder / "scqm-loss-tukey")
    for d in (denoiser, again, pickle.loads(pickle.dumps(denoiser))):
        with pytest.raises(scqm.exceptions.InputError, match=LEARNED):
            d.transform(X)
    denoiser.fit(X).transform(X)


def test_pickles_name_no_path(X: Array, folder: Path, tmp_path: Path) -> None:
    loss = losses.Plugin(folder / "scqm-loss-tukey", timeout=20, c=0.3)
    m = SCQM(1, loss=loss).fit(X)
    denoiser = ManifoldDenoiser(1, n_neighbors=20, method="scqm", loss=loss).fit(X)
    mean = scqm.frechet_mean(X, loss=loss)
    for thing in (loss, m, denoiser, mean):
        assert str(folder).encode() not in pickle.dumps(thing)
    found = pickle.loads(pickle.dumps(loss))
    assert found == losses.Plugin("tukey", timeout=20, c=0.3)
    assert pickle.loads(pickle.dumps(m)).loss_ == losses.Plugin._of(
        "tukey", m._report["loss"]["plugin"]["sha256"], 20, {"c": 0.3}
    )
    # Copies within a program keep it, as scikit-learn relies on.
    for same in (clone(m).loss, copy.copy(loss), copy.deepcopy(loss)):
        assert same == loss
    other = tmp_path / "other"
    shutil.copy(folder / "scqm-loss-tukey", other)
    with pytest.raises(pickle.PicklingError, match="is not called scqm-loss-NAME"):
        pickle.dumps(losses.Plugin(other))
    with pytest.raises(scqm.exceptions.InputError, match="no name of a plugin"):
        losses.Plugin._of("../x", None, None, {})


NAMES = (
    "x",
    "../x",
    "./x",
    "{}/x",
    "{}/scqm-loss-x",
    "x\0",
    "x\n",
    "..",
    "scqm-loss-x",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_payload_beside_a_model(
    X: Array, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's model is refused in words, and nothing beside it runs."""
    name = name.format(tmp_path)
    payload = f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n"
    for file in ("x", "scqm-loss-x", "sub/x", "sub/scqm-loss-x", "sub/x.py"):
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(payload)
        path.chmod(0o755)
    m = SCQM(1).fit(X)
    program: dict[str, Any] = {"name": name, "version": "1", "params": "{}"}
    program["sha256"] = hashlib.sha256(payload.encode()).hexdigest()
    m._report["loss"] = {"name": name, "plugin": program}
    m.save(tmp_path / "sub" / "m.npz")
    monkeypatch.chdir(tmp_path / "sub")
    monkeypatch.setenv("XDG_DATA_HOME", ".")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for places in ("", ".", ":", "..:."):
        monkeypatch.setenv("SCQM_PLUGIN_PATH", places)
        with pytest.raises(scqm.exceptions.InputError) as refused:
            scqm.load("m.npz").transform(X)
        assert "\n" not in str(refused.value)
        if name == "x":
            assert "there is no scqm-loss-x in" in str(refused.value)
        else:
            assert "meta.json: the plugin of the loss is called" in str(refused.value)
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a guard")
def test_nothing_stays_behind(X: Array, tmp_path: Path) -> None:
    """A plugin leaves a child that nothing but its arguments betrays."""
    plugin = tmp_path / "scqm-loss-bad"
    mark = f"{os.getpid()}{int.from_bytes(os.urandom(4), 'little')}"
    hidden = (
        "import os, subprocess, sys, time\n"
        "c = [sys.executable, '-c', 'import time; time.sleep(3600)', sys.argv[1]]\n"
        "p = subprocess.Popen(c, env={}, start_new_session=True, stdin=-3, "
        "stdout=-3, stderr=-3)\n"
        "os._exit(0)\n"
    )
    plugin.write_text(
        f"#!{sys.executable}\nimport subprocess, sys\n"
        f"subprocess.run([sys.executable, '-c', {hidden!r}, {mark!r}], "
        "start_new_session=True)\nsys.exit('left one')\n"
    )
    plugin.chmod(0o755)
    with pytest.raises(scqm.exceptions.PluginError, match="left one"):
        SCQM(1, loss=losses.Plugin(plugin)).fit(X)
    left = [p.pid for p in psutil.process_iter(["cmdline"]) if mark in cmdline(p)]
    assert not left


def cmdline(process: psutil.Process) -> list[str]:
    found: list[str] | None = process.info["cmdline"]
    return found or []


def test_values_of_plugins() -> None:
    loss = losses.Plugin("tukey", c=3.0)
    assert loss == losses.Plugin("tukey", c=3.0) != losses.Plugin("tukey")
    assert hash(loss) == hash(losses.Plugin("tukey", c=3.0))
    assert "tukey" in repr(loss)


MORTAL = '''#!{python}
import json, os, sys
import numpy as np
from scqm.plugin import Loss, parameter, serve

class Mortal(Loss):
    """sum_k |r_k| behind two methods, by a program that ends at its 20th call."""
    name = "mortal"
    file = parameter("", doc="counts calls")

    def evaluate(self, r):
        with open(self.file, "a") as f:
            f.write(".")
        calls = os.path.getsize(self.file)
        if calls == 1:
            line = {{"@level": "warn", "@message": "first call", "rows": len(r)}}
            print(json.dumps(line), file=sys.stderr, flush=True)
        if calls == 20:
            os._exit(3)
        return np.abs(r).sum(axis=1), np.sign(r)

serve(Mortal)
'''


def test_a_plugin_that_ends_is_started_again_and_its_log_is_heard(
    X: Array, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "scqm-loss-mortal"
    path.write_text(MORTAL.format(python=sys.executable))
    path.chmod(0o755)
    loss = losses.Plugin(path, file=str(tmp_path / "calls"))
    with caplog.at_level("DEBUG", "scqm.plugin"):
        m = SCQM(1, loss=loss).fit(X)
    assert any("was started again" in w for w in m.warnings_)
    assert m.objective_ == pytest.approx(SCQM(1, loss="l1").fit(X).objective_, rel=1e-3)
    said = [r for r in caplog.records if r.getMessage().startswith("first call rows=")]
    assert [r.levelname for r in said] == ["WARNING"]
    assert not children()
