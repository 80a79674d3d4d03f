"""The outcome of an experiment: a table, the arrays of its pictures, its files.

An experiment comes here finished, whether it was run in the library alone or with
models of scikit-learn beside it. It writes what the program writes, each file whole or
not at all.
"""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._native import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Experiment:
    """The outcome of an experiment.

    Attributes
    ----------
    name : str
        Which one.
    title : str
        What the numbers of the table are, and in which unit.
    table : list of dict
        A row each: words, and means with their standard errors, of the same name
        followed by "_se". None where there is no number.
    notes : list of str
        What to read beside the table.
    arrays : dict of ndarray
        What the pictures need.
    params : dict
        What was run; the same as params.json.
    csv : str
        The table as CSV.
    markdown : str
        The table with its title and notes, as Markdown.
    """

    name: str
    title: str
    table: list[dict[str, Any]]
    notes: list[str]
    arrays: dict[str, Array]
    params: dict[str, Any]
    csv: str
    markdown: str

    def figures(self) -> dict[str, Figure]:
        """Draw the pictures of the experiment; Matplotlib is needed.

        Returns
        -------
        dict of Figure
            By the names of their files, without ending.
        """
        from . import _experiment_figures

        return _experiment_figures.draw(self.name, self.table, self.arrays)

    def save(self, out_dir: str | os.PathLike[str]) -> list[Path]:
        """Write the table, what was run and, if Matplotlib is there, pictures.

        Parameters
        ----------
        out_dir : str or PathLike
            A folder, made if need be.

        Returns
        -------
        list of Path
            The files, each of which takes the place of an older one only when it
            is complete.
        """
        folder = Path(out_dir)
        folder.mkdir(parents=True, exist_ok=True)
        texts = {
            f"{self.name}.csv": self.csv,
            f"{self.name}.md": self.markdown,
            "params.json": json.dumps(self.params, indent=2) + "\n",
        }
        written = [_write(folder / name, text.encode()) for name, text in texts.items()]
        try:
            figures = self.figures()
        except ImportError:
            return written
        for name, figure in figures.items():
            picture = io.BytesIO()
            figure.savefig(picture, format="png", dpi=100)
            written.append(_write(folder / f"{name}.png", picture.getvalue()))
        return written

    def __repr__(self) -> str:
        return self.markdown


def _write(path: Path, content: bytes) -> Path:
    """Write a file that appears whole or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path
