"""Beam search over many sentences at once, beside one sentence at a time.

The network is not trained; every translation is as long as ``--longest`` allows. The best of the rounds count.
Run: python benchmarks/beam.py [--sentences 200] [--model seq2seq-256] [--beam 10] [--targets 8000] [--longest 15]
"""

import argparse
import math
import time

import torch

from labelspace import models
from labelspace.sequences.search import translate

SOURCE = 8000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--model", default="seq2seq-256")
    parser.add_argument("--beam", type=int, default=10)
    parser.add_argument("--targets", type=int, default=8000)
    parser.add_argument("--longest", type=int, default=15)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args()
    torch.manual_seed(0)
    model = models.build(asked.model, (20,), asked.targets, vocabulary=SOURCE, targets=asked.targets)
    assert isinstance(model, models.Seq2Seq)
    lengths = torch.randint(8, 20, (asked.sentences,))
    source = torch.randint(2, SOURCE, (asked.sentences, 20))
    model.head.weight.data.mul_(10)
    model.head.bias.data[0] -= 1000  # an untrained network ends anywhere: all write as many tokens as they may
    seconds, results = {asked.batch: math.inf, 1: math.inf}, {}
    for batch in [asked.batch, 1] * asked.rounds:
        begun = time.perf_counter()
        options = {"beam": asked.beam, "longest": asked.longest, "batch": batch}
        results[batch] = translate(model, lambda output: output, source, lengths, **options)
        seconds[batch] = min(seconds[batch], time.perf_counter() - begun)
    for batch, best in seconds.items():
        print(f"{batch:3d} at a time: {best:6.2f} s, {sum(map(len, results[batch])) / asked.sentences:.1f} tokens each")
    same = sum(one == other for one, other in zip(results[1], results[asked.batch], strict=True))
    print(f"{seconds[1] / seconds[asked.batch]:.1f} times as fast, {same} of {asked.sentences} results the same")


if __name__ == "__main__":
    main()
