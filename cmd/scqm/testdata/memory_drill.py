"""Fit, transform and load with little memory, and tell how it went.

The last line begins with "alive" where the interpreter outlived everything. Called
with a seed and a directory. Other libraries are imported first: what they do with
too little memory is not scqm's.
"""

import os
import random
import sys

rng = random.Random(int(sys.argv[1]))
place = sys.argv[2]
try:
    import numpy as np
    import sklearn.base  # noqa: F401  (takes memory before scqm does)
except (ImportError, MemoryError, SystemError) as error:
    print(f"alive, without numpy: {type(error).__name__}")
    sys.exit()
try:
    import scqm
    from scqm import SCQM
except MemoryError as error:
    print(f"alive, without scqm: {error}")
    sys.exit()


def rows(n, D):
    """Return rows of noise near a plane."""
    x = np.random.default_rng(1).random((n, D))
    x[:, :2] *= 10
    return x


def attempt(name, work):
    """Say whether something worked or there was no memory for it."""
    try:
        work()
    except MemoryError as error:
        print(f"{name}: {type(error).__name__}: {str(error)[:150]}")
        return False
    print(f"{name}: done")
    return True


def fit(n, D, solver, loss):
    """Fit for a short while."""
    return SCQM(2, loss=loss, solver=solver, max_iter=2, time_limit=2).fit(rows(n, D))


SHAPES = [(20000, 10), (100000, 10), (300000, 10), (10000, 784), (200000, 50)]
model = None


def small():
    """Fit what needs little memory."""
    global model
    model = SCQM(2, max_iter=5).fit(rows(300, 10))


import warnings

warnings.simplefilter("ignore")
attempt("small fit", small)
for _ in range(4):
    n, D = rng.choice(SHAPES)
    solver = rng.choice(["auto", "alternating", "newton", "lbfgs", "rgd"])
    loss = rng.choice(["l2", "l1", "squared_l2"])
    act = rng.randrange(4)
    if act == 0 and model is not None:
        attempt(f"transform {n}", lambda: model.transform(rows(n, 10)))
    elif act == 1:
        path = os.path.join(place, "model.npz")
        if model is not None:
            model.save(path)
            attempt("load", lambda: scqm.load(path))
    elif act == 2:
        attempt(f"mean {n} x {D}", lambda: scqm.frechet_mean(rows(n, D)))
    else:
        attempt(f"fit {n} x {D} {solver} {loss}", lambda: fit(n, D, solver, loss))
again = attempt("small fit again", small)
print(f"alive, {'and fits' if again else 'with no memory even for a small fit'}")
