"""Beam search beside exhaustive search, greedy search, and one sentence at a time."""

import itertools
import math

import pytest
import torch
from torch import Tensor

from labelspace import InputError
from labelspace.models import Seq2Seq, build
from labelspace.sequences.search import _Search, translate

V, K = 9, 4


def made(targets: int = K, seed: int = 0, scale: float = 8.0) -> Seq2Seq:
    torch.manual_seed(seed)
    model = build("seq2seq-6", (7,), targets, vocabulary=V, targets=targets)
    assert isinstance(model, Seq2Seq)
    for parameter in model.parameters():  # far from uniform, so that the best differs from the second best
        parameter.data.mul_(scale)
    return model.double().eval()


def texts(rows: int, seed: int = 1) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 8, (rows,), generator=generator)
    return torch.randint(0, V, (rows, 7), generator=generator), lengths


def likelihood(model: Seq2Seq, source: Tensor, text: tuple[int, ...]) -> float:
    """Return the log-probability of a target, its end included."""
    state, total = model.begin(source[None], torch.tensor([len(source)])), 0.0
    for before, token in itertools.pairwise((model.begin_token, *text, 0)):
        output, state = model.step(torch.tensor([before]), state)
        total += float(output.log_softmax(1)[0, token])
    return total


def worth(total: float, tokens: int, penalty: float) -> float:
    return total / ((5 + tokens) / 6) ** penalty


class Wide(_Search[object]):
    """A search that may be wider than its vocabulary."""

    def _check_width(self, classes: int) -> None:
        pass


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0, 2.0])
@pytest.mark.parametrize("longest", [1, 2, 4])
def test_a_beam_of_everything_is_exhaustive_search(penalty: float, longest: int) -> None:
    (source, lengths), model = texts(4), made()
    everything = [text for n in range(longest) for text in itertools.product(range(1, K), repeat=n)]
    wide = K**longest + len(everything)
    with torch.inference_mode():
        limits = torch.full_like(lengths, longest)
        found = Wide(model, lambda output: output, source, lengths, limits, wide, penalty).run()
        for row, length, text in zip(source, lengths.tolist(), found, strict=True):
            values = {one: worth(likelihood(model, row[:length], one), len(one) + 1, penalty) for one in everything}
            assert tuple(text) == max(values, key=values.__getitem__)


@pytest.mark.parametrize("seed", range(3))
def test_width_one_is_a_greedy_loop(seed: int) -> None:
    model, (source, lengths) = made(12, seed), texts(6)
    found = translate(model, lambda output: output, source, lengths, beam=1, longest=9)
    with torch.inference_mode():
        for row, length, text in zip(source, lengths.tolist(), found, strict=True):
            state, token, expected = model.begin(row[None, :length], torch.tensor([length])), model.begin_token, []
            while len(expected) < 8:  # the ninth is the end
                output, state = model.step(torch.tensor([token]), state)
                token = int(output.argmax())
                if token == 0:
                    break
                expected.append(token)
            assert text == expected


@pytest.mark.parametrize("beam", [1, 3, 10])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_many_at_once_are_one_at_a_time(beam: int, penalty: float) -> None:
    model, (source, lengths) = made(12, scale=6), texts(23)
    model.head.bias.data[0] -= 5  # texts of several tokens
    options = {"beam": beam, "length_penalty": penalty}
    together = translate(model, lambda output: output, source, lengths, batch=8, **options)
    alone = [
        translate(model, lambda output: output, row[None, :length], torch.tensor([length]), **options)[0]
        for row, length in zip(source, lengths.tolist(), strict=True)
    ]
    assert together == alone
    assert len({len(text) for text in together}) > 2  # they end at different steps
    assert max(map(len, together)) > 2


