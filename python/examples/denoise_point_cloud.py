"""Clean a scanned surface: move the points of a cloud onto it, and judge them.

The rows are a noisy torus among dust, whose true surface is known. The report tells the
dust from points; cross-validation chooses what methods with parameters need.
"""

import numpy as np
from sklearn.model_selection import GridSearchCV

from scqm import ManifoldDenoiser
from scqm.datasets import make_torus


def error(points: np.ndarray) -> float:
    """Return the root mean square distance of points from the torus."""
    axis = np.hypot(points[:, 0], points[:, 1]) - 2
    return float(np.sqrt(((np.hypot(axis, points[:, 2]) - 1) ** 2).mean()))


if __name__ == "__main__":
    n = 400
    X, _ = make_torus(n, radius=2, tube=1, noise=0.1, random_state=0)
    dust = np.random.default_rng(0).uniform(-3, 3, size=(30, 3))
    cloud = np.vstack([X, dust])

    # The method "auto" chooses the size of neighbourhoods by itself, and its
    # loss is not moved by dust.
    denoiser = ManifoldDenoiser(n_components=2)
    points = denoiser.fit_transform(cloud)
    report = denoiser.report_
    print(f"from the torus: {error(X):.4f} before, {error(points[:n]):.4f} after")
    noise = np.median(report.noise)
    size = np.median(report.n_neighbors)
    print(f"noise of about {noise:.3f}, judged by {size:.0f} neighbours")

    # What moved much further than noise explains is no point of the surface.
    stray = report.unchanged | (report.residual > 4 * noise)
    print(
        f"taken for dust: {stray[n:].sum()} of {len(dust)} points of it, "
        f"{stray[:n].sum()} of {n} others"
    )

    # New points are denoised by those fitted, each on its own.
    more, _ = make_torus(100, radius=2, tube=1, noise=0.1, random_state=1)
    moved = denoiser.transform(more)
    print(f"new points: {error(more):.4f} before, {error(moved):.4f} after")

    # Other methods have no such choice; cross-validation finds the neighbours.
    search = GridSearchCV(
        ManifoldDenoiser(method="mls"), {"n_neighbors": [12, 20, 40, 160]}, cv=3
    ).fit(X)
    best = search.best_params_["n_neighbors"]
    print(f"mls with {best} neighbours: {error(search.transform(X)):.4f} after")
