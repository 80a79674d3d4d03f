r"""Losses of residual rows, those of the library and your own.

=================  ==========================  =====================================
class              loss of a residual row r    use it for
=================  ==========================  =====================================
:class:`L2`        \|r\|                       outliers among whole rows
:class:`L1`        sum of \|r_k\|              outliers in single entries
:class:`SquaredL2` \|r\|^2                     least squares, no outliers
:class:`Lp`        sum of \|r_k\|^p            between the two, or light tails (p > 2)
:class:`Huber`     quadratic, then linear      least squares with outlying rows
:class:`Mahalanobis` r' M r                    correlated noise of known covariance
:class:`Plugin`    that of a program           losses in any language
=================  ==========================  =====================================

Any function that takes residual rows ``R`` of shape (n, D) and returns values of
shape (n,) and gradients of shape (n, D) is a loss, and so is a subclass of
:class:`Loss`. :func:`check` tries whether one keeps the laws of losses.

:func:`estimate_power` and :func:`choose` look at residuals: what noise they are,
and which loss estimates best under it. The samplers of such noise are
:func:`scqm.datasets.generalized_gaussian_noise` and
:func:`scqm.datasets.radial_laplace_noise`.
"""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _native
from ._library import _core
from ._native import Array, Job, address, call, contiguous
from .exceptions import InputError, LossError
from .plugin._find import NAME, PREFIX

__all__ = [
    "L1",
    "L2",
    "CheckReport",
    "Choice",
    "Huber",
    "Loss",
    "LossLike",
    "Lp",
    "Mahalanobis",
    "Plugin",
    "Power",
    "SquaredL2",
    "Verdict",
    "check",
    "choose",
    "estimate_power",
    "names",
]


class Loss(ABC):
    """A loss of residual rows; subclass it to write your own.

    A subclass defines :meth:`evaluate`. It may also define

    ``weights(R)``
        weights (n, D), at least 0, of a quadratic upper bound:
        loss(r) <= loss(r0) + 1/2 sum_k w_k (r_k^2 - r0_k^2), w = weights(r0);
    ``hessian_product(R, V)``
        the products (n, D) of the Hessian at each row of R with that row of V,

    which some solvers use. Losses must be at least 0 and finite. They are never
    called from two threads at a time by one fit.

    Attributes
    ----------
    name : str
        What the loss is called in reports and files; by default the name of
        the class in small letters.

    Examples
    --------
    >>> import numpy as np
    >>> from scqm import SCQM
    >>> from scqm.losses import Loss
    >>> class LogCosh(Loss):
    ...     def evaluate(self, R):
    ...         a = np.abs(R)
    ...         values = (a + np.log1p(np.exp(-2 * a)) - np.log(2)).sum(axis=1)
    ...         return values, np.tanh(R)
    >>> t = np.linspace(-1, 1, 50)
    >>> X = np.column_stack([t, t**2])
    >>> SCQM(1, loss=LogCosh()).fit(X).loss_.name
    'log_cosh'
    """

    name: str = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()

    @abstractmethod
    def evaluate(self, R: Array) -> tuple[npt.ArrayLike, npt.ArrayLike]:
        """Return values and gradients of residual rows.

        Parameters
        ----------
        R : ndarray of shape (n, D)
            Residual rows, float64. The array is yours.

        Returns
        -------
        values : array-like of shape (n,)
            The loss of every row; it depends on that row only.
        gradients : array-like of shape (n, D)
            Its gradient, at a kink any subgradient.
        """

    # What the library is told about the loss.

    def _choice(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "python": True,
            "weights": callable(getattr(self, "weights", None)),
            "hessian": callable(getattr(self, "hessian_product", None)),
        }

    def _matrix(self) -> Array | None:
        return None


# The name that leaves the choice to the residuals.
AUTO = "auto"

#: What a parameter ``loss`` may be.
LossLike: TypeAlias = (
    str | Loss | Callable[[Array], tuple[npt.ArrayLike, npt.ArrayLike]]
)


