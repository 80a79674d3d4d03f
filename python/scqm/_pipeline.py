"""The model at the end of a pipeline, and the rows that reach it."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ._estimator import SCQM
from .exceptions import InputError


def last_step(model: Any, X: Any = None) -> tuple[SCQM, Any, list[str] | None]:
    """Return the model, the rows as it gets them, and the names of their columns.

    Searches give their best estimator, and pipelines their last step.
    """
    model = getattr(model, "best_estimator_", model)
    names: Any = None
    if isinstance(model, Pipeline):
        before, model = model[:-1], model[-1]
        try:
            names = before.get_feature_names_out(getattr(X, "columns", None))
        except (AttributeError, ValueError):  # a step without names
            names = None
        X = X if X is None or not len(before) else before.transform(X)
    if not isinstance(model, SCQM):
        raise InputError(
            f"{type(model).__name__} is no SCQM, nor a pipeline that ends in one"
        )
    check_is_fitted(model)
    own = getattr(model, "feature_names_in_", names)
    return model, X, None if own is None else [str(name) for name in own]
