"""Try the laws of losses on a loss, in this process.

``scqm plugin check`` tries more, on the finished plugin; this is for tests and
notebooks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scqm.plugin._loss import Array, Loss, check_declaration

_ROWS, _DIM = 16, 5
_TOLERANCE = 1e-9
_SLOPE_TOLERANCE = 0.1
_ROUNDING = 2.0**-53


@dataclass(frozen=True)
class Verdict:
    """The outcome of one law."""

    law: str
    ok: bool
    detail: str


@dataclass
class CheckReport:
    """The outcome of all laws that apply to a loss."""

    loss: str
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether every law holds."""
        return all(v.ok for v in self.verdicts)

    @property
    def broken(self) -> list[str]:
        """The laws that do not hold."""
        return [v.law for v in self.verdicts if not v.ok]

    def __str__(self) -> str:
        return "\n".join(f"{v.law}: {v.detail}" for v in self.verdicts)


class _BrokenLawError(Exception):
    pass


def _insist(holds: Any, detail: str) -> None:
    if not np.all(holds):
        raise _BrokenLawError(detail)


def check(loss: Loss | type[Loss], *, seed: int = 0) -> CheckReport:
    """Try the laws of losses on random residual rows.

    Parameters
    ----------
    loss : Loss or subclass of Loss
        A class is tried with the defaults of its parameters.
    seed : int
        Seed of the residuals.

    Returns
    -------
    CheckReport
        One verdict per law; the first three laws are needed for the others.
    """
    if isinstance(loss, type):
        loss = loss()
    check_declaration(loss)
    rng = np.random.default_rng(seed)
    dim = loss.dim or _DIM
    r = rng.choice([-1.0, 1.0], (_ROWS, dim)) * (
        0.05 + np.abs(rng.normal(size=(_ROWS, dim)))
    )
    report = CheckReport(loss.name)
    laws = _laws(loss, r, rng)
    for number, (law, trial) in enumerate(laws):
        try:
            with np.errstate(all="ignore"):
                trial()
            report.verdicts.append(Verdict(law, True, "holds"))
        except Exception as e:
            text = (
                str(e) if isinstance(e, _BrokenLawError) else f"{type(e).__name__}: {e}"
            )
            report.verdicts.append(Verdict(law, False, text))
            if number < 3:
                break
    return report


def _laws(
    loss: Any, r: Array, rng: np.random.Generator
) -> list[tuple[str, Callable[[], None]]]:
    laws: list[tuple[str, Callable[[], None]]] = [
        ("shapes", lambda: _shapes(loss, r)),
        ("finite", lambda: _finite(loss, r)),
        (
            "not negative",
            lambda: _insist(
                loss.evaluate(r)[0] >= 0, f"a value is {np.min(loss.evaluate(r)[0])}"
            ),
        ),
        ("residuals kept", lambda: _kept(loss, r)),
        (
            "deterministic",
            lambda: _same(
                loss.evaluate(r), loss.evaluate(r.copy()), "a second evaluation"
            ),
        ),
        ("batch equals single", lambda: _single(loss, r)),
        ("empty batch", lambda: _shapes(loss, r[:0])),
        ("zero residual", lambda: _finite(loss, np.zeros((1, r.shape[1])))),
        ("gradient slope", lambda: _gradient(loss, r, rng.normal(size=r.shape))),
    ]
    if loss.convex:
        laws.append(("convex", lambda: _convex(loss, r, rng.normal(size=r.shape))))
    if loss.structure != "black box":
        laws.append(("profile", lambda: _profile(loss, r)))
    if loss.offers("weights"):
        laws.append(("majorizer", lambda: _majorizer(loss, r, rng)))
    if loss.offers("hessian_product"):
        laws.append(
            ("Hessian product", lambda: _hessian(loss, r, rng.normal(size=r.shape)))
        )
    return laws


def _shapes(loss: Any, r: Array) -> None:
    values, gradients = loss.evaluate(r)
    _insist(
        np.shape(values) == r.shape[:1],
        f"values have shape {np.shape(values)}, want {r.shape[:1]}",
    )
    _insist(
        np.shape(gradients) == r.shape,
        f"gradients have shape {np.shape(gradients)}, want {r.shape}",
    )


def _finite(loss: Any, r: Array) -> None:
    for what, x in zip(("value", "gradient"), loss.evaluate(r), strict=True):
        _insist(np.isfinite(x), f"a {what} is not finite")


def _kept(loss: Any, r: Array) -> None:
    copy = r.copy()
    loss.evaluate(copy)
    _insist(copy == r, "evaluate changes its argument")


