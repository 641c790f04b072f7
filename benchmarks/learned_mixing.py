"""Where does a learned ε of mixed cross-entropy go, and does it listen to the data?

Run ``python benchmarks/learned_mixing.py [--seeds 3] [--epochs 50 600] [--threads 1]``. Digits, mlp-128, Adam at 0.01,
ε starting at 0.2. Clean labels, or a fifth of the training labels exchanged inside the pairs 0-1, 2-3, …, 8-9, with a
prior that knows the order of digits, or the same prior with its classes shuffled. Accuracy and NLL are those of
validation data; "scaled" is the NLL at the temperature that is best for them.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from labelspace import LabelSpace, data, ordinal, permuted
from labelspace.data.dataset import Dataset
from labelspace.sweeps.members import train_together
from labelspace.training.build import prepare
from labelspace.training.config import make_config
from labelspace.training.run import Run, as_dataset

FORMS = {
    "cross-entropy alone": {"objective": "cross-entropy", "pull": 0.0},
    "cross-entropy, pull 0.1": {"objective": "cross-entropy", "pull": 0.1},
    "divergence alone": {"pull": 0.0},
    "divergence, pull 0.1 (default)": {"pull": 0.1},
    "divergence, pull 1": {"pull": 1.0},
    "preset paper": {"preset": "paper"},
}


def exchanged(dataset: Dataset, rate: float) -> Dataset:
    """Return the data with some training labels exchanged inside the pairs 0-1, 2-3 and so on."""
    y = dataset.train.y
    chosen = torch.rand(len(y), generator=torch.Generator().manual_seed(0)) < rate
    return as_dataset(replace(dataset, train=replace(dataset.train, y=torch.where(chosen, y ^ 1, y), digests=None)))


def settings() -> Iterator[tuple[str, Dataset, LabelSpace]]:
    clean, space = data.load("digits"), ordinal(10)
    yield "clean, order", clean, space
    yield "exchanged, order", exchanged(clean, 0.2), space
    yield "exchanged, shuffled", exchanged(clean, 0.2), permuted(space, 0)


def runs(dataset: Dataset, space: LabelSpace, learn: str, epochs: int, seeds: int) -> dict[str, list[Run]]:
    """Return the runs of every form, those of one shape trained together."""
    found: dict[str, list[Run]] = {}
    for group in (["cross-entropy alone", "cross-entropy, pull 0.1"], list(FORMS)[2:5], ["preset paper"]):
        jobs = []
        for form in group:
            options = {"learn": learn, **FORMS[form]}
            base = {"method": "mixed", "method_options": options, "model": "mlp-128", "learning_rate": 0.01}
            jobs += [prepare(make_config(**base, epochs=epochs, seed=s), dataset, space) for s in range(seeds)]
        trained = train_together(jobs)
        for number, form in enumerate(group):
            part = trained[number * seeds :][:seeds]
            found[form] = [run for run in part if isinstance(run, Run)]
    return found


def measured(run: Run) -> Tensor:
    """Return the smallest, mean and largest ε, accuracy, NLL, and NLL at the best temperature."""
    criterion = run.learner().criterion
    mixing = criterion.mixing().detach()  # type: ignore[operator]
    scores, y = run.scores["validation_scores"], run.scores["validation_y"]
    scaled = min(cross_entropy(scores * 2 ** (step / 4), y) for step in range(-8, 17))
    accuracy = (scores.argmax(1) == y).float().mean()
    return torch.stack([mixing.min(), mixing.mean(), mixing.max(), accuracy, cross_entropy(scores, y), scaled])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, nargs="+", default=[50, 600])
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print("| labels, prior | learn | form | epochs | ε min–mean–max | accuracy | NLL | scaled |")
    print("|---|---|---|---|---|---|---|---|")
    for setting, dataset, space in settings():
        for learn in ("class", "entry"):
            for epochs in options.epochs:
                for form, found in runs(dataset, space, learn, epochs, options.seeds).items():
                    low, mean, high, accuracy, nll, scaled = (
                        torch.stack([measured(run) for run in found]).mean(0).tolist()
                    )
                    numbers = f"{low:.4f}–{mean:.4f}–{high:.4f} | {accuracy:.3f} | {nll:.3f} | {scaled:.3f}"
                    print(f"| {setting} | {learn} | {form} | {epochs} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
