"""Losses of your own as plugins of SCQM.

A plugin is an executable Python file that ends in ``serve(YourLoss)``, with
``YourLoss`` a subclass of `Loss`. ``scqm plugin new NAME --lang python`` writes
one to begin with. This package needs NumPy and grpcio only.
"""

from scqm.plugin._check import check
from scqm.plugin._find import PluginNotFoundError, find, folders
from scqm.plugin._loss import Array, Loss, ParameterError, parameter
from scqm.plugin._server import serve

__all__ = [
    "Array",
    "Loss",
    "ParameterError",
    "PluginNotFoundError",
    "check",
    "find",
    "folders",
    "parameter",
    "serve",
]
