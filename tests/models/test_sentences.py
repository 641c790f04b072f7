"""Batches of sentence pairs from padded ids."""

import pytest
import torch

from labelspace import InputError
from labelspace.models.sentences import Sentences, sentences

P = -100


def test_a_batch_is_what_a_loop_over_its_rows_makes() -> None:
    generator = torch.Generator().manual_seed(0)
    x, y = torch.full((7, 9), P), torch.full((7, 8), P)
    for row in range(7):
        for ids, longest in ((x, 7), (y, 5)):
            length = int(torch.randint(1, longest + 1, (1,), generator=generator))
            ids[row, : length - 1] = torch.randint(1, 11, (length - 1,), generator=generator)
            ids[row, length - 1] = 0
    batch, targets = sentences(x, y, 11)
    texts = [[token for token in row if token != P] for row in x.tolist()]
    answers = [[token for token in row if token != P] for row in y.tolist()]
    wide, high = max(map(len, texts)), max(map(len, answers))
    assert batch.source.tolist() == [text + [0] * (wide - len(text)) for text in texts]
    assert batch.lengths.tolist() == [len(text) for text in texts]
    assert batch.previous.tolist() == [[11, *row[:-1]] + [0] * (high - len(row)) for row in answers]
    assert batch.kept.tolist() == [i * high + j for i, row in enumerate(answers) for j in range(len(row))]
    assert targets.tolist() == [token for row in answers for token in row]
    assert (x == P).any()  # what was given is left as it was
    assert (y == P).any()
    assert all(part.dtype == torch.int64 for part in (*batch, targets))
    assert isinstance(batch, Sentences)


@pytest.mark.parametrize(
    ("x", "y", "argument"),
    [
        ([[P, P]], [[1, 0]], "x"),  # an empty text has at least its end
        ([[1, 0]], [[P, 0]], "y"),
        ([[1, P, 0]], [[1, 0]], "x"),
        ([[1, 0]], [[1, 0], [2, 0]], "y"),
        ([1, 0], [[1, 0]], "x"),
        ([[1.0, 0.0]], [[1, 0]], "x"),
    ],
)
def test_other_tables_are_refused(x: list, y: list, argument: str) -> None:
    with pytest.raises(InputError) as caught:
        sentences(torch.tensor(x), torch.tensor(y), 5)
    assert caught.value.argument == argument
