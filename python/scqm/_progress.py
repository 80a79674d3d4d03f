"""Progress bars for long work.

A job reports its state whenever Python looks at it; here is how that is shown: as a bar
of tqdm or, where that is missing, as a line a second.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
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


class PartProgress:
    """Shows the part of the work that is done, in percent.

    Parameters
    ----------
    act : str
        What is being done.
    verbose : bool
        Whether to show anything.
    owner : str
        Who does it.
    """

    def __init__(
        self, act: str, verbose: bool, owner: str = "ManifoldDenoiser"
    ) -> None:
        self._label = f"{owner}: {act}"
        self._verbose = verbose
        self._bar: Any = None
        self._shown = 0.0

    def __enter__(self) -> Callable[[Array], None] | None:
        if not self._verbose:
            return None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return self._show
        self._bar = tqdm(total=100, desc=self._label, unit="%")
        return self._show

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            if kind is None:
                self._bar.update(100 - self._bar.n)
            self._bar.close()
        elif self._verbose and kind is None:
            print(f"{self._label} 100 %", file=sys.stderr)

    def _show(self, state: Array) -> None:
        done, seconds = int(100 * state[COST]), state[SECONDS]
        if self._bar is not None:
            self._bar.update(done - self._bar.n)
        elif seconds >= self._shown + INTERVAL:
            self._shown = seconds
            print(f"{self._label} {done} %, {seconds:.1f} s", file=sys.stderr)
