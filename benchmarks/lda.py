"""How much faster is our discriminant solver than scikit-learn's, and do both put the classes in the same place?

Run ``python benchmarks/lda.py [--dataset mnist|fashion-mnist|synthetic] [--record]``. Both solvers get the same
60,000×784 array, in turns in this process; the best of the rounds counts.
"""

import argparse
import gzip
import os
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from labelspace.sources.lda import discriminant_means
from results import record

HERE = Path(__file__).resolve().parent
Floats = NDArray[np.floating]
Labels = NDArray[np.int64]


def data_folder() -> Path:
    beside = HERE.parents[1] / "shared" / "data"
    return Path(os.environ.get("LABELSPACE_DATA", beside))


def load(dataset: str) -> tuple[str, Floats, Labels]:
    folder = data_folder() / dataset
    if dataset == "synthetic" or not folder.is_dir():
        return "synthetic", *synthetic()
    pixels = gzip.decompress((folder / "train-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((folder / "train-labels-idx1-ubyte.gz").read_bytes())
    x = np.frombuffer(pixels, np.uint8, offset=16).reshape(-1, 784) / 255
    return dataset, x, np.frombuffer(labels, np.uint8, offset=8).astype(np.int64)


def synthetic(samples: int = 60_000, features: int = 784, classes: int = 10) -> tuple[Floats, Labels]:
    """Return data as sparse as digits: four of five numbers are zero, some features nearly always or always."""
    generator = np.random.default_rng(0)
    y = generator.integers(classes, size=samples)
    y[:classes] = np.arange(classes)
    hidden = generator.normal(size=(classes, 40))[y] + generator.normal(size=(samples, 40))
    x = hidden @ generator.normal(size=(40, features)) / 6 + generator.normal(size=(samples, features)) / 4
    x = np.maximum(x - generator.uniform(0.3, 5, size=features), 0)
    x[:, :60] = 0
    x[0, 50:60] = 1
    return x, y


def cosines(means: Floats) -> Floats:
    unit = means / np.linalg.norm(means, axis=1, keepdims=True)
    return unit @ unit.T


def theirs(x: Floats, y: Labels) -> Floats:
    model = LinearDiscriminantAnalysis(solver="svd").fit(x, y)
    return np.asarray((model.means_ - model.xbar_) @ model.scalings_, dtype=np.float64)


def ours(x: Floats, y: Labels) -> Floats:
    return discriminant_means(x, y, int(y.max()) + 1).numpy()


def race(x: Floats, y: Labels, rounds: int) -> tuple[float, float, float]:
    """Return the best times of both and the largest difference; taking turns, both meet the same load."""
    seconds: dict[str, list[float]] = {"ours": [], "theirs": []}
    found = {}
    for _ in range(rounds):
        for name, solve in (("theirs", theirs), ("ours", ours)):
            start = time.perf_counter()
            found[name] = cosines(solve(x, y))
            seconds[name].append(time.perf_counter() - start)
    difference = float(np.abs(found["ours"] - found["theirs"]).max())
    return min(seconds["ours"]), min(seconds["theirs"]), difference


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="mnist", choices=["mnist", "fashion-mnist", "synthetic"])
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--record", action="store_true", help="append a line to benchmarks/results/lda.csv")
    options = parser.parse_args()
    dataset, x, y = load(options.dataset)
    x = x.astype(options.dtype)
    our_time, their_time, difference = race(x, y, options.rounds)
    row: dict[str, object] = {
        "dataset": dataset,
        "shape": "×".join(map(str, x.shape)),
        "dtype": options.dtype,
        "ours_seconds": round(our_time, 3),
        "sklearn_seconds": round(their_time, 3),
        "ratio": round(their_time / our_time, 2),
        "cosine_difference": f"{difference:.1e}",
    }
    print("  ".join(f"{name} {value}" for name, value in row.items()))
    if options.record:
        record("lda", row)


if __name__ == "__main__":
    main()
