r"""Losses of residual rows, those of the library and your own.

=====================  ========================  =======================================
class                  loss of a residual row r  use it for
=====================  ========================  =======================================
:class:`L2`            \|r\|                     outliers among whole rows
:class:`L1`            sum of \|r_k\|            outliers in single entries
:class:`SquaredL2`     \|r\|^2                   least squares, no outliers
:class:`Lp`            sum of \|r_k\|^p          between the two, or light tails (p > 2)
:class:`Huber`         quadratic, then linear    least squares with outlying rows
:class:`HuberEntries`  that of each entry        least squares with outlying entries
:class:`Tukey`         level from a width on     gross outliers among whole rows
:class:`Welsch`        level, by an exponential  gross outliers among whole rows
:class:`GemanMcClure`  level, by a fraction      gross outliers, with tails
:class:`Cauchy`        a logarithm far out       heavy tails
:class:`Quantile`      (1-p) r_k or -p r_k       a sheet above the part p of the data
:class:`Mahalanobis`   r' M r                    correlated noise of known covariance
:class:`Plugin`        that of a program         losses in any language
=====================  ========================  =======================================

Any function that takes residual rows ``R`` of shape (n, D) and returns values of
shape (n,) and gradients of shape (n, D) is a loss, and so is a subclass of
:class:`Loss`. :func:`check` tries whether one keeps the laws of losses.

:func:`estimate_power` and :func:`choose` look at residuals: what noise they are,
and which loss estimates best under it. The samplers of such noise are
:func:`scqm.datasets.generalized_gaussian_noise` and
:func:`scqm.datasets.radial_laplace_noise`.
"""

from __future__ import annotations

import inspect

from .._laws import CheckReport, Verdict
from ._check import check
from ._loss import Loss, LossLike
from ._mahalanobis import Mahalanobis
from ._noise import Choice, Power, choose, estimate_power
from ._plugin import Plugin
from ._radial import L2, Cauchy, GemanMcClure, Huber, SquaredL2, Tukey, Welsch
from ._resolve import names
from ._separable import L1, HuberEntries, Lp, Quantile

__all__ = [
    "L1",
    "L2",
    "Cauchy",
    "CheckReport",
    "Choice",
    "GemanMcClure",
    "Huber",
    "HuberEntries",
    "Loss",
    "LossLike",
    "Lp",
    "Mahalanobis",
    "Plugin",
    "Power",
    "Quantile",
    "SquaredL2",
    "Tukey",
    "Verdict",
    "Welsch",
    "check",
    "choose",
    "estimate_power",
    "names",
]

# Users, pickles and reprs know them by this module, whatever file they are in.
for _name in __all__:
    _thing = globals()[_name]
    if inspect.isclass(_thing) or inspect.isfunction(_thing):
        _thing.__module__ = __name__
