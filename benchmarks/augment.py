"""How much faster is augmenting a whole batch than one image after the other?

Run ``python benchmarks/augment.py [--samples 128] [--side 32] [--threads 1]``. Each augmentation is timed against a
loop that gives every image alone to plain torch operations, in turns in this process; the best of the rounds counts.
"""

import argparse
import math
import random
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from labelspace.augment.named import Augment
from labelspace.augment.randaugment import COLOURS, OPERATIONS, recolour


def crop_one(image: Tensor) -> Tensor:
    height, width = image.shape[1:]
    border = height // 8
    top, left = random.randint(0, 2 * border), random.randint(0, 2 * border)
    return functional.pad(image, (border,) * 4)[:, top : top + height, left : left + width]


def flip_one(image: Tensor) -> Tensor:
    return image.flip(2) if random.random() < 0.5 else image


def cutout_one(image: Tensor) -> Tensor:
    height, width = image.shape[1:]
    size = height // 2
    top, left = random.randrange(height) - size // 2, random.randrange(width) - size // 2
    hollow = image.clone()
    hollow[:, max(top, 0) : top + size, max(left, 0) : left + size] = 0
    return hollow


def randaugment_one(image: Tensor) -> Tensor:
    for _ in range(2):
        name, strength = random.choice(OPERATIONS), random.choice([-0.9, 0.9])
        if name in COLOURS:
            image = recolour(image[None], name, torch.tensor([strength]))[0]
        elif name != "identity":
            image = moved_one(image, name, strength)
    return image


def moved_one(image: Tensor, name: str, strength: float) -> Tensor:
    angle = math.radians(30 * strength) if name == "rotate" else 0.0
    theta = torch.tensor([[math.cos(angle), -math.sin(angle), 0.0], [math.sin(angle), math.cos(angle), 0.0]])
    theta[0, 1] += 0.3 * strength * (name == "shear_x")
    theta[1, 0] += 0.3 * strength * (name == "shear_y")
    theta[0, 2] += 0.9 * strength * (name == "translate_x")
    theta[1, 2] += 0.9 * strength * (name == "translate_y")
    grid = functional.affine_grid(theta[None], [1, *image.shape], align_corners=False)
    return functional.grid_sample(image[None], grid, align_corners=False)[0]


def one_by_one(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda x: torch.stack([function(image) for image in x])


def mixup_loop(x: Tensor) -> Tensor:
    share, order = random.betavariate(0.2, 0.2), random.sample(range(len(x)), len(x))
    return torch.stack([share * image + (1 - share) * x[other] for image, other in zip(x, order, strict=True)])


def cutmix_loop(x: Tensor) -> Tensor:
    height, width = x.shape[2:]
    side, order = math.sqrt(1 - random.random()), random.sample(range(len(x)), len(x))
    row, column = random.randrange(height), random.randrange(width)
    down, across = int(height * side) // 2, int(width * side) // 2
    rows, columns = slice(max(row - down, 0), row + down), slice(max(column - across, 0), column + across)
    out = x.clone()
    for image, other in zip(out, order, strict=True):
        image[:, rows, columns] = x[other, :, rows, columns]
    return out


LOOPS: dict[str, Callable[[Tensor], Tensor]] = {
    "crop": one_by_one(crop_one),
    "flip": one_by_one(flip_one),
    "cutout": one_by_one(cutout_one),
    "randaugment": one_by_one(randaugment_one),
    "mixup": mixup_loop,
    "cutmix": cutmix_loop,
}


def race(name: str, x: Tensor, y: Tensor, rounds: int) -> tuple[float, float]:
    """Return the best times of the batch and of the loop; taking turns, both meet the same load."""
    augment, generator = Augment.parse([name]), torch.Generator().manual_seed(0)
    batch: list[float] = []
    loop: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        augment(x, y, 10, generator)
        batch.append(time.perf_counter() - start)
        start = time.perf_counter()
        LOOPS[name](x)
        loop.append(time.perf_counter() - start)
    return min(batch), min(loop)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=128)
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    random.seed(0)
    x = torch.randn(options.samples, 3, options.side, options.side, generator=torch.Generator().manual_seed(0))
    y = torch.arange(options.samples) % 10
    print(f"{'×'.join(map(str, x.shape))}, {options.threads} threads, torch {torch.__version__}")
    for name in LOOPS:
        batch, loop = race(name, x, y, options.rounds)
        print(f"{name:12} batch {batch * 1e3:6.2f} ms  loop {loop * 1e3:7.2f} ms  ratio {loop / batch:5.1f}")


if __name__ == "__main__":
    main()
