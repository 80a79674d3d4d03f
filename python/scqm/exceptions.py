"""Exceptions of scqm. All of them are a :class:`ScqmError`.

Each is a built-in exception too (ValueError, OSError, MemoryError), so that programs
that do not know scqm catch what they expect. The message names the place and the
remedy.
"""

from __future__ import annotations

__all__ = [
    "BudgetError",
    "FileError",
    "ForkError",
    "InputError",
    "InternalError",
    "LossError",
    "MemoryLimitError",
    "NonFiniteError",
    "PluginError",
    "ScqmError",
]


class ScqmError(Exception):
    """Anything that scqm raises of its own."""


class InputError(ScqmError, ValueError):
    """Data or settings that cannot be used; the message names the place."""


class LossError(InputError):
    """A loss written in Python returned something that is no loss."""


class FileError(ScqmError, OSError):
    """A model file that cannot be read or written."""


class MemoryLimitError(ScqmError, MemoryError):
    """There is not enough memory for what was asked; nothing has begun.

    The message says how much it takes, how much is left by which limit, and what
    to do. The environment variable SCQM_MEMORY, such as ``4G``, bounds what the
    library takes.
    """


class NonFiniteError(ScqmError, ArithmeticError):
    """A loss or a gradient came out as NaN or infinite."""


class PluginError(ScqmError, RuntimeError):
    """A plugin that crashes, does not answer or gives wrong answers."""


class BudgetError(ScqmError):
    """The time or the evaluations that a solver may use are used up.

    A solver written in Python may let it pass: the fit then ends with the best
    point that was evaluated.
    """


class ForkError(ScqmError, RuntimeError):
    """The process was forked after scqm was imported.

    Threads do not survive a fork, and the library needs its own. Import scqm in
    the child, or use the start method ``spawn`` or ``forkserver`` of
    :mod:`multiprocessing`; joblib does so by itself.
    """


class InternalError(ScqmError, RuntimeError):
    """A fault of scqm itself. Please report it with its message."""
