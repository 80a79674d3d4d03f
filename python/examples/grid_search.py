"""Choose the loss and the ridge by cross-validation in a pipeline.

Nothing in it is special to scqm: the estimator is a step of a pipeline of scikit-learn,
and its score is what the search compares.
"""

from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scqm import SCQM
from scqm.datasets import make_swiss_roll

if __name__ == "__main__":
    X, _ = make_swiss_roll(120, turns=0.25, noise=0.3, random_state=0)
    # One loss at a time: scores are mean losses, and those of different losses
    # cannot be compared.
    search = GridSearchCV(
        make_pipeline(StandardScaler(), SCQM(loss="squared_l2")),
        {"scqm__n_curvature": [1], "scqm__ridge": [0.0, 0.01, 0.1, 1.0]},
        cv=3,
        n_jobs=2,
    ).fit(X)
    print("best:", search.best_params_)
    for ridge, score in zip(
        search.cv_results_["param_scqm__ridge"],
        search.cv_results_["mean_test_score"],
        strict=True,
    ):
        print(f"ridge {ridge}: mean loss of left out rows {-score:.5f}")
