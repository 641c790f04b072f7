"""Which label space, and how much of it: scikit-learn's GridSearchCV over strengths and spaces.

A small network learns handwritten digits where a mistake costs the square of its distance. Cross-validation on the
training images compares label spaces and strengths by that cost; test images are looked at once, at the end.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, train_test_split

from labelspace import uniform
from labelspace.sklearn import LabelSpaceClassifier, cost_scorer

DIGITS = [str(digit) for digit in range(10)]


def main() -> None:
    x, y = load_digits(return_X_y=True)
    x, x_test, y, y_test = train_test_split(x, y, train_size=500, stratify=y, random_state=0)
    network = LabelSpaceClassifier("semantic", space="ordinal", model="mlp-32-2", epochs=10, learning_rate=0.01)
    network.set_params(random_state=0)
    grid = [
        {"method": ["onehot"], "space": [None]},
        {"space": ["ordinal", uniform(DIGITS)], "smoothing": [0.2, 0.5]},
    ]
    cost = cost_scorer("squared", names=range(10))
    search = GridSearchCV(network, grid, scoring=cost, cv=2).fit(x, y)
    print(f"{'labels':<10}{'strength':>10}{'cost in 2 folds':>18}")
    for options, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        known = {None: "one-hot", "ordinal": "ordinal"}
        space = options["space"]
        name = known[space] if space is None or isinstance(space, str) else "uniform"
        print(f"{name:<10}{options.get('smoothing', 0.0):>10}{-score:>18.2f}")
    print(f"cost of the best on {len(y_test)} test images: {-search.score(x_test, y_test):.2f}")


if __name__ == "__main__":
    main()
