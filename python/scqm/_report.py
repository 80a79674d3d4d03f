"""A fit on one page: :func:`report`.

The page holds all it needs, data and scripts, so that it can be sent and opened
anywhere, without a network. Charts are those of Bokeh; all words that come from data
or from files are escaped.
"""

from __future__ import annotations

import base64
import hashlib
import html
import importlib
import os
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from . import _influence, _native
from ._atomic import replacing
from ._estimator import SCQM
from ._native import Array
from ._validation import check_integer
from ._version import __version__
from .exceptions import InputError, ScqmError

__all__ = ["report"]

# Rows that are drawn, and images among them: pages stay below 5 MB.
MOST_ROWS = 2000
MOST_IMAGES = 1000
# Numbers up to which the influence of rows is computed.
MOST_NUMBERS = 1_000_000
# Columns of tables that charts show, and points along an axis.
COLUMNS = 12
STEPS = 9
# The least number of entries of a row that is taken for an image unasked.
LEAST_IMAGE = 64

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:1000px;margin:2em auto;padding:0 1em;
color:#222;background:#fff}h1{font-size:1.6em}h2{font-size:1.2em;margin-top:2em}
table{border-collapse:collapse}td,th{padding:.1em .8em .1em 0;text-align:left}
pre{background:#f4f4f4;padding:.8em;overflow-x:auto}figure{margin:1em 0;overflow-x:auto}
.strip img{image-rendering:pixelated;margin:1px;border:1px solid #ddd}
.warning{background:#fff3cd;padding:.5em .8em;margin:.5em 0}.plain{color:#555}
"""


def report(
    model: SCQM,
    X: npt.ArrayLike,
    path: str | os.PathLike[str],
    *,
    labels: npt.ArrayLike | None = None,
    image_shape: tuple[int, int] | Literal["auto"] | None = "auto",
    title: str | None = None,
    max_rows: int = MOST_ROWS,
) -> Path:
    """Write a page about a fit: one file that needs no network.

    It shows the latent plane (rows tell their number, label and distance under the
    pointer, and their image where they are images; a selection shows in all charts),
    what the sheet does along each axis, residuals by row and column, the rows that
    drive the fit, how the objective fell, warnings in plain words, and settings to
    repeat the fit.

    Parameters
    ----------
    model : SCQM
        A fitted model.
    X : array-like of shape (n, D)
        Rows, mostly those of the fit, without which influence cannot be told.
    path : str or PathLike
        The file; it takes the place of an older one only when it is complete.
    labels : array-like of shape (n,), optional
        What rows are called; colors are those of up to ten different labels.
    image_shape : tuple of int, "auto" or None, default="auto"
        Shape of the images that rows are. "auto" takes rows for square images where
        they have no names of columns and a square number of entries, 64 or more.
    title : str, optional
        Head of the page.
    max_rows : int, default=2000
        Most rows to draw, evenly spread over all; tables and means are of all rows.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        Rows that do not fit the model, or labels that do not fit the rows; a
        ValueError.
    ImportError
        Bokeh is missing: ``pip install scqm[report]``.

    Examples
    --------
    >>> import scqm
    >>> digits = scqm.datasets.load_digits_sample(digits=[4, 9])
    >>> model = scqm.SCQM(2).fit(digits.data)
    >>> page = scqm.report(model, digits.data, "report.html")  # doctest: +SKIP
    """
    check_is_fitted(model)
    _require_bokeh()
    rows = _native.contiguous(model._seen(X))
    names = None if labels is None else [str(v) for v in np.asarray(labels).ravel()]
    if names is not None and len(names) != len(rows):
        raise InputError(f"labels are for {len(names)} rows; X has {len(rows)}")
    if not len(rows):
        raise InputError("X has no rows; want at least one")
    shape = _image_shape(model, image_shape, rows.shape[1])
    most = check_integer("max_rows", max_rows, 1)
    page = _Page(model, rows, names, shape, most)
    return _write(Path(path), page.render(title or "An SCQM fit"))


def _require_bokeh() -> None:
    try:
        importlib.import_module("bokeh")
    except ImportError as error:
        raise ImportError(
            "scqm.report needs Bokeh: pip install scqm[report]"
        ) from error


def _image_shape(model: SCQM, wanted: Any, D: int) -> tuple[int, int] | None:
    """Return the shape of the images that rows are, None where they are none."""
    if wanted is None:
        return None
    if wanted == "auto":
        side = int(np.sqrt(D))
        plain = getattr(model, "feature_names_in_", None) is None
        return (side, side) if plain and D >= LEAST_IMAGE and side**2 == D else None
    height, width = (check_integer("image_shape", v, 1) for v in wanted)
    if height * width != D:
        raise InputError(f"image_shape {wanted!r} is not that of rows of length {D}")
    return height, width


class _Page:
    """The parts of a page, each as HTML, and the charts that they refer to."""

    def __init__(
        self,
        model: SCQM,
        rows: Array,
        labels: list[str] | None,
        shape: tuple[int, int] | None,
        most: int,
    ) -> None:
        self.model, self.rows, self.labels, self.shape = model, rows, labels, shape
        # By the library, as rows have lost the names of their columns.
        fitted = model._model()
        d, D = model.components_.shape
        self.tau = fitted.map("transform", rows, d)
        self.residuals = fitted.map("project", rows, D) - rows
        self.far = np.sqrt(np.nansum(self.residuals**2, axis=1))
        count = min(len(rows), most)
        self.drawn = np.linspace(0, len(rows) - 1, count).astype(int)
        self.charts: dict[str, Any] = {}
        found = getattr(model, "feature_names_in_", None)
        self.columns = [f"x{j}" for j in range(D)] if found is None else list(found)

    def render(self, title: str) -> str:
        from bokeh.embed import components
        from bokeh.resources import Resources

        source = self._source()
        parts = [
            ("Summary", self._summary()),
            ("Warnings", self._warnings()),
            ("The latent plane", self._plane(source)),
            ("Along each axis", self._axes()),
            ("Residuals by row", self._by_row(source)),
            ("Residuals by column", self._by_column()),
            ("What drives the fit", self._drivers()),
            ("Convergence", self._convergence()),
            ("Settings", self._settings()),
        ]
        script, divs = components(self.charts) if self.charts else ("", {})
        body = "".join(
            f"<section><h2>{html.escape(head)}</h2>{text}</section>"
            for head, text in parts
        )
        for name, div in divs.items():
            body = body.replace(_place(name), f"<figure>{div}</figure>")
        inline = Resources(mode="inline", components=["bokeh"])
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            '<link rel="icon" href="data:,">'
            f"<title>{html.escape(title)}</title><style>{_STYLE}</style>"
            f"{inline.render()}</head><body><h1>{html.escape(title)}</h1>{body}{script}"
            "</body></html>\n"
        )

    def _chart(self, name: str, chart: Any) -> str:
        """Keep a chart, and return what holds its place."""
        self.charts[name] = chart
        return _place(name)

    def _source(self) -> Any:
        """Return the rows drawn, which all charts of rows share."""
        from bokeh.models import ColumnDataSource
        from bokeh.palettes import Category10

        some = self.drawn
        labels = [self.labels[i] for i in some] if self.labels else [""] * len(some)
        kinds = {label: k for k, label in enumerate(dict.fromkeys(labels))}
        palette = Category10[10]
        colors = [
            palette[kinds[v] % 10] if len(kinds) <= 10 else palette[0] for v in labels
        ]
        flat = self.tau.shape[1] == 1
        data: dict[str, Any] = {
            "row": some,
            "first": self.tau[some, 0],
            "second": self.far[some] if flat else self.tau[some, 1],
            "distance": self.far[some],
            "label": labels,
            "color": colors,
        }
        if self.shape is not None:
            shown = set(some[np.linspace(0, len(some) - 1, MOST_IMAGES).astype(int)])
            low, high = np.nanmin(self.rows), np.nanmax(self.rows)
            data["image"] = [
                _image(self.rows[i], self.shape, low, high) if i in shown else ""
                for i in some
            ]
        return ColumnDataSource(data)

    def _figure(self, x: str, y: str, **settings: Any) -> Any:
        from bokeh.plotting import figure

        return figure(
            x_axis_label=x,
            y_axis_label=y,
            sizing_mode="stretch_width",
            height=420,
            output_backend="canvas",
            **settings,
        )

    def _scatter(self, x: str, y: str, across: str, up: str, source: Any) -> Any:
        """Return a chart of rows, with what they tell under the pointer."""
        from bokeh.models import HoverTool

        chart = self._figure(x, y, tools="pan,wheel_zoom,box_select,tap,reset,save")
        chart.scatter(across, up, source=source, color="color", size=6, alpha=0.8)
        label = "<div>@label</div>" if self.labels else ""
        image = ""
        if self.shape is not None:
            image = (
                '<img src="@image" width="84" alt="" style="image-rendering:pixelated">'
            )
        tips = f"{image}<div>row @row</div>{label}<div>distance @distance</div>"
        chart.add_tools(HoverTool(tooltips=tips))
        return chart

    def _summary(self) -> str:
        m = self.model
        d, D = m.components_.shape
        facts = {
            "rows shown": f"{len(self.drawn)} of {len(self.rows)}",
            "rows learned from": m.n_samples_seen_,
            "columns": D,
            "latent dimension d": d,
            "directions of curvature s": m.curvature_components_.shape[0],
            "loss": m.loss_.name,
            "ended": f"{m.status_}: {m.message_}",
            "objective": f"{m.objective_:.6g}",
            "ridge": f"{m.ridge_:.4g}",
            "curvature times extent": f"{m.curvature_extent_:.3g}",
            "median distance from the sheet": f"{np.median(self.far):.4g}",
        }
        if m.curvature_ is not None:
            facts["curvature"] = m.curvature_["sentence"].removeprefix("curvature: ")
        complete = not np.isnan(self.rows).any()
        if m.curvature_components_.size and D - d >= 3 and complete:
            some = self.rows[:: max(1, len(self.rows) // 1000)]
            flat = SCQM(d, linear=True).fit(some)
            facts["error at hidden entries"] = (
                f"{-m.score(some, hidden=0.3):.4g}, "
                f"{-flat.score(some, hidden=0.3):.4g} by a flat sheet"
            )
        if hasattr(m, "explained_variance_ratio_"):
            parts = ", ".join(f"{v:.1%}" for v in m.explained_variance_ratio_)
            facts["variance of the coordinates"] = parts
        lines = (
            f"<tr><th>{html.escape(k)}</th><td>{html.escape(str(v))}</td></tr>"
            for k, v in facts.items()
        )
        return f"<table>{''.join(lines)}</table>"

    def _warnings(self) -> str:
        found = [
            f'<p class="warning">{html.escape(t)}</p>' for t in self.model.warnings_
        ]
        found += [f'<p class="plain">{html.escape(t)}</p>' for t in self.model.notes_]
        return "".join(found) or "<p>There is nothing to warn of.</p>"

    def _plane(self, source: Any) -> str:
        flat = self.tau.shape[1] == 1
        up = "distance from the sheet" if flat else "second coordinate"
        text = _plain(
            "Each point is a row at its coordinates on the sheet. Point at one to see "
            "which it is, or select some: they are marked in all charts of rows."
        )
        chart = self._scatter("first coordinate", up, "first", "second", source)
        return text + self._chart("plane", chart)

    def _axes(self) -> str:
        low, high = np.quantile(self.tau, [0.02, 0.98], axis=0)
        middle = np.median(self.tau, axis=0)
        steps = []
        for j in range(min(self.tau.shape[1], 6)):
            grid = np.tile(middle, (STEPS, 1))
            grid[:, j] = np.linspace(low[j], high[j], STEPS)
            steps.append((j, grid[:, j], self.model.inverse_transform(grid)))
        text = _plain(
            "What the sheet is along one coordinate, from its 2 % to its 98 % "
            "quantile, with the others at their medians."
        )
        draw = self._curves if self.shape is None else self._strip
        return text + "".join(draw(*step) for step in steps)

    def _strip(self, j: int, at: Array, images: Array) -> str:
        assert self.shape is not None  # where there are images
        low, high = np.nanmin(self.rows), np.nanmax(self.rows)
        shown = (
            f'<img width="84" alt="coordinate {j + 1} at {v:.3g}" title="{v:.3g}" '
            f'src="{_image(image, self.shape, low, high)}">'
            for v, image in zip(at, images, strict=True)
        )
        return (
            f'<p>Coordinate {j + 1}</p><figure class="strip">{"".join(shown)}</figure>'
        )

    def _curves(self, j: int, at: Array, rows: Array) -> str:
        from bokeh.models import HoverTool
        from bokeh.palettes import Category20

        unit = np.nanstd(self.rows, axis=0)
        unit[~(unit > 0)] = 1
        change = (rows - np.nanmean(self.rows, axis=0)) / unit
        chosen = np.argsort(-np.ptp(change, axis=0), kind="stable")[:COLUMNS]
        chart = self._figure(f"coordinate {j + 1}", "column, in standard deviations")
        for k, column in enumerate(chosen):
            chart.line(
                at,
                change[:, column],
                color=Category20[20][k],
                line_width=2,
                legend_label=str(self.columns[column]),
                name=str(self.columns[column]),
            )
        chart.legend.click_policy = "hide"
        chart.add_tools(HoverTool(tooltips=[("column", "$name"), ("value", "@y")]))
        return self._chart(f"axis{j}", chart)

    def _by_row(self, source: Any) -> str:
        worst = np.argsort(-self.far, kind="stable")[:5]
        told = ", ".join(f"{i} ({self.far[i]:.4g})" for i in worst)
        chart = self._scatter("row", "distance", "row", "distance", source)
        text = _plain(f"Farthest from the sheet: rows {told}.")
        return text + self._chart("rows", chart)

    def _by_column(self) -> str:
        size = np.sqrt(np.nanmean(self.residuals**2, axis=0))
        if self.shape is not None:
            picture = _image(size, self.shape, 0, float(size.max()))
            text = _plain(
                "The root mean square of the residuals in each place of the images; "
                f"the darkest is {size.max():.4g}."
            )
            return (
                f'{text}<figure class="strip"><img width="220" alt="" src="{picture}">'
                "</figure>"
            )
        chosen = np.argsort(-size, kind="stable")[:50]
        names = [str(self.columns[j]) for j in chosen]
        unique = [
            n if names.count(n) == 1 else f"{n} ({j})"
            for n, j in zip(names, chosen, strict=True)
        ]
        chart = self._figure(
            "root mean square residual",
            "column",
            y_range=unique[::-1],
            tools="hover,save",
        )
        chart.hbar(y=unique, right=size[chosen], height=0.8)
        chart.height = 80 + 22 * len(unique)
        chart.hover.tooltips = [("column", "@y"), ("residual", "@right")]
        text = _plain(f"The {len(chosen)} largest of {len(size)} columns.")
        return text + self._chart("columns", chart)

    def _drivers(self) -> str:
        if self.rows.size > MOST_NUMBERS:
            return _plain(
                "Influence is left out: there are more than a million numbers."
            )
        try:
            found = _influence.compute(self.model._model(), self.rows, None, None)
        except (ScqmError, ValueError) as error:
            return _plain(f"Influence cannot be told: {error}")
        head = (
            "row",
            "label",
            "influence",
            "distance",
            "distance without it",
            "leverage",
        )
        lines = [
            (
                str(i),
                self.labels[i] if self.labels else "",
                f"{found.influence[i]:.4g}",
                f"{found.residual[i]:.4g}",
                f"{found.residual_without[i]:.4g}",
                f"{found.leverage[i]:.3g}",
            )
            for i in found.top(10)
        ]
        return (
            _plain("How far the sheet moves when a row is left out; the ten largest.")
            + _table(head, lines)
            + "".join(_plain(note) for note in found.notes)
        )

    def _convergence(self) -> str:
        history = self.model.history_
        if len(history["cost"]) < 2:
            return _plain("There is no history: model files do not keep it.")
        above = history["cost"] - history["cost"].min()
        shown = above > 0
        chart = self._figure("iteration", "objective above the end", y_axis_type="log")
        chart.line(history["iteration"][shown], above[shown], line_width=2)
        text = _plain(f"{self.model.n_iter_} iterations by {self.model.solver_}.")
        return text + self._chart("history", chart)

    def _settings(self) -> str:
        m = self.model
        params = {k: v for k, v in sorted(m.get_params().items()) if v != _DEFAULTS[k]}
        settings = ", ".join(f"{k}={v!r}" for k, v in params.items())
        digest = hashlib.sha256(np.ascontiguousarray(self.rows).tobytes()).hexdigest()
        n, D = self.rows.shape
        code = (
            f"import scqm  # {__version__}\n\n"
            f"# X: {n} x {D} float64 with the SHA-256 {digest}\n"
            f"model = scqm.SCQM({settings}).fit(X)\n"
        )
        return f"<pre>{html.escape(code)}</pre>"


_DEFAULTS = SCQM().get_params()


def _place(name: str) -> str:
    """Return what holds the place of a chart, which no text from data can be."""
    return f"<!--<{name}>-->"


def _plain(text: str) -> str:
    return f'<p class="plain">{html.escape(text)}</p>'


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    cells = "".join(f"<th>{html.escape(c)}</th>" for c in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(c)}</td>' for c in line)}</tr>"
        for line in lines
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _image(row: Array, shape: tuple[int, int], low: float, high: float) -> str:
    """Return a row as a PNG of grays, dark where it is large, in a data URI."""
    scaled = (row.reshape(shape) - low) / ((high - low) or 1)
    grays = 255 - np.nan_to_num(scaled * 255).clip(0, 255).astype(np.uint8)
    height, width = shape
    lines = b"".join(b"\0" + line.tobytes() for line in grays)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data
        + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )  # fmt: skip
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _write(path: Path, text: str) -> Path:
    """Write a file that takes the place of an older one only when it is complete."""
    with replacing(path) as name:
        name.write_text(text, encoding="utf-8")
    return path
