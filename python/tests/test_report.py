"""Pages about fits: whole, small, escaped, and working in a browser."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scqm
from scqm import SCQM
from scqm.exceptions import InputError

Array = npt.NDArray[Any]
EVIL = "</script><script>document.title='evil'</script><img src=x onerror=alert(1)>"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """Chromium without a window, which gets real pointers by its debugging pipe.

    Parameters
    ----------
    page : Path
        The file to open.
    width : int
        Width of the screen.
    dark : bool
        Whether the reader prefers a dark page.
    """

    def __init__(self, page: Path, width: int, *, dark: bool = False) -> None:
        down, self._to = os.pipe()
        self._from, up = os.pipe()
        # The pipe is at descriptors 3 and 4 of the browser.
        shell = f'exec "$0" "$@" 3<&{down} 4>&{up}'
        assert CHROMIUM
        self.process = subprocess.Popen(
            ["bash", "-c", shell, CHROMIUM, "--headless", "--no-sandbox",
             "--disable-gpu", "--remote-debugging-pipe",
             f"--user-data-dir={page.parent}/chromium", "about:blank"],
            pass_fds=(down, up), stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(down)
        os.close(up)
        self._sent, self._rest, self.session = 0, b"", None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        found = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self.session = found["sessionId"]
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900,
                 deviceScaleFactor=1, mobile=False)  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Page.navigate", url=page.as_uri())
        wait = "document.readyState == 'complete' && document.querySelector('circle')"
        for _ in range(200):
            if self.run(f"!!({wait})"):
                return
            time.sleep(0.05)
        raise AssertionError("the page was not drawn")

    def ask(self, method: str, **params: Any) -> Any:
        """Send a command, and return its result."""
        self._sent += 1
        message = {"id": self._sent, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._rest:
                assert select.select([self._from], [], [], 60)[0], method
                self._rest += os.read(self._from, 1 << 16)
            text, _, self._rest = self._rest.partition(b"\0")
            answer = json.loads(text)
            if answer.get("id") == self._sent:
                assert "error" not in answer, answer
                return answer["result"]

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def point(self, x: float, y: float, *, click: bool = False) -> None:
        """Move the pointer, and click."""
        kinds = ["mouseMoved", *(("mousePressed", "mouseReleased") if click else ())]
        for kind in kinds:
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                     button="left" if click else "none", clickCount=int(click))  # fmt: skip

    def close(self) -> None:
        """End the browser."""
        self.process.kill()
        self.process.wait()
        os.close(self._to)
        os.close(self._from)


def torus() -> tuple[SCQM, Array]:
    X = np.asarray(scqm.datasets.make_torus(300, random_state=0)[0])
    return SCQM(2, loss="squared_l2", max_iter=50, tol=1).fit(X), X


def digits() -> tuple[SCQM, Array]:
    X = np.asarray(scqm.datasets.load_digits_sample([4, 9], 40).data)
    return SCQM(2, max_iter=100, tol=1).fit(X), X


def table() -> tuple[SCQM, Any]:
    pandas = pytest.importorskip("pandas", reason="pandas is optional")
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, 80)
    X = np.column_stack([t, t**2, rng.normal(size=80) * 0.1])
    X += 0.05 * rng.normal(size=X.shape)
    frame = pandas.DataFrame(X, columns=["a", EVIL, "c & <d>"])
    return SCQM(1, loss="squared_l2").fit(frame), frame


def content(page: Path) -> dict[str, Any]:
    """Return the data of a page."""
    found = re.search(r'(?s)type="application/json">(.*?)</script>', page.read_text())
    assert found
    return dict(json.loads(found.group(1)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make", [torus, digits, table])
def test_pages(make: Any, tmp_path: Path) -> None:
    model, X = make()
    path = tmp_path / "report.html"
    path.write_text("older")
    labels = [EVIL if i == 3 else f"<b>{i % 2}</b>" for i in range(len(X))]
    assert scqm.report(model, X, path, labels=labels, title=f"A {EVIL}") == path
    assert list(tmp_path.iterdir()) == [path]  # nothing half written beside it
    text = path.read_text()
    assert len(text.encode()) < 1_000_000
    assert text.count("<script") == 2
    assert "onerror" not in text.replace("&lt;img src=x onerror", "").replace(
        "\\u003cimg src=x onerror", ""
    )
    assert not re.search(r"""(src|href)=["']?https?:""", text)
    shown = content(path)
    facts = dict(shown["facts"])
    assert facts["R2"] == f"{model.r2_:.4g}"
    assert "SCQM(" in shown["settings"]
    curved = X.shape[1] > 4
    assert ("error at hidden entries" in facts) == curved
    assert len(shown["history"]) == 2 * len(model.history_["cost"])
    assert len(shown["pca"]["x"]) == len(shown["plane"]["x"]) == len(X)
    if CHROMIUM is None:
        pytest.skip("no chromium to open the page in")
    for width, dark in ((1200, False), (400, True)):
        browser = Browser(path, width, dark=dark)
        try:
            look(browser, width, dark, make is digits)
        finally:
            browser.close()


