"""Settings of all tests, made before anything is imported."""

import os

# The checks of scikit-learn then try arrays of other libraries too.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
