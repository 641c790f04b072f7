"""TF-IDF as a network, against scikit-learn's own."""

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import TfidfVectorizer

from labelspace._checks import InputError
from labelspace.models import build
from labelspace.models.tfidf import TfIdf


def texts(count: int, seed: int, vocabulary: int = 30, length: int = 12) -> torch.Tensor:
    """Return token ids, rare and frequent ones, each text padded behind its own end."""
    draws = np.random.default_rng(seed)
    ids = np.minimum(1 + draws.geometric(0.2, (count, length)), vocabulary - 1)
    ids[draws.random(ids.shape) < 0.1] = 1
    return torch.from_numpy(np.where(np.arange(length) < draws.integers(1, length + 1, (count, 1)), ids, 0))


def as_words(ids: torch.Tensor) -> list[str]:
    return [" ".join(f"word{token}" for token in row if token > 1) for row in ids.tolist()]


def spread(layer: TfIdf, ids: torch.Tensor) -> torch.Tensor:
    """Return one weight per token of the vocabulary."""
    weights = layer.weights(ids)
    return weights.new_zeros(len(ids), len(layer.idf)).scatter_add(1, ids, weights)


def test_weights_are_those_of_scikit_learn() -> None:
    train, test = texts(300, 0), texts(100, 1)
    layer = TfIdf(30, 4).double()
    layer.fit_inputs(train)
    vectorizer = TfidfVectorizer(
        sublinear_tf=True, vocabulary=[f"word{token}" for token in range(2, 30)], token_pattern=r"word\d+"
    ).fit(as_words(train))
    different = np.mean([len(set(text.split())) for text in as_words(train)])
    wanted = vectorizer.transform(as_words(test)).toarray() * np.sqrt(different)
    found = spread(layer, test)
    assert not found[:, :2].any()
    torch.testing.assert_close(found[:, 2:].detach().numpy(), wanted)


def test_features_are_the_weighted_sum_of_the_words_vectors() -> None:
    layer, ids = TfIdf(30, 4).double(), texts(50, 2)
    layer.fit_inputs(ids)
    torch.testing.assert_close(layer(ids), spread(layer, ids) @ layer.words.weight)


def test_a_text_without_a_known_word_is_all_zeros() -> None:
    features = build("text-tfidf", (3,), 2, vocabulary=5)(torch.tensor([[0, 0, 0], [1, 1, 0]]))[1]
    assert not features.any()


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match=r"`width` of models.build\('text-tfidf'\) must be"):
        build("text-tfidf", (3,), 2, vocabulary=5, width=0)
    with pytest.raises(
        InputError, match=r"`vocabulary` of models.build\('text-tfidf'\) must be the number of token ids"
    ):
        build("text-tfidf", (3,), 2)
