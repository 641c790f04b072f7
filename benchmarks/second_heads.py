"""Does a compressed second head of label embedding learn worse labels than the paper's, which is a whole layer?

Run ``python benchmarks/second_heads.py [--limit 2000]``. Tiny-ImageNet, features of a frozen backbone, a hidden layer
of 256, Adam, three seeds. Printed for each pair of ranks: accuracy on test data, that of the second head, and the rank
correlation of what was learned with WordNet's relations, mean and standard deviation over seeds.
"""

import argparse

import numpy as np
import torch
from scipy.stats import spearmanr
from torch import Tensor, nn

import labelspace
from labelspace import LabelEmbedding, Learner, UniformSmoothing
from labelspace.models.backbones import backbone

WIDTH = 256
FORMS: dict[str, dict[str, int] | None] = {"one-hot": None, "full, embedding dense": {}}
for size in (20, 50, 100):
    FORMS[f"full, {size}"] = {"rank": size, "head_rank": 0}
    FORMS[f"{size}, {size}"] = {"rank": size}


class Network(nn.Module):
    """A hidden layer and a head; a call returns the output and the features."""

    def __init__(self, width: int, classes: int) -> None:
        """Make the layers."""
        super().__init__()
        self.body = nn.Sequential(nn.Dropout(0.2), nn.Linear(width, WIDTH), nn.ReLU())
        self.head = nn.Linear(WIDTH, classes)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return output and features."""
        features = self.body(x)
        return self.head(features), features


def features_of(split: labelspace.data.Split, limit: int | None) -> tuple[Tensor, Tensor]:
    body, count = backbone("efficientnet-lite0", size=128), limit or len(split.y)
    chosen = torch.randperm(len(split.y), generator=torch.Generator().manual_seed(0))[:count]
    with torch.no_grad():
        found = [body.extract(body.prepare(split.x[some])) for some in chosen.split(64)]
    return torch.cat(found), split.y[chosen]


def trained(names: tuple[str, ...], options: dict[str, int] | None, seed: int, x: Tensor, y: Tensor) -> Learner:
    torch.manual_seed(seed)
    criterion = (
        UniformSmoothing(names, smoothing=0.0)
        if options is None
        else LabelEmbedding(names, in_features=WIDTH, **options)  # type: ignore[arg-type]
    )
    learner = Learner(Network(x.shape[1], len(names)), criterion)
    optimizer, order = torch.optim.Adam(learner.parameters(), 1e-3), torch.Generator().manual_seed(seed)
    for _ in range(15):
        for batch in torch.randperm(len(x), generator=order).split(128):
            optimizer.zero_grad()
            learner(x[batch], y[batch]).backward()
            optimizer.step()
    return learner.eval()


@torch.no_grad()
def judged(learner: Learner, x: Tensor, y: Tensor, near: Tensor) -> list[float]:
    output, features = learner.model(x)
    accuracy = float((output.argmax(dim=1) == y).float().mean())
    criterion = learner.criterion
    if not isinstance(criterion, LabelEmbedding):
        return [accuracy, np.nan, np.nan]
    second = criterion._second(features, features.dtype)
    learned = criterion.label_space().relations().matrix
    others = ~torch.eye(len(near), dtype=torch.bool)
    agree = spearmanr(((learned + learned.T) / 2)[others], near[others]).statistic
    return [accuracy, float((second.argmax(dim=1) == y).float().mean()), float(agree)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, help="samples of each part, to try it out")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    dataset = labelspace.data.load("tiny-imagenet")
    (x, y), (x_test, y_test) = (features_of(part, options.limit) for part in (dataset.train, dataset.test))
    middle, scale = x.mean(dim=0), x.std(dim=0) + 1e-3
    x, x_test = (x - middle) / scale, (x_test - middle) / scale
    near = labelspace.wordnet(dataset.names).relations().matrix
    for form, chosen in FORMS.items():
        found = np.array(
            [judged(trained(dataset.names, chosen, seed, x, y), x_test, y_test, near) for seed in range(options.seeds)]
        )
        spread = found.std(axis=0, ddof=1)
        print(
            form, *(f"{a:.3f} ± {b:.3f}" for a, b in zip(found.mean(axis=0), spread, strict=True)), sep="  ", flush=True
        )


if __name__ == "__main__":
    main()
