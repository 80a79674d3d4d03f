"""Clean a scanned surface: move the points of a cloud onto it, and judge them."""

import numpy as np
from sklearn.model_selection import GridSearchCV

from scqm import ManifoldDenoiser
from scqm.datasets import make_torus

if __name__ == "__main__":
    X, clean = make_torus(2000, noise=0.05, random_state=0)
    rng = np.random.default_rng(0)
    stray = rng.uniform(-1.5, 1.5, size=(100, 3))
    cloud = np.vstack([X, stray])  # the scanner also saw dust

    def error(rows: np.ndarray) -> float:
        """Return the root mean square distance from the points without noise."""
        return float(np.sqrt(((rows[: len(X)] - clean) ** 2).sum(axis=1).mean()))

    # The method "auto" chooses the size of neighbourhoods by itself, and its
    # loss is not moved by dust.
    denoiser = ManifoldDenoiser(n_components=2)
    rows = denoiser.fit_transform(cloud)
    report = denoiser.report_
    print(
        f"distance from the truth: {error(cloud):.4f} before, {error(rows):.4f} after"
    )
    print(
        f"noise about {np.median(report.noise):.3f} in the direction away from the "
        f"surface, by {int(np.median(report.n_neighbors))} neighbours"
    )

    # Points that moved much further than noise explains are no points of it.
    dust = report.unchanged | (report.residual > 4 * np.median(report.noise))
    print(
        f"taken for dust: {dust[len(X) :].sum()} of 100, and {dust[: len(X)].sum()} others"
    )

    # New points are denoised by those fitted, each on its own.
    more, _ = make_torus(500, noise=0.05, random_state=1)
    moved = np.linalg.norm(denoiser.transform(more) - more, axis=1)
    print(f"new points moved by {np.median(moved):.3f}")

    # Other methods have no such choice; cross-validation finds the neighbours.
    search = GridSearchCV(
        ManifoldDenoiser(method="mls"),
        {"n_neighbors": [12, 20, 30, 50, 80]},
        cv=3,
        n_jobs=2,
    ).fit(X)
    best = search.best_estimator_
    print(
        f"mls with {search.best_params_['n_neighbors']} neighbours: "
        f"{error(best.transform(X)):.4f} after"
    )