class _Function(Loss):
    """A function as a loss."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = str(getattr(function, "__name__", type(function).__name__))

    def evaluate(self, R: Array) -> tuple[npt.ArrayLike, npt.ArrayLike]:
        result: tuple[npt.ArrayLike, npt.ArrayLike] = self.function(R)
        return result


class _Native(Loss):
    """A loss of the library. Equal losses compare equal."""

    def _params(self) -> dict[str, Any]:
        return dict(vars(self))

    def _choice(self) -> dict[str, Any]:
        return {"name": self.name, **self._params()}

    def evaluate(self, R: npt.ArrayLike) -> tuple[Array, Array]:
        """Return values and gradients of residual rows.

        Parameters
        ----------
        R : array-like of shape (n, D)
            Residual rows.

        Returns
        -------
        values : ndarray of shape (n,)
        gradients : ndarray of shape (n, D)

        Examples
        --------
        >>> from scqm.losses import L2
        >>> values, gradients = L2().evaluate([[0.0, 2.0]])
        >>> values.tolist(), gradients.tolist()
        ([2.0], [[0.0, 1.0]])
        """
        rows = contiguous(R)
        if rows.ndim != 2:
            raise InputError(
                f"residuals have {rows.ndim} dimensions; want rows, (n, D)"
            )
        values, gradients = np.empty(len(rows)), np.empty(rows.shape)
        matrix = self._matrix()
        with Job(rows, values, gradients, matrix) as job:
            job.start(
                _core.bindings_StartLoss,
                json.dumps(self._choice()),
                address(matrix),
                address(rows),
                len(rows),
                rows.shape[1],
                address(values),
                address(gradients),
            ).wait()
        return values, gradients

    def __repr__(self) -> str:
        params = ", ".join(f"{k}={v!r}" for k, v in vars(self).items() if v is not None)
        return f"{type(self).__name__}({params})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))


class L1(_Native):
    r"""Sum of \|r_k\|: outliers in single entries, independent Laplace noise."""


class L2(_Native):
    r"""Norm \|r\|: outliers among whole rows, isotropic Laplace noise."""


class SquaredL2(_Native):
    r"""Squared norm \|r\|^2: least squares, Gaussian noise without outliers."""

    name = "squared_l2"


class Lp(_Native):
    r"""Sum of \|r_k\|^p: generalised Gaussian noise.

    Parameters
    ----------
    p : float
        Power, at least 1.
    """

    def __init__(self, p: float) -> None:
        self.p = _number("p", p)


class Huber(_Native):
    r"""Half of \|r\|^2 where \|r\| <= delta, else delta \|r\| - delta^2/2.

    Parameters
    ----------
    delta : float, optional
        The norm at which the loss turns linear, above 0, in the unit of the
        data. By default 1.345 times a robust scale of the residuals of the best
        flat sheet, computed in ``fit``.
    """

    def __init__(self, delta: float | None = None) -> None:
        self.delta = None if delta is None else _number("delta", delta)


class Mahalanobis(_Native):
    """The form r'Mr: Gaussian noise with the covariance M^-1.

    Parameters
    ----------
    M : array-like of shape (D, D)
        Symmetric positive definite matrix.
    """

    def __init__(self, M: npt.ArrayLike) -> None:
        matrix = np.array(M, dtype=np.float64, order="C")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
            raise InputError(f"precision has shape {matrix.shape}; want (D, D)")
        matrix.flags.writeable = False
        self.M = matrix

    def _params(self) -> dict[str, Any]:
        return {"precision_size": len(self.M)}

    def _matrix(self) -> Array | None:
        return self.M

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mahalanobis) and np.array_equal(self.M, other.M)

    def __hash__(self) -> int:
        return hash(self.M.tobytes())


class Plugin(_Native):
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
        self.timeout = None if timeout is None else _number("timeout", timeout)
        self.params = params
        # The name of the loss, where a model was learned with it.
        self._learned: str | None = None

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
        from scqm.plugin import PluginNotFoundError, find

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


_BY_NAME: dict[str, type[_Native]] = {
    c.name: c for c in (L1, L2, SquaredL2, Lp, Huber, Mahalanobis)
}


class _Registered(_Native):
    """A loss that the library knows under a name, with its parameters."""

    def __init__(self, name: str, extra: dict[str, float]) -> None:
        self.name = name
        self.extra = extra

    def _params(self) -> dict[str, Any]:
        return {"extra": self.extra}

    def __hash__(self) -> int:
        return hash((self.name, *sorted(self.extra.items())))


def names() -> list[str]:
    """Return the names of the losses of the library.

    Examples
    --------
    >>> import scqm.losses
    >>> "huber" in scqm.losses.names()
    True
    """
    return [loss["name"] for loss in json.loads(call(_core.bindings_Losses))]


def resolve(
    loss: LossLike,
    p: float | None = None,
    delta: float | None = None,
    precision: npt.ArrayLike | None = None,
    *,
    shown: object = None,
) -> Loss:
    """Return the loss that the parameters of an estimator stand for.

    Errors about the parameters name what is shown, by default the loss.
    """
    given = {
        name: value
        for name, value in (("p", p), ("delta", delta), ("precision", precision))
        if value is not None
    }
    if isinstance(loss, str):
        return _by_name(loss, given, loss if shown is None else shown)
    if given:
        raise InputError(
            f"{', '.join(given)} goes with a loss given by name; give {loss!r} its "
            "parameters itself"
        )
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, type) and issubclass(loss, Loss):
        raise InputError(f"loss is the class {loss.__name__}; want an object of it")
    if callable(loss):
        return _Function(loss)
    raise InputError(
        f"loss is {loss!r}; want a name ({', '.join(names())}), a Loss or a function "
        "of residual rows"
    )


def _by_name(name: str, given: dict[str, Any], shown: object) -> Loss:
    wanted = {"lp": "p", "huber": "delta", "mahalanobis": "precision"}.get(name)
    for other in given:
        if other != wanted and name in _BY_NAME:
            raise InputError(f"loss {shown!r} takes no {other}")
    if name == "huber":
        return Huber(given.get("delta"))
    if wanted is not None and wanted not in given:
        raise InputError(f"loss {name!r} needs {wanted}")
    if name in _BY_NAME:
        return _BY_NAME[name](*given.values())
    if name not in names():
        # The library has the better message: it knows names that are near.
        _Registered(name, {}).evaluate(np.zeros((1, 1)))
    return _Registered(name, {k: _number(k, v) for k, v in given.items()})


def from_report(report: dict[str, Any], matrix: Array | None) -> Loss | None:
    """Return the loss of a model file, None where it is not known here."""
    name, params = report["name"], report.get("params") or {}
    if program := report.get("plugin"):
        params = json.loads(program["params"])
        return Plugin._of(program["name"], program["sha256"], None, params)
    if name == "mahalanobis" and matrix is not None:
        return Mahalanobis(matrix)
    if name in _BY_NAME:
        return _BY_NAME[name](**params)
    return _Registered(name, params) if name in names() else None


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool | np.bool_ | str):
        raise InputError(f"{name} is {value!r}; want a number")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; want a number") from None
    if not np.isfinite(number):
        raise InputError(f"{name} is {number}; want a finite number")
    return number


def answer(loss: Loss, job: Job, state: Array) -> None:
    """Answer a question of a job about rows with a loss written in Python."""
    rows, columns = int(state[_native.ROWS]), int(state[_native.COLUMNS])
    question = int(state[_native.QUESTION])
    R = np.empty((rows, columns))
    V = np.empty((rows, columns)) if question == _native.QUESTION_HESSIAN else None
    call(_core.bindings_FetchRows, job.number, address(R), address(V))
    values = gradients = None
    if question == _native.QUESTION_LOSS:
        values, gradients = _evaluate(loss, R, rows, columns)
    elif question == _native.QUESTION_WEIGHTS:
        gradients = _rows(loss, "weights", loss.weights(R), (rows, columns))  # type: ignore[attr-defined]
    else:
        product = loss.hessian_product(R, V)  # type: ignore[attr-defined]
        gradients = _rows(loss, "hessian_product", product, (rows, columns))
    call(_core.bindings_AnswerRows, job.number, address(values), address(gradients))


def _evaluate(loss: Loss, R: Array, rows: int, columns: int) -> tuple[Array, Array]:
    result = loss.evaluate(R)
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise LossError(
            f"loss {loss.name}: returned {type(result).__name__}; want a pair of "
            "values and gradients"
        )
    values = _rows(loss, "values", result[0], (rows,))
    return values, _rows(loss, "gradients", result[1], (rows, columns))


def _rows(loss: Loss, what: str, value: Any, shape: tuple[int, ...]) -> Array:
    array = np.asarray(value)
    if array.shape != shape:
        raise LossError(
            f"loss {loss.name}: {what} has shape {array.shape}; want {shape}"
        )
    if not np.can_cast(array.dtype, np.float64, "same_kind"):
        raise LossError(
            f"loss {loss.name}: {what} has dtype {array.dtype}; want real numbers"
        )
    return contiguous(array)


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


@dataclass(frozen=True)
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
    with Job(matrix, answer=lambda job, state: answer(resolved, job, state)) as job:
        job.start(
            _core.bindings_StartLossCheck, json.dumps(settings), address(matrix)
        ).wait()
        verdicts = json.loads(call(_core.bindings_CheckReport, job.number))
    return CheckReport(resolved.name, tuple(Verdict(**v) for v in verdicts))


@dataclass(frozen=True)
class Power:
    r"""Generalised Gaussian noise, of density exp(-\|e / scale\|^p), as estimated.

    Attributes
    ----------
    p : float
        The power: 1 for Laplace noise, 2 for Gaussian.
    p_error : float
        Its standard error; infinite where the residuals leave the power open.
    scale : float
        In the unit of the residuals.
    """

    p: float
    p_error: float
    scale: float


def estimate_power(
    residuals: npt.ArrayLike, parts: npt.ArrayLike | None = None
) -> Power:
    """Estimate generalised Gaussian noise by maximum likelihood.

    Parameters
    ----------
    residuals : array-like
        Noise, or residuals of a fit; at least 10 that are not 0. Residuals of few
        directions off a sheet tell less than they seem to: see ``parts``.
    parts : array-like, optional
        For each residual the part of the variance of the noise that the fit has
        left in it, above 0 and up to 1: :meth:`scqm.SCQM.residual_parts`. By
        default 1, the noise itself.

    Returns
    -------
    Power
        The power with its standard error, and the scale.

    Raises
    ------
    InputError
        Residuals that say nothing about the noise; a ValueError.

    Examples
    --------
    >>> from scqm.datasets import generalized_gaussian_noise
    >>> from scqm.losses import estimate_power
    >>> noise = generalized_gaussian_noise((500, 10), p=1.0, random_state=0)
    >>> estimate = estimate_power(noise)
    >>> abs(estimate.p - 1.0) < 2 * estimate.p_error
    True
    """
    e = _finite("residuals", residuals).ravel()
    h = None
    if parts is not None:
        h = _shares(parts, np.shape(residuals)).ravel()
    with Job(e, h) as job:
        job.start(_core.bindings_StartPower, address(e), len(e), address(h)).wait()
        report = json.loads(call(_core.bindings_NoiseReport, job.number))
    error = float("inf") if report["p_error"] is None else report["p_error"]
    return Power(report["p"], error, report["scale"])


@dataclass(frozen=True)
class Choice:
    """A loss with the reason for it.

    Attributes
    ----------
    loss : Loss
        The loss; L2 where the residuals cannot tell.
    decided : bool
        Whether they can.
    reason : str
        A sentence.
    """

    loss: Loss
    decided: bool
    reason: str


def choose(
    residuals: npt.ArrayLike, n_components: int, parts: npt.ArrayLike | None = None
) -> Choice:
    """Choose a loss by the residuals of a fit, as ``SCQM(loss="auto")`` does.

    It compares the variance that estimates by each loss would have under noise
    such as the residuals, and keeps L2 unless another is better by more than
    chance. With fewer than 4 directions off the sheet residuals cannot tell.

    Parameters
    ----------
    residuals : array-like of shape (n, D)
        Rows less their points of the sheet.
    n_components : int
        Dimension d of the sheet.
    parts : array-like of shape (n, D), optional
        As for :func:`estimate_power`; by default 1 - d/D.

    Returns
    -------
    Choice
        The loss and why.

    Examples
    --------
    >>> from scqm.datasets import generalized_gaussian_noise
    >>> from scqm.losses import choose
    >>> noise = generalized_gaussian_noise((200, 12), p=1.0, random_state=0)
    >>> choose(noise, 0).loss.name in ("l1", "lp")
    True
    """
    e = _finite("residuals", residuals)
    if e.ndim != 2:
        raise InputError(f"residuals have {e.ndim} dimensions; want rows, (n, D)")
    d = int(_number("n_components", n_components))
    if not 0 <= d < e.shape[1]:
        raise InputError(f"n_components is {d}; want 0 to {e.shape[1] - 1}")
    h = (
        np.full(e.shape, 1 - d / e.shape[1])
        if parts is None
        else _shares(parts, e.shape)
    )
    with Job(e, h) as job:
        job.start(
            _core.bindings_StartChoice,
            address(e),
            len(e),
            e.shape[1],
            d,
            address(h),
        ).wait()
        report = json.loads(call(_core.bindings_NoiseReport, job.number))
    loss = from_report(report["loss"], None) or L2()
    return Choice(loss, report["decided"], report["reason"])


def _finite(name: str, value: npt.ArrayLike) -> Array:
    array = contiguous(value)
    if not np.isfinite(array).all():
        raise InputError(f"{name} have NaN or infinite entries; remove them first")
    return array


def _shares(value: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
    parts = contiguous(value)
    if parts.shape != shape:
        raise InputError(f"parts have shape {parts.shape}; want {shape}")
    if not ((parts > 0) & (parts <= 1)).all():
        raise InputError("parts are not all above 0 and up to 1")
    return parts
