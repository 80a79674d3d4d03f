"""The checks of scikit-learn, with every loss and solver of SCQM and every method."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from scqm import SCQM, ManifoldDenoiser, losses, solvers

# The matrix of mahalanobis fits one number of columns, spheres of apss one dimension;
# the checks have tables of several.
LOSSES = ["auto", *(name for name in losses.names() if name != "mahalanobis")]
METHODS = [name for name in ManifoldDenoiser.methods() if name not in ("apss", "pca")]


def estimators() -> list[SCQM]:
    """Return one for each loss and one for each solver, of curves and of surfaces."""
    return [
        *(
            SCQM(d, loss=loss, p=1.5 if loss == "lp" else None)
            for d in (1, 2)
            for loss in LOSSES
        ),
        *(SCQM(d, solver=solver) for d in (1, 2) for solver in solvers.names()),
        SCQM(1, loss="huber", delta=0.1, ridge=0.1),
    ]


# scikit-learn has no types.
@parametrize_with_checks(estimators())  # type: ignore[untyped-decorator]
def test_scqm(estimator: SCQM, check: Any) -> None:
    check(estimator)


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        *(ManifoldDenoiser(d, method=method) for d in (1, 2) for method in METHODS),
        ManifoldDenoiser(method="pca"),
    ]
)
@pytest.mark.filterwarnings("ignore:ManifoldDenoiser:UserWarning")
def test_denoiser(estimator: ManifoldDenoiser, check: Any) -> None:
    check(estimator)
