"""Two ways to label handwritten digits when a mistake costs the square of its distance.

One-hot labels say that calling a 3 an 8 is as bad as calling it a 4. Ordinal labels know better. Both train the same
small network (a bottleneck of two units, so that mistakes happen) on scikit-learn's digits, six seeds each; the table
shows the mean over seeds on test images that were used for nothing else.
"""

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from labelspace import Criterion, Learner, OneHot, SemanticSmoothing, ordinal

SEEDS = 6
EPOCHS = 40


def network() -> torch.nn.Module:
    """Return a small network with a bottleneck of two units."""
    layers = [torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2), torch.nn.Linear(2, 10)]
    return torch.nn.Sequential(*layers)


def train(criterion: Criterion, x: torch.Tensor, y: torch.Tensor, seed: int) -> Learner:
    """Train with plain mini-batches."""
    torch.manual_seed(seed)
    learner = Learner(network(), criterion)
    optimizer = torch.optim.Adam(learner.parameter_groups(weight_decay=1e-4), lr=1e-2)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            learner(x[batch], y[batch]).backward()
            optimizer.step()
        learner.end_epoch()
    return learner.eval()


def main() -> None:
    """Train both and print the table."""
    torch.set_num_threads(1)
    images, digits = load_digits(return_X_y=True)
    x, y = torch.tensor(images / 16, dtype=torch.float32), torch.tensor(digits)
    space = ordinal([str(digit) for digit in range(10)])
    makers = {"one-hot": lambda: OneHot(space), "semantic σ=0.5": lambda: SemanticSmoothing(space, smoothing=0.5)}
    results: dict[str, list[tuple[float, float]]] = {name: [] for name in makers}
    for seed in range(SEEDS):
        train_rows, test_rows = train_test_split(range(len(y)), train_size=800, stratify=digits, random_state=seed)
        for name, make in makers.items():
            learner = train(make(), x[train_rows], y[train_rows], seed)
            with torch.no_grad():
                predicted = learner.predict(x[test_rows])
            gap = (predicted - y[test_rows]).float()
            results[name].append(((gap == 0).float().mean().item(), gap.square().mean().item()))
    print(f"digits · 10 classes · 64-32-2-10 · 800 train / {len(test_rows)} test · {SEEDS} seeds · argmax decisions")
    print(f"{'labels':<16}{'accuracy ↑':>12}{'squared error ↓':>18}")
    for name, rows in results.items():
        accuracy, cost = torch.tensor(rows).mean(dim=0).tolist()
        print(f"{name:<16}{accuracy:>12.3f}{cost:>18.2f}")


if __name__ == "__main__":
    main()
