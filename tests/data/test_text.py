import csv

from labelspace import data
from labelspace.data import text


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
    assert dataset.normalise(dataset.test.x) is dataset.test.x
    assert dataset.limit(4).train.text is not None
    assert len(data.load(tmp_path, vocabulary=3).vocabulary or ()) == 3
