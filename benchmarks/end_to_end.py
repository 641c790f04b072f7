"""What does a whole comparison cost beside its own runs, trained one after the other, and beside a bare PyTorch loop?

Run ``python benchmarks/end_to_end.py [--epochs 30] [--seeds 3] [--methods uniform,semantic,lls] [--record]``. Digits,
``mlp-32-2``, CPU seconds of one process and one thread. The comparison is everything: data, training, choices,
judging, report and the model to take home. Then every run that it left is trained by ``labelspace.train`` with the
same configuration, and by a loop that anybody would write: as many steps of the same network with ``F.cross_entropy``,
without label method, mixup, validation or records; no choice, no judging, no files. That one is the floor.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn

import labelspace
from labelspace.records import RunFolder
from labelspace.sweeps.executors import InProcess
from labelspace.training.config import FILLED_IN, Config
from labelspace.training.run import Run
from results import record

MODEL, TRAIN = "mlp-32-2", 800


def compared(out: Path, methods: Sequence[str], seeds: int, epochs: int) -> None:
    options = {"cost": "squared", "model": MODEL, "rivals": "none", "epochs": epochs, "executor": InProcess()}
    labelspace.compare("digits", methods=methods, seeds=seeds, out=out, **options)


def alone(config: Config, out: Path) -> Run:
    """Train a run of the comparison as one would have asked for it."""
    fields = config.model_dump(mode="json", exclude={*FILLED_IN, "data", "data_options", "space"})
    return labelspace.train(config.data, space=config.space, out=out, **fields)


def bare(config: Config, x: Tensor, y: Tensor) -> None:
    """Take as many steps with nothing around them."""
    torch.manual_seed(config.seed)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2), nn.Linear(2, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=config.learning_rate)
    for epoch in range(config.epochs):
        optimizer.param_groups[0]["lr"] = config.learning_rate * (1 - epoch / config.epochs)
        for rows in torch.randperm(len(x)).split(config.batch_size):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def measured(methods: Sequence[str], seeds: int, epochs: int) -> dict[str, object]:
    with TemporaryDirectory() as folder:
        out, again = Path(folder) / "compared", Path(folder) / "again"
        compared(Path(folder) / "first", methods[:1], 1, 1)  # first use of everything, outside the measurement
        whole = seconds(lambda: compared(out, methods, seeds, epochs))
        places = sorted(path.parent for path in out.glob("*/runs/*/result.json"))
        configs = [Run.of_folder(RunFolder(place)).config for place in places]
        x, y = torch.rand(TRAIN, 64), torch.arange(TRAIN) % 10
        apart, floor = 0.0, 0.0
        for config in configs:  # in turns, so that a busy machine slows both alike
            apart += seconds(lambda config=config: alone(config, again))  # type: ignore[misc]
            floor += seconds(lambda config=config: bare(config, x, y))  # type: ignore[misc]
        assert len(list(again.glob("*/result.json"))) == len(configs)
    stacked = sum(config.path == "vectorised" for config in configs)
    row = {"methods": ",".join(methods), "seeds": seeds, "epochs": epochs, "runs": len(configs), "in stacks": stacked}
    timed = {"comparison": whole, "one after the other": apart, "bare loop": floor}
    return row | {f"{name} (CPU s)": round(value, 2) for name, value in timed.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--methods", default="uniform,semantic,lls")
    parser.add_argument("--record", action="store_true", help="add a line to results/end_to_end.csv")
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)
    row = measured(asked.methods.split(","), asked.seeds, asked.epochs)
    print(row)
    if asked.record:
        print(record("end_to_end", row))


if __name__ == "__main__":
    main()