def plain_search(model: Seq2Seq, source: Tensor, beam: int, longest: int, penalty: float) -> tuple[list[int], int]:
    """Return the result of a search that stops for nothing but its end, written with lists; and its steps."""
    opened, ended, steps = [(0.0, (model.begin_token,))], [], 0
    while opened:
        steps += 1
        found = []
        for total, text in opened:
            state = model.begin(source[None], torch.tensor([len(source)]))
            for token in text:
                output, state = model.step(torch.tensor([token]), state)
            values = output.log_softmax(1)[0].tolist()
            allowed = [0] if len(text) == longest else range(len(values))
            found += [(total + values[token], (*text, token)) for token in allowed]
        found = sorted(found, reverse=True)[: beam - len(ended)]
        ended += [one for one in found if one[1][-1] == 0]
        opened = [one for one in found if one[1][-1] != 0]
    best = max(ended, key=lambda one: worth(one[0], len(one[1]) - 1, penalty))
    return list(best[1][1:-1]), steps


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_stopping_early_changes_nothing(seed: int, penalty: float) -> None:
    model, (source, lengths) = made(7, seed, scale=5), texts(5)
    options = {"beam": 3, "longest": 8, "length_penalty": penalty}
    found = translate(model, lambda output: output, source, lengths, **options)
    with torch.inference_mode():
        for row, length, text in zip(source, lengths.tolist(), found, strict=True):
            assert text == plain_search(model, row[:length], 3, 8, penalty)[0]


def test_what_has_ended_is_computed_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    model, (source, lengths) = made(12, scale=4), texts(16)
    rows: list[int] = []
    step = Seq2Seq.step

    def counted(self: Seq2Seq, tokens: Tensor, state: object) -> object:
        rows.append(len(tokens))
        return step(self, tokens, state)

    monkeypatch.setattr(Seq2Seq, "step", counted)
    found = translate(model, lambda output: output, source, lengths, beam=1)
    # width 1: each sentence is stepped once for each of its tokens and for its end
    assert sum(rows) == sum(min(len(text) + 1, limit) for text, limit in zip(found, (2 * lengths + 10), strict=True))
    assert rows == sorted(rows, reverse=True)


def test_a_wide_beam_finds_at_least_what_greedy_search_finds_on_average() -> None:
    model, (source, lengths) = made(12, 1, scale=3), texts(20)
    totals = []
    for beam in (1, 4, 12):
        found = translate(model, lambda output: output, source, lengths, beam=beam, length_penalty=0, longest=10)
        with torch.inference_mode():
            pairs = zip(source, lengths.tolist(), found, strict=True)
            totals.append(sum(likelihood(model, row[:length], tuple(text)) for row, length, text in pairs))
    assert totals[0] < totals[1] <= totals[2] + 1e-9


def test_scores_are_what_a_criterion_makes_of_outputs() -> None:
    model, (source, lengths) = made(12), texts(4)
    swapped = torch.tensor([0, 2, 1, *range(3, 12)])
    found = translate(model, lambda output: output[:, :3], source, lengths, beam=2)
    assert all(token in (1, 2) for text in found for token in text)
    sharper = translate(model, lambda output: 1.0 * output[:, swapped][:, swapped], source, lengths, beam=2)
    assert sharper == translate(model, lambda output: output, source, lengths, beam=2)


def test_a_network_is_left_in_the_mode_it_had() -> None:
    model = made().train()
    source, lengths = texts(3)
    first = translate(model, lambda output: output, source, lengths, beam=2)
    assert model.training
    assert first == translate(model.eval(), lambda output: output, source, lengths, beam=2)
    assert not model.training
    assert translate(model, lambda output: output, source[:0], lengths[:0]) == []


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"beam": K + 1}, "beam"),
        ({"beam": 0}, "beam"),
        ({"longest": 0}, "longest"),
        ({"length_penalty": -0.5}, "length_penalty"),
        ({"length_penalty": math.nan}, "length_penalty"),
        ({"batch": 0}, "batch"),
    ],
)
def test_what_is_refused(options: dict[str, float], argument: str) -> None:
    source, lengths = texts(3)
    with pytest.raises(InputError) as caught:
        translate(made(), lambda output: output, source, lengths, **options)
    assert caught.value.argument == argument


def test_lengths_that_do_not_fit_are_refused() -> None:
    source, lengths = texts(3)
    for wrong in (lengths[:2], lengths * 0, lengths + 7):
        with pytest.raises(InputError, match="lengths"):
            translate(made(), lambda output: output, source, wrong, beam=2)
