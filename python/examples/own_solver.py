"""Minimise the objective of a fit with a solver of your own.

The problem computes costs, gradients, projections and retractions in the library; the
solver says where to go. The library's own solver is beside it.
"""

from scqm import SCQM, Problem, Solver
from scqm.datasets import make_sphere
from scqm.solvers import Point


class SteepestDescent(Solver):
    """Riemannian gradient descent with Barzilai-Borwein steps."""

    def minimize(self, problem: Problem, x0: Point) -> Point:
        """Look for a point of low cost."""
        x, step = x0, 1e-3
        cost, gradient = problem.cost_and_gradient(x)
        for _ in range(problem.max_iter or 300):
            trial = problem.retract(x, [-step * g for g in gradient])
            new_cost, new_gradient = problem.cost_and_gradient(trial)
            if not new_cost < cost:
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
            x, cost, gradient = trial, new_cost, new_gradient
        return x


X, _ = make_sphere(200, noise=0.05, random_state=0)
X = X[X[:, 2] > 0]
for solver in (SteepestDescent(), "auto"):
    model = SCQM(2, loss="squared_l2", solver=solver).fit(X)
    print(f"{model.solver_:16} objective {model.objective_:.6f}, {model.status_}")
