"""A progress bar for long fits."""

from __future__ import annotations

import sys
from typing import Any

from ._native import COST, ITERATION, SECONDS, Array

# Seconds between two lines where there is no bar.
INTERVAL = 1.0


class Progress:
    """Shows the state of a fit: a tqdm bar, or lines where tqdm is missing."""

    def __init__(self, total: int | None) -> None:
        self._bar: Any = None
        self._shown = 0.0
        self._line = ""
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self._bar = tqdm(total=total, desc="SCQM", unit="it")

    def __call__(self, state: Array) -> None:
        """Show the state that a job reports."""
        iteration, cost, seconds = int(state[ITERATION]), state[COST], state[SECONDS]
        if self._bar is not None:
            self._bar.update(iteration - self._bar.n)
            self._bar.set_postfix_str(f"objective {cost:.6g}", refresh=False)
            return
        self._line = (
            f"SCQM: iteration {iteration}, objective {cost:.6g}, {seconds:.1f} s"
        )
        if seconds >= self._shown + INTERVAL:
            self._shown = seconds
            print(self._line, file=sys.stderr)

    def close(self) -> None:
        """Leave the bar as it is, or print a last line."""
        if self._bar is not None:
            self._bar.close()
        elif self._line:
            print(self._line, file=sys.stderr)
