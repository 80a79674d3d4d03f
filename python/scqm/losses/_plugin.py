"""Losses that a plugin computes, a process of its own.

A loss names its program and the checksum that the file must have. Where the program
is, is found anew in every process: neither model files nor pickles say it.
"""

from __future__ import annotations

import copy
import os
import pickle
import re
from typing import Any

from .._validation import check_real
from ..exceptions import InputError
from ..plugin._find import NAME, PREFIX, PluginNotFoundError, find
from ._native import NativeLoss


class Plugin(NativeLoss):
    """A loss computed by a plugin, a process of its own.

    The plugin is started for every fit and every call of a fitted model, and
    ended after it. See :mod:`scqm.plugin` for writing plugins.

    Files name a plugin, but never say where it is: one that was given by its path
    comes out of a pickle with its name, and is looked for in the plugin folders.

    Parameters
    ----------
    name : str or PathLike
        The name of a plugin in the plugin folders, or its path, or the NAME of
        the console script ``scqm-loss-NAME`` of an installed package.
    sha256 : str, optional
        Checksum that the file must have, 64 hexadecimal digits; "any" takes any
        file, also for a model that was learned with another one. By default a fit
        takes any, and a fitted model the one that it was learned with. It is the
        checksum of the one file, not of its interpreter, imports or libraries.
    timeout : float, optional
        Seconds that a call may take; by default 30.
    **params
        Parameters of the loss.
    """

    def __init__(
        self,
        name: str | os.PathLike[str],
        *,
        sha256: str | None = None,
        timeout: float | None = None,
        **params: float | bool | str,
    ) -> None:
        self.name = os.fspath(name)
        self.sha256 = None if sha256 is None else checksum("sha256", sha256)
        self.timeout = None if timeout is None else check_real("timeout", timeout)
        self.params = params
        # The name of the loss, where a model was learned with it.
        self._learned: str | None = None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, those of the loss that the plugin computes included.

        Parameters
        ----------
        deep : bool, default=True
            Ignored.

        Returns
        -------
        dict
            Values by name.
        """
        known = super().get_params(deep)
        own: dict[str, Any] = known.pop("params")
        return known | own

    @classmethod
    def _of(
        cls,
        name: str,
        sha256: str | None,
        timeout: float | None,
        params: dict[str, Any],
        learned: bool = True,
    ) -> Plugin:
        """Return the plugin that a file names."""
        if not NAME.fullmatch(name):
            raise InputError(f"{name[:80]!r} is no name of a plugin")
        plugin = cls(name, sha256=sha256, timeout=timeout)
        # Not as arguments: a parameter may be called like one.
        plugin.params = params
        plugin._learned = name if learned else None
        return plugin

    def _learn(self, program: dict[str, Any], sha256: str | None = None) -> Plugin:
        """Return the loss of a model: this one, held to the file of the program."""
        learned = copy.copy(self)
        learned.sha256 = sha256 or self.sha256 or program["sha256"]
        learned._learned = program["name"]
        return learned

    def _params(self) -> dict[str, Any]:
        return {
            "plugin": self._file(),
            "sha256": self.sha256 or "",
            "timeout": self.timeout or 0,
            "params": self.params,
            "learned": self._learned is not None,
        }

    def _file(self) -> str:
        """Find the file here: the library knows the environment of its start only."""
        if os.sep in self.name:
            return self.name
        try:
            return os.fspath(find(self.name))
        except PluginNotFoundError as e:
            raise InputError(f"loss {self!r}: {e}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        name, file = self._learned or self.name, os.path.basename(self.name)
        if os.sep in name and file.startswith(PREFIX):
            name = file.removeprefix(PREFIX)
        if not NAME.fullmatch(name):
            raise pickle.PicklingError(
                f"a pickle names a plugin by its loss, and {self.name} is not called "
                f"{PREFIX}NAME"
            )
        learned = self._learned is not None
        return Plugin._of, (name, self.sha256, self.timeout, self.params, learned)

    def __copy__(self) -> Plugin:
        other = Plugin.__new__(Plugin)
        vars(other).update(vars(self), params=dict(self.params))
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Plugin:
        return copy.copy(self)

    def __repr__(self) -> str:
        given = {"sha256": self.sha256, "timeout": self.timeout, **self.params}
        text = "".join(f", {k}={v!r}" for k, v in given.items() if v is not None)
        return f"Plugin({self.name!r}{text})"

    def __hash__(self) -> int:
        return hash((self.name, self.sha256, *sorted(self.params.items())))


def checksum(parameter: str, value: object) -> str:
    """Return a checksum of a plugin, in lower case, or "any"."""
    text = value.lower() if isinstance(value, str) else ""
    if text != "any" and not re.fullmatch("[0-9a-f]{64}", text):
        raise InputError(
            f"{parameter} is {value!r}; want the 64 digits that sha256sum prints, or "
            "'any'"
        )
    return text
