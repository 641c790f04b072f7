"""Decisions that cost least, on top of gradient boosting, with a table of prices by name.

Tumours are malignant or benign. Sending somebody home who is ill is dear; a second test is cheap, but not free. The
table names true classes and what is done: any classifier that says probabilities then does what is expected to cost
least.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_score

from labelspace.sklearn import CostSensitiveClassifier, cost_scorer

PRICES = {
    "malignant": {"malignant": 0, "benign": 50, "second test": 2},
    "benign": {"malignant": 5, "benign": 0, "second test": 1},
}


def main() -> None:
    data = load_breast_cancer()
    x, y = data.data, data.target_names[data.target]
    boosting = HistGradientBoostingClassifier(max_iter=30, random_state=0)
    models = {
        "likeliest class": boosting,
        "cheapest action": CostSensitiveClassifier(boosting, PRICES),
        "calibrated too": CostSensitiveClassifier(boosting, PRICES, calibration="temperature"),
    }
    print(f"{'decisions':<18}{'mean cost in 3 folds':>22}")
    for name, model in models.items():
        costs = -cross_val_score(model, x, y, cv=3, scoring=cost_scorer(PRICES))
        print(f"{name:<18}{costs.mean():>22.3f}")


if __name__ == "__main__":
    main()