def _same(a: tuple[Array, Array], b: tuple[Array, Array], what: str) -> None:
    for x, y in zip(a, b, strict=True):
        _insist(np.asarray(x) == np.asarray(y), f"{what} gives other numbers")


def _single(loss: Any, r: Array) -> None:
    values, gradients = loss.evaluate(r)
    for i in range(len(r)):
        _same(
            loss.evaluate(r[i : i + 1]),
            (values[i : i + 1], gradients[i : i + 1]),
            f"row {i} alone",
        )


def _slope(remainder: Callable[[float], tuple[float, float]]) -> float:
    """Return the order of a Taylor remainder, infinite where there is none."""
    points = []
    for k in range(1, 40):
        t = 2.0**-k
        error, size = remainder(t)
        if not np.isfinite(error):
            raise _BrokenLawError(f"the remainder at step {t} is {error}")
        if error <= 1e4 * _ROUNDING * size:
            break
        points.append((np.log(t), np.log(error)))
    if len(points) < 8:
        return float("inf")
    x, y = np.array(points[-5:]).T
    return float(np.polyfit(x, y, 1)[0])


def _gradient(loss: Any, r: Array, v: Array) -> None:
    values, gradients = loss.evaluate(r)
    v = 0.02 * v
    for i in range(len(r)):
        slope = gradients[i] @ v[i]

        def remainder(
            t: float, i: int = i, slope: float = slope
        ) -> tuple[float, float]:
            moved = loss.evaluate(r[i : i + 1] + t * v[i : i + 1])[0][0]
            return abs(moved - values[i] - t * slope), abs(values[i])

        order = _slope(remainder)
        _insist(
            order >= 2 - _SLOPE_TOLERANCE,
            "the gradients are not the derivatives of the values "
            f"(Taylor slope {order:.2f} in row {i}, want 2)",
        )


def _convex(loss: Any, r: Array, s: Array) -> None:
    a, b, middle = (np.asarray(loss.evaluate(x)[0]) for x in (r, s, (r + s) / 2))
    _insist(
        middle <= (a + b) / 2 + _TOLERANCE * (a + b),
        "a midpoint lies above its chord; if that is meant, set convex = False",
    )


def _profile(loss: Any, r: Array) -> None:
    values, gradients = loss.evaluate(r)
    if loss.structure == "radial":
        u = (r * r).sum(axis=1)
        phi, slope, _ = loss.profile(u)
        total, want = phi, 2 * slope[:, None] * r
        at = u
    else:
        at = r.reshape(-1)
        phi, slope, _ = loss.profile(at)
        total, want = phi.reshape(r.shape).sum(axis=1), slope.reshape(r.shape)
    _insist(
        np.isclose(total, values, rtol=_TOLERANCE),
        "its values are not those of evaluate",
    )
    _insist(
        np.isclose(want, gradients, rtol=_TOLERANCE, atol=1e-12),
        "its slopes are not those of evaluate",
    )
    h = 1e-5 * np.maximum(np.abs(at), 1e-3)
    second = (loss.profile(at + h)[1] - loss.profile(at - h)[1]) / (2 * h)
    _insist(
        np.isclose(loss.profile(at)[2], second, rtol=1e-4, atol=1e-6),
        "its second derivatives are not those of its first",
    )


def _majorizer(loss: Any, r: Array, rng: np.random.Generator) -> None:
    want = r.shape[:1] if loss.structure == "radial" else r.shape
    w = np.asarray(loss.weights(r))
    _insist(w.shape == want, f"weights have shape {w.shape}, want {want}")
    _insist(np.isfinite(w) & (w >= 0), "a weight is negative or not finite")
    if w.ndim == 1:
        w = w[:, None]
    values = loss.evaluate(r)[0]
    for scale in (0.1, 1, 10):
        s = scale * rng.normal(size=r.shape)
        bound = values + (w * (s * s - r * r)).sum(axis=1) / 2
        size = values + np.abs(w * (s * s + r * r)).sum(axis=1)
        _insist(
            loss.evaluate(s)[0] <= bound + _TOLERANCE * size,
            "the quadratic lies below the loss somewhere",
        )


def _hessian(loss: Any, r: Array, v: Array) -> None:
    product = loss.hessian_product(r, v)
    _insist(
        np.shape(product) == r.shape,
        f"products have shape {np.shape(product)}, want {r.shape}",
    )
    h = 1e-6
    want = (loss.evaluate(r + h * v)[1] - loss.evaluate(r - h * v)[1]) / (2 * h)
    _insist(
        np.isclose(product, want, rtol=1e-4, atol=1e-6),
        "it is not the derivative of the gradient",
    )
