"""Beam search over many sentences at once, beside one sentence at a time.

With ``--run`` the model is a trained one and the sentences are the first of its test part; otherwise the network is not
trained and every translation is as long as ``--longest`` allows. Both take turns, and the best of the rounds count.
Run: python benchmarks/beam.py [--run FOLDER] [--sentences 200] [--beam 10] [--threads 2] [--record]
"""

import argparse
import math
import time

import torch
from torch import Tensor, nn

from labelspace import data, models
from labelspace.sequences.search import Scores, translate
from labelspace.training.run import Run
from results import record

SOURCE = 8000
TARGETS = 8000


Made = tuple[nn.Module, Scores, Tensor, Tensor]


def untrained(name: str, sentences: int) -> Made:
    """Return a network that never ends a text by itself, and random sources."""
    model = models.build(name, (20,), TARGETS, vocabulary=SOURCE, targets=TARGETS)
    assert isinstance(model, models.Seq2Seq)
    model.head.weight.data.mul_(10)
    model.head.bias.data[0] -= 1000
    return model, lambda output: output, torch.randint(2, SOURCE, (sentences, 20)), torch.randint(8, 20, (sentences,))


def trained(run: Run, sentences: int) -> Made:
    """Return the network of a run, and sources of its test part."""
    learner = run.learner()
    source = data.load(run.config.data, **run.config.data_options).test.x[:sentences]
    return learner.model, learner.criterion.scores, source.clamp_min(0), (source >= 0).sum(dim=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", help="folder of a run on sequences")
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--model", default="seq2seq-256", help="without --run")
    parser.add_argument("--beam", type=int, default=10)
    parser.add_argument("--longest", type=int, help="most tokens of a text; 15 without --run")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--record", action="store_true", help="append the numbers to benchmarks/results/beam.csv")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    torch.manual_seed(0)
    run = Run.load(asked.run) if asked.run else None
    name = asked.model if run is None else run.config.model
    made = untrained(name, asked.sentences) if run is None else trained(run, asked.sentences)
    longest = asked.longest or (None if asked.run else 15)
    seconds, results = {asked.batch: math.inf, 1: math.inf}, {}
    for batch in [asked.batch, 1] * asked.rounds:
        begun = time.perf_counter()
        results[batch] = translate(*made, beam=asked.beam, longest=longest, batch=batch)
        seconds[batch] = min(seconds[batch], time.perf_counter() - begun)
    for batch, best in seconds.items():
        print(f"{batch:3d} at a time: {best:6.2f} s, {sum(map(len, results[batch])) / asked.sentences:.1f} tokens each")
    same = sum(one == other for one, other in zip(results[1], results[asked.batch], strict=True))
    speed = seconds[1] / seconds[asked.batch]
    print(f"{speed:.1f} times as fast, {same} of {asked.sentences} results the same")
    if asked.record:
        facts = {key: value for key, value in vars(asked).items() if key not in ("run", "record")}
        record("beam", {**facts, "model": name, "trained": run is not None, "speed": round(speed, 2), "same": same})


if __name__ == "__main__":
    main()
