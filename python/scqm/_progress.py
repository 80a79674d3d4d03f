"""Progress bars for long work.

A job reports its state whenever Python looks at it; here is how that is shown: as a bar
of tqdm or, where that is missing, as a line a second.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ._native import COST, ITERATION, SECONDS, Array

# Seconds between two lines where there is no bar.
INTERVAL = 1.0


class Progress:
    """Shows how far a job is: the iterations of a fit ("it"), or the part done ("%").

    The label says who does what; the end, ``total``, may be unknown.
    """

    def __init__(
        self, label: str, verbose: bool, unit: str = "%", total: int | None = 100
    ) -> None:
        self._label, self._verbose = label, verbose
        self._unit, self._total = unit, total
        self._bar: Any = None
        self._shown = 0.0
        self._line = ""

    def __enter__(self) -> Callable[[Array], None] | None:
        if not self._verbose:
            return None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return self._show
        self._bar = tqdm(total=self._total, desc=self._label, unit=self._unit)
        return self._show

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._bar is not None:
            if kind is None and self._unit == "%":
                self._bar.update(100 - self._bar.n)
            self._bar.close()
        elif self._verbose and kind is None and self._unit == "%":
            print(f"{self._label}: 100 %", file=sys.stderr)
        elif self._line:
            print(self._line, file=sys.stderr)

    def _show(self, state: Array) -> None:
        cost, seconds = state[COST], state[SECONDS]
        if self._unit == "%":
            done, text = int(100 * cost), f"{int(100 * cost)} %"
        else:
            done, text = int(state[ITERATION]), f"objective {cost:.6g}"
        if self._bar is not None:
            self._bar.update(done - self._bar.n)
            if self._unit == "it":
                self._bar.set_postfix_str(text, refresh=False)
            return
        at = f"iteration {done}, " if self._unit == "it" else ""
        self._line = f"{self._label}: {at}{text}, {seconds:.1f} s"
        if seconds >= self._shown + INTERVAL:
            self._shown = seconds
            print(self._line, file=sys.stderr)
