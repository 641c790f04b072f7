"""What Python holds gives the scores of the same samples in a file or a tensor."""

from typing import Any

import numpy as np
import pytest
import torch

from labelspace import data, train
from labelspace.training.objects import formed

pandas = pytest.importorskip("pandas")


def frame(rows: int = 90) -> Any:
    draw = np.random.default_rng(0)
    size, colour = draw.normal(size=rows), draw.choice(["red", "blue"], rows)
    label = np.where(size + (colour == "red") > 0.5, "big", "small")
    return pandas.DataFrame({"size": size, "colour": colour, "weight": draw.normal(50, 9, rows), "label": label})


def test_rows_of_a_table() -> None:
    table = frame()
    run = train(table, label="label", model="linear", epochs=3, learning_rate=0.1)
    plain = table[["size", "colour", "weight"]]
    wanted = run.scores_of(plain)
    # by hand: the encoding (size, blue, red, weight), scaled by the record, times the weights
    encoded = np.stack([plain["size"], plain.colour == "blue", plain.colour == "red", plain.weight], 1).astype(float)
    scaled = (encoded - run.preprocessing["mean"]) / run.preprocessing["std"]
    weights = {tuple(value.shape): value.double().numpy() for value in run.weights.values()}
    np.testing.assert_allclose(wanted.numpy(), scaled @ weights[2, 4].T + weights[2,], atol=1e-5)
    for given in (
        plain.to_numpy(),
        plain.to_numpy().tolist(),
        [*map(tuple, plain.to_numpy())],
        plain.to_dict("records"),
        plain[["weight", "size", "colour"]],
    ):
        torch.testing.assert_close(run.scores_of(given), wanted, rtol=0, atol=0)
    torch.testing.assert_close(run.scores_of(plain.iloc[4]), wanted[4:5])
    torch.testing.assert_close(run.scores_of(torch.from_numpy(encoded.astype(np.float32))), wanted)
    torch.testing.assert_close(run.scores_of(encoded), wanted)
    with pytest.raises(ValueError, match="rows with the columns of training.*Got none called 'colour'"):
        run.predict(plain[["size", "weight"]])
    with pytest.raises(ValueError, match=r"a float32 tensor of shape \(N, 4\).*Got torch.float32 of shape \(0, 2\)"):
        run.predict(plain[["size", "weight"]].to_numpy())


def test_arrays_of_features() -> None:
    x = np.random.default_rng(0).normal(size=(60, 3))
    run = train((x, np.arange(60) % 2), model="linear", epochs=1)
    wanted = run.scores_of(torch.from_numpy(x.astype(np.float32)))
    mixed = pandas.DataFrame(x).astype({0: object})
    for given in (x, x.astype(np.float32), x.tolist(), [*x], [*torch.from_numpy(x)], pandas.DataFrame(x), mixed):
        torch.testing.assert_close(run.scores_of(given), wanted, rtol=0, atol=0)
    x[7, 1] = np.nan
    with pytest.raises(ValueError, match=r"samples that can all be read. Got 7 \(a number that is not finite\)"):
        run.predict(x)
    for wrong in (x[:, :2], x[0], [[1.0], [2.0, 3.0]], "nowhere", np.array(["a", "b"])):
        with pytest.raises(ValueError, match="`x` of Run must be"):
            run.predict(wrong)


def test_pictures_in_arrays() -> None:
    digits = data.load("digits")
    run = train(digits, model="linear", epochs=1, limit=100)
    wanted = run.scores["test_scores"]
    numbers = digits.test.x.numpy()
    for given in (numbers, numbers[:, 0], [*numbers[:, 0]]):
        torch.testing.assert_close(run.scores_of(given), wanted, rtol=0, atol=0)
    with pytest.raises(ValueError, match=r"must be a uint8 tensor of shape \(N, 1, 8, 8\).*Got torch.float32"):
        run.predict(numbers / 255)


def test_texts_in_arrays_and_columns() -> None:
    texts = [f"a {word} film number {number}" for number in range(40) for word in ("good", "bad")]
    run = train({"review": texts, "label": ["p", "n"] * 40}, label="label", text="review", epochs=1)
    wanted = run.scores_of(texts[:4])
    for given in (tuple(texts[:4]), np.array(texts[:4]), np.array(texts[:4], object), pandas.Series(texts[:4])):
        torch.testing.assert_close(run.scores_of(given), wanted, rtol=0, atol=0)
    torch.testing.assert_close(run.scores_of(pandas.DataFrame({"review": texts[:4]})), wanted, rtol=0, atol=0)


def test_what_has_no_form_stays_what_it_is() -> None:
    thing = object()
    assert formed(thing, "features", []) is thing
    assert formed(["a.png", "b.png"], "images", []) == ["a.png", "b.png"]
    assert formed([{"a": 1}, {"b": 2}], "table", ["a", "b"]) == {"a": [1, None], "b": [None, 2]}
