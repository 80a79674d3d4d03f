"""Minimise the objective of a fit with a solver of your own.

The problem computes costs, gradients, projections and retractions in the library; the
solver says where to go. The library judges what it finds, and its own solver is beside
it.
"""

import numpy as np

from scqm import SCQM
from scqm.solvers import Point, Problem, Solver


class SteepestDescent(Solver):
    """Riemannian gradient descent with Barzilai-Borwein steps.

    These steps are as long as the curvature along the last one says, and the cost may
    rise for a while: the highest of the last ten costs counts (Grippo, Lampariello and
    Lucidi 1986). Where it has to fall every time, they gain nothing.
    """

    def minimize(self, problem: Problem, x0: Point) -> Point:
        """Look for a point of low cost and small gradient."""
        x, step = x0, 1e-3
        cost, gradient = problem.cost_and_gradient(x)
        recent = [cost]
        for _ in range(problem.max_iter or 2000):
            trial = problem.retract(x, [-step * g for g in gradient])
            new_cost, new_gradient = problem.cost_and_gradient(trial)
            if not new_cost < max(recent[-10:]):
                step /= 4
                if step < 1e-12:
                    break
                continue
            # How far did the gradient change along the step?
            moved = problem.project(trial, [-step * g for g in gradient])
            change = [b - a for a, b in zip(gradient, new_gradient, strict=True)]
            curvature = problem.inner(trial, moved, change)
            length = problem.inner(trial, moved, moved)
            step = length / curvature if curvature > 0 else 2 * step
            x, gradient = trial, new_gradient
            recent.append(new_cost)
            if problem.norm(x, gradient) < 1e-7:
                break
        return x


rng = np.random.default_rng(0)
t = np.linspace(-1, 1, 60)
X = np.column_stack([t, t**2, np.zeros(60)]) + 0.05 * rng.normal(size=(60, 3))
for solver in (SteepestDescent(), "auto"):
    model = SCQM(1, loss="squared_l2", solver=solver).fit(X)
    print(f"{model.solver_:16} objective {model.objective_:.6f}, {model.status_}")
