"""Pages about fits: whole, small, escaped, and working in a browser."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import scqm
from scqm import SCQM
from scqm.exceptions import InputError

# An extra, which the library does without.
pytest.importorskip("bokeh", reason="scqm[report] is not installed")

Array = npt.NDArray[Any]
EVIL = "</script><script>document.title='evil'</script><img src=x onerror=alert(1)>"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

# Points at the middle row of the latent plane, and says what is under the pointer; then
# selects it, and says how many rows are selected.
PROBE = """
<script>
function told(root, found) {
  for (const e of root.querySelectorAll("*")) {
    if (/^(row|distance) /.test(e.textContent) && !e.children.length) found.push(e.textContent);
    if (e.tagName == "IMG" && /^data:image/.test(e.src) && e.width == 84) found.push("image");
    if (e.shadowRoot) told(e.shadowRoot, found);
  }
  return found;
}
window.addEventListener("load", () => setTimeout(() => {
  const doc = Bokeh.documents[0], roots = doc.roots();
  const plot = roots.find(r => r.renderers && r.renderers[0].glyph.x.field == "first");
  const view = Bokeh.index.get_by_id ? Bokeh.index.get_by_id(plot.id)
    : Object.values(Bokeh.index).find(v => v.model.id == plot.id);
  const source = plot.renderers[0].data_source, k = 3;
  const sx = view.frame.x_scale.compute(source.data.first[k]);
  const sy = view.frame.y_scale.compute(source.data.second[k]);
  const box = view.canvas_view.el.getBoundingClientRect();
  const at = {clientX: box.left + sx, clientY: box.top + sy, bubbles: true, composed: true,
    pointerType: "mouse", pointerId: 1, isPrimary: true};
  const target = view.canvas_view.events_el;
  for (const kind of ["pointerenter", "pointermove"]) target.dispatchEvent(new PointerEvent(kind, at));
  for (const kind of ["mouseenter", "mousemove"]) target.dispatchEvent(new MouseEvent(kind, at));
  setTimeout(() => {
    document.querySelectorAll("section figure.strip").forEach(e => e.remove());
    document.body.setAttribute("data-hover", told(document.body, []).join("; "));
    document.body.setAttribute("data-row", source.data.row[k]);
    source.selected.indices = [k];
    const others = roots.filter(r => r.renderers && r.renderers[0].data_source == source);
    document.body.setAttribute("data-linked", others.length);
  }, 500);
}, 1500));
</script></body>"""


def torus() -> tuple[SCQM, Array]:
    X = np.asarray(scqm.datasets.make_torus(300, random_state=0)[0])
    return SCQM(2, loss="squared_l2", max_iter=50, tol=1).fit(X), X


def digits() -> tuple[SCQM, Array]:
    X = np.asarray(scqm.datasets.load_digits_sample([4, 9], 40).data)
    return SCQM(2, max_iter=100, tol=1).fit(X), X


def table() -> tuple[SCQM, Any]:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, 80)
    X = np.column_stack([t, t**2, rng.normal(size=80) * 0.1])
    X += 0.05 * rng.normal(size=X.shape)
    frame = pandas.DataFrame(X, columns=["a", EVIL, "c & <d>"])
    return SCQM(1, loss="squared_l2").fit(frame), frame


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make", [torus, digits, table])
def test_pages(make: Any, tmp_path: Path) -> None:
    model, X = make()
    path = tmp_path / "report.html"
    path.write_text("older")
    labels = [EVIL if i == 3 else f"<b>{i % 2}</b>" for i in range(len(X))]
    assert scqm.report(model, X, path, labels=labels, title=f"A {EVIL}") == path
    text = path.read_text()
    assert len(text.encode()) < 5_000_000
    assert "SCQM(" in text
    assert model.message_.split(":")[0] in text
    page = re.sub(r"(?s)<script.*?</script>", "", text)
    assert "onerror=alert" not in page.replace("&lt;img src=x onerror=alert", "")
    assert not re.search(r"""(src|href)=["']?https?:""", page)
    curved = model.curvature_components_.size and X.shape[1] > 4
    assert ("error at hidden entries" in page) == bool(curved)
    for head in "latent plane", "Along each axis", "drives the fit", "Convergence":
        assert head in page
    assert list(tmp_path.iterdir()) == [path]  # nothing half written beside it
    if CHROMIUM is None:
        pytest.skip("no chromium to open the page in")
    probe = tmp_path / "probe.html"
    probe.write_text(text.replace("</body>", PROBE))
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
         "--enable-logging=stderr", "--virtual-time-budget=20000",
         "--window-size=1200,2000", f"--user-data-dir={tmp_path}/chromium",
         probe.as_uri()],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not [c for c in console if "rror" in c], console
    dom = done.stdout
    assert "<title>evil" not in dom
    found = re.search(r'data-hover="([^"]*)"', dom)
    assert found, console
    hover = found.group(1)
    row = re.search(r'data-row="(\d+)"', dom)
    assert row
    assert f"row {row.group(1)};" in hover
    assert "distance" in hover
    assert ("image" in hover) == (make is digits)
    assert 'data-linked="2"' in dom


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


def test_images_are_pngs() -> None:
    from scqm._report import _image

    image = _image(np.array([0.0, 0.5, 1.0, np.nan]), (2, 2), 0, 1)
    matplotlib = pytest.importorskip("matplotlib.image")
    import base64
    import io

    data = base64.b64decode(image.partition(",")[2])
    shown = matplotlib.imread(io.BytesIO(data), format="png")
    np.testing.assert_allclose(shown, np.array([[255, 128], [0, 255]]) / 255)
