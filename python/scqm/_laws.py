"""What a law suite has found, of a loss, a gradient, a manifold or a solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._display import to_frame

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
        Whether it holds.
    detail : str
        What was measured.
    """

    law: str
    ok: bool
    detail: str


@dataclass(frozen=True, repr=False)
class CheckReport:
    """The outcome of a check. It is true where every law holds.

    Attributes
    ----------
    subject : str
        What was checked.
    verdicts : tuple of Verdict
        The laws in the order they were tried.
    """

    subject: str
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
        names = "law", "ok", "detail"
        return to_frame({n: [getattr(v, n) for v in self.verdicts] for n in names})

    def __repr__(self) -> str:
        held = f"all {len(self.verdicts)} laws hold"
        broken = f"broken: {', '.join(self.broken)}"
        return f"CheckReport({self.subject}: {held if self.ok else broken})"

    def __str__(self) -> str:
        lines = [
            f"{'holds ' if v.ok else 'BROKEN'}  {v.law}: {v.detail}"
            for v in self.verdicts
        ]
        return "\n".join([self.subject, *lines])


def read(subject: str, verdicts: list[dict[str, Any]]) -> CheckReport:
    """Return the report for what the library tells."""
    return CheckReport(subject, tuple(Verdict(**v) for v in verdicts))
