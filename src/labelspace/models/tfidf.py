"""The floor for texts: which words a text has, weighted by how rare they are, and nothing but linear layers on them."""

from typing import final

import torch
from torch import Tensor, nn

from labelspace import _checks
from labelspace.models.network import Network, text_shape
from labelspace.models.text import SPECIAL, vocabulary_size

PIECE = 256  # texts whose words are counted at a time
START = 0.01  # spread of the words' vectors: a word that training has hardly seen says hardly anything


@final
class TfIdf(nn.Module):
    """Token ids → the sum of the vectors of a text's words, each weighted by how often it occurs and how rare it is.

    With c the count of token t in a text, its weight is ``(1 + ln c)·idf_t``, scaled so that the weights of a text have
    a Euclidean length of √d, and ``idf_t = 1 + ln((1 + N)/(1 + n_t))`` where n_t of N training texts have it:
    scikit-learn's ``TfidfVectorizer`` with ``sublinear_tf=True``, times √d. d is how many different words a training
    text has in the mean, so that weights are about 1 and the usual learning rates suit. Padding and unknown words count
    for nothing; a text of nothing else is all zeros.

    Args:
        vocabulary: V, the number of token ids; until ``fit_inputs`` all are equally rare.
        width: F, of the words' vectors.

    Shape:
        token ids ``(N, length)`` → ``(N, F)``.
    """

    idf: Tensor
    length: Tensor

    def __init__(self, vocabulary: int, width: int) -> None:
        """Begin with words of equal weight."""
        super().__init__()
        self.words = nn.Embedding(vocabulary, width, padding_idx=0)
        nn.init.normal_(self.words.weight, std=START)
        self.register_buffer("idf", torch.ones(vocabulary))
        self.register_buffer("length", torch.ones(()))

    def fit_inputs(self, x: Tensor) -> None:
        """Count in how many training texts each token is."""
        texts = torch.zeros(len(self.idf), dtype=torch.float64, device=x.device)
        for piece in torch.split(x, PIECE):
            texts += (self._counts(piece) > 0).sum(dim=0)
        self.idf.copy_(1 + ((1 + len(x)) / (1 + texts)).log())
        self.length.copy_((texts[SPECIAL:].sum() / len(x)).clamp(min=1).sqrt())

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the weighted sum."""
        vectors: Tensor = self.words(tokens)
        return (self.weights(tokens).unsqueeze(1) @ vectors).squeeze(1)

    def weights(self, tokens: Tensor) -> Tensor:
        """Return the weight of each position; a word's weight is divided among the places where it stands.

        Shape:
            ``(N, length)`` → ``(N, length)``.
        """
        counts = self._counts(tokens).gather(1, tokens)
        whole = (1 + counts.log()) * self.idf[tokens] * (tokens >= SPECIAL)
        squares = (whole.square() / counts).sum(dim=1, keepdim=True)
        return whole / counts * (self.length / squares.clamp(min=1e-12).sqrt())

    def _counts(self, tokens: Tensor) -> Tensor:
        """Return how often each token of the vocabulary occurs in each text, ``(N, V)``."""
        ones = torch.ones(tokens.shape, dtype=self.idf.dtype, device=tokens.device)
        return ones.new_zeros(tokens.shape[0], len(self.idf)).scatter_add(1, tokens, ones)


def text_tfidf(
    input_shape: tuple[int, ...], output_dim: int, *, vocabulary: int | None = None, width: int = 32
) -> Network:
    """Return linear layers on TF-IDF weights of the words of a text: logistic regression for up to ``width`` classes.

    The words' weighted sum of vectors is what the head reads, so a weight for each word and class is a product of two
    matrices: the same functions as with one, fewer numbers where there are many classes, and features of a usual size.

    Args:
        input_shape: ``(length,)``.
        output_dim: width of the head.
        vocabulary: number of token ids, padding (id 0) and unknown words (id 1) included.
        width: of the words' vectors, and of the features.
    """
    owner = "models.build('text-tfidf')"
    text_shape(owner, input_shape)
    _checks.whole(owner, "width", width, low=1)
    return Network(TfIdf(vocabulary_size(owner, vocabulary), width), width, output_dim)
