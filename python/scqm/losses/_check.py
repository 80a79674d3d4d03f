"""The laws of losses, tried on one.

The laws are those of the library's suite, which ``scqm plugin check`` tries too: the
trial runs in Go, and asks back for a loss written in Python.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from .._display import table, to_frame
from .._library import _core
from .._native import Job, address, call
from ._answer import answer
from ._loss import LossLike
from ._resolve import resolve

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Verdict:
    """The outcome of one law.

    Attributes
    ----------
    law : str
        Its name, such as "gradient slope".
    ok : bool
        Whether the loss keeps it.
    detail : str
        What was measured.
    """

    law: str
    ok: bool
    detail: str


@dataclass(frozen=True, repr=False)
class CheckReport:
    """The outcome of :func:`check`. It is true where every law holds.

    Attributes
    ----------
    loss : str
        The name of the loss.
    verdicts : tuple of Verdict
        The laws in the order they were tried.
    """

    loss: str
    verdicts: tuple[Verdict, ...]

    @property
    def ok(self) -> bool:
        """Whether every law holds."""
        return all(v.ok for v in self.verdicts)

    @property
    def broken(self) -> tuple[str, ...]:
        """The names of the laws that do not hold."""
        return tuple(v.law for v in self.verdicts if not v.ok)

    def __bool__(self) -> bool:
        return self.ok

    def to_frame(self) -> DataFrame:
        """Return a data frame of pandas with a line for every law."""
        return to_frame(self._columns())

    def _columns(self) -> dict[str, list[Any]]:
        names = "law", "ok", "detail"
        return {name: [getattr(v, name) for v in self.verdicts] for name in names}

    def _repr_html_(self) -> str:
        return table(f"{self!r}", self._columns())

    def __repr__(self) -> str:
        held = f"all {len(self.verdicts)} laws hold"
        broken = f"broken: {', '.join(self.broken)}"
        return f"CheckReport({self.loss}: {held if self.ok else broken})"

    def __str__(self) -> str:
        lines = [
            f"{'holds ' if v.ok else 'BROKEN'}  {v.law}: {v.detail}"
            for v in self.verdicts
        ]
        return "\n".join([f"loss {self.loss}", *lines])


def check(
    loss: LossLike,
    *,
    dim: int = 5,
    scale: float = 1.0,
    convex: bool = True,
    tolerance: float = 1e-12,
    random_state: int = 0,
) -> CheckReport:
    """Try whether a loss keeps the laws of losses.

    Among them: values are finite and at least 0; the gradient is that of the
    values (by the slope of the Taylor error, which is 2); a row's result does
    not depend on its batch; the loss is convex; residuals that are not finite
    do not give finite losses.

    Parameters
    ----------
    loss : str, Loss or callable
        The loss.
    dim : int, default=5
        Entries of a residual row.
    scale : float, default=1.0
        Size of ordinary residuals.
    convex : bool, default=True
        Whether the loss is meant to be convex.
    tolerance : float, default=1e-12
        Relative error up to which results count as equal. NumPy may round
        differently in batches of different length.
    random_state : int, default=0
        Seed of the residuals.

    Returns
    -------
    CheckReport
        True where every law holds; its text lists all of them.

    Examples
    --------
    >>> from scqm.losses import check
    >>> bool(check("l2"))
    True
    >>> check(lambda R: ((R**2).sum(axis=1), R)).broken
    ('gradient slope', 'convex')
    """
    resolved = resolve(loss)
    settings = {
        "loss": resolved._choice(),
        "dim": dim,
        "scale": scale,
        "non_convex": not convex,
        "tolerance": tolerance,
        "seed": random_state,
    }
    matrix = resolved._matrix()
    with Job(matrix, answer=partial(answer, resolved)) as job:
        job.start(
            _core.bindings_StartLossCheck, json.dumps(settings), address(matrix)
        ).wait()
        verdicts = json.loads(call(_core.bindings_CheckReport, job.number))
    return CheckReport(resolved.name, tuple(Verdict(**v) for v in verdicts))
