"""The estimator that learns a sheet from rows that Dask holds."""

from __future__ import annotations

from .._estimator import SCQM as InMemory


# scikit-learn has no types, which is what mypy minds.
class SCQM(InMemory):
    """Robust subspace-constrained quadratic model of rows that Dask holds."""
