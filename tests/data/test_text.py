import csv
import random

import numpy as np
import pytest

from labelspace import data
from labelspace.data import digests, text


def test_words():
    assert text.tokens("Don't—stop! ÉTÉ 42") == ["don't", "stop", "été", "42"]


def test_the_vocabulary_is_of_the_training_part(tmp_path):
    for part, rows in (("train", [f"good film w{i}" for i in range(20)]), ("test", ["secret word", "good"])):
        with (tmp_path / f"{part}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "label"])
            writer.writerows([row, ["bad", "fine"][i % 2]] for i, row in enumerate(rows))
    dataset = data.load(tmp_path, max_length=4)
    assert dataset.kind == "text"
    assert dataset.vocabulary is not None
    assert dataset.vocabulary[:4] == ("<padding>", "<unknown>", "film", "good")
    assert "secret" not in dataset.vocabulary
    held = {word for line in dataset.validation.text or () for word in line.split()} - {"good", "film"}
    assert not held & set(dataset.vocabulary)
    assert dataset.test.x.tolist() == [[1, 1, 0, 0], [3, 0, 0, 0]]
    assert dataset.test.text == ("secret word", "good")
    assert dataset.normalize(dataset.test.x) is dataset.test.x
    assert dataset.limit(4).train.text is not None
    assert len(data.load(tmp_path, vocabulary=3).vocabulary or ()) == 3


@pytest.fixture
def many():
    """Two thousand texts in three parts, and what belongs to each, made without the cache."""
    generator = random.Random(0)
    texts = [
        " ".join(f"w{int(generator.expovariate(0.02))}" for _ in range(generator.randrange(12))) for _ in range(2000)
    ]
    order = np.split(np.random.default_rng(0).permutation(2000), [1000, 1500])
    ids, words = text.learn([texts[row] for row in order[0]], 100, 8)
    others = [text.encode([texts[row] for row in rows], words, 8) for rows in order[1:]]
    return texts, digests.of_texts(texts), order, [ids, *others], words


def test_many_texts_are_cut_into_words_once(many, monkeypatch, cache_dir):
    texts, found, order, expected, words = many
    monkeypatch.setattr(text, "MANY", 2000)
    first = text.take(texts, found, order, 100, 8)
    monkeypatch.setattr(text, "tokens", None)
    second = text.take(texts, found, order, 100, 8)
    for taken in (first, second):
        assert taken.vocabulary == words
        assert taken.source == {"words": 100}
        for ids, other, rows, own in zip(taken.x, expected, order, taken.digests, strict=True):
            assert ids.dtype == np.int64
            assert np.array_equal(ids, other)
            assert np.array_equal(own, found[rows])
    assert len(list((cache_dir / "texts").iterdir())) == 2


def test_another_split_text_or_option_is_another_entry(many, monkeypatch, cache_dir):
    texts, found, order, _, _ = many
    monkeypatch.setattr(text, "MANY", 2000)
    changed = ["something else", *texts[1:]]
    text.take(texts, found, order, 100, 8)
    text.take(texts, found, order[::-1], 100, 8)
    text.take(texts, found, order, 99, 8)
    text.take(texts, found, order, 100, 9)
    other = text.take(changed, digests.of_texts(changed), order, 100, 8)
    assert len(list((cache_dir / "texts").iterdir())) == 10
    place = next((part, list(rows).index(0)) for part, rows in enumerate(order) if 0 in rows)
    assert other.x[place[0]][place[1]].tolist() == [1, 1, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("entry", ["", "-words"])
def test_a_damaged_entry_of_texts_is_made_again(many, monkeypatch, cache_dir, entry):
    texts, found, order, expected, words = many
    monkeypatch.setattr(text, "MANY", 2000)
    text.take(texts, found, order, 100, 8)
    place = next(path for path in (cache_dir / "texts").iterdir() if path.name.endswith("-words") == bool(entry))
    content = bytearray((place / "rows.bin").read_bytes())
    content[10] ^= 1
    (place / "rows.bin").write_bytes(content)
    again = text.take(texts, found, order, 100, 8)
    assert again.source["cache"].startswith("rebuilt")
    assert again.vocabulary == words
    assert np.array_equal(again.x[0], expected[0])
    assert "cache" not in text.take(texts, found, order, 100, 8).source


def test_few_texts_leave_nothing_in_the_cache(many, cache_dir):
    texts, found, order, expected, _ = many
    assert np.array_equal(text.take(texts, found, order, 100, 8).x[2], expected[2])
    assert not (cache_dir / "texts").exists()