def look(browser: Browser, width: int, dark: bool, images: bool) -> None:
    """Point at a row of the plane and click: it is told, and marked in all charts."""
    assert browser.run("document.documentElement.scrollWidth") <= width
    bars = "[...document.querySelectorAll('.bar')].map(e => e.getBoundingClientRect())"
    assert browser.run(f"{bars}.every(b => b.right <= innerWidth)")
    assert not browser.run("document.title").startswith("evil")
    alike = "[...document.querySelectorAll('svg')].every(e => e.ariaLabel)"
    assert browser.run(alike)
    for way in "xy":  # two numbers at least on every axis
        lines = f"[...e.querySelectorAll('.tick')].filter(l => l.getAttribute('{way}1')"
        lines += f" == l.getAttribute('{way}2')).length"
        assert browser.run(
            f"[...document.querySelectorAll('svg')].every(e => {lines} > 1)"
        )
    back = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(255, 255, 255)") != dark
    place = "const c = document.querySelectorAll('svg')[0].querySelectorAll('circle')"
    browser.run(f"{{ {place}; c[c.length - 1].scrollIntoView({{block: 'center'}}) }}")
    x, y, k = browser.run(
        f"(() => {{ {place}; const e = c[c.length - 1], b = e.getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y + b.height / 2, +e.dataset.k] })()"
    )
    browser.point(x, y)
    told = browser.run("document.getElementById('tip').innerText")
    assert f"row {k}" in told
    assert "distance" in told
    drawn = browser.run("document.querySelectorAll('#tip canvas').length")
    assert drawn == int(images)
    browser.point(x, y, click=True)
    marked = "[...document.querySelectorAll('circle.on')].map(e => +e.dataset.k)"
    assert browser.run(marked) == [k] * 3


def test_noise_is_called_noise(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(300, 10))
    with pytest.warns(UserWarning, match="folds"):
        bent = SCQM(2, "full").fit(X)
    shown = content(scqm.report(bent, X, tmp_path / "r.html"))
    assert "look like noise" in shown["verdict"]
    assert "No rows are near the middle" in shown["plane"]["note"]
    shown = content(scqm.report(SCQM(2).fit(X), X, tmp_path / "r.html"))
    assert "look like noise" in shown["verdict"]
    assert not shown["plane"]["note"]
    wine = load_wine().data
    pipe = make_pipeline(StandardScaler(), SCQM(2)).fit(wine)
    assert not content(scqm.report(pipe, wine, tmp_path / "r.html"))["verdict"]


def test_pages_about_pipelines_and_frames(tmp_path: Path) -> None:
    wine = load_wine(as_frame=True)
    pipe = make_pipeline(StandardScaler(), SCQM(2)).fit(wine.data)
    path = tmp_path / "r.html"
    shown = content(scqm.report(pipe, wine.data, path, labels=wine.target))
    names = {line["name"] for axis in shown["axes"] for line in axis["lines"]}
    assert names <= set(wine.data.columns)
    assert shown["label"][:1] == ["0"]
    search = GridSearchCV(pipe, {"scqm__ridge": [0.1, 1]}, cv=2).fit(wine.data)
    assert content(scqm.report(search, wine.data, path))["drivers"]
    gaps = wine.data.to_numpy(copy=True)
    gaps[::5, 3] = np.nan
    model = SCQM(1, missing="ignore", loss="squared_l2", linear=True).fit(gaps)
    assert "error at hidden entries" not in content(scqm.report(model, gaps, path))
    with pytest.raises(InputError, match="no SCQM"):
        scqm.report(StandardScaler(), gaps, path)


def test_what_does_not_fit(tmp_path: Path) -> None:
    model, X = torus()
    for wrong, message in (
        ({"labels": ["a"]}, "labels are for 1 rows; X has 300"),
        ({"image_shape": (2, 2)}, "not that of rows of length 3"),
        ({"max_rows": 0}, "max_rows"),
    ):
        with pytest.raises(InputError, match=message):
            scqm.report(model, X, tmp_path / "r.html", **wrong)
    with pytest.raises(ValueError, match="features"):
        scqm.report(model, X[:, :2], tmp_path / "r.html")
    with pytest.raises(FileNotFoundError):
        scqm.report(model, X, tmp_path / "none" / "r.html")
    assert not list(tmp_path.iterdir())
