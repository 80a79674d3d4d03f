"""Estimators for arrays and data frames of Dask, on as many machines as there are.

>>> from scqm.dask import SCQM

They follow the conventions of dask-ml: ``fit`` computes, ``transform`` and the like
are lazy. Needs ``pip install scqm[dask]``.
"""

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._denoiser import ManifoldDenoiser
    from ._estimator import SCQM
    from ._influence import Influence

__all__ = ["SCQM", "Influence", "ManifoldDenoiser"]

_HOMES = {
    "Influence": "_influence",
    "ManifoldDenoiser": "_denoiser",
    "SCQM": "_estimator",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        home = importlib.import_module(f".{_HOMES[name]}", __name__)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("dask", "distributed"):
            raise
        raise ImportError(
            f"scqm.dask.{name} needs dask and distributed; pip install scqm[dask]"
        ) from error
    value: object = getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
