"""Two small networks for texts given as token ids, where 0 is padding and changes nothing."""

from typing import final

import torch
from torch import Tensor, nn

from labelspace import _checks
from labelspace.models.network import Network, text_shape

SPECIAL = 2  # ids that are no words: padding is 0, words that the vocabulary does not have are 1


def text_bag(
    input_shape: tuple[int, ...], output_dim: int, *, vocabulary: int | None = None, width: int = 64
) -> Network:
    """Return the mean of the tokens' embeddings and one hidden layer with ReLU, whose activations are the features.

    Args:
        input_shape: ``(length,)``.
        output_dim: width of the head.
        vocabulary: number of token ids, padding (id 0) included.
        width: of the embeddings and of the hidden layer.
    """
    owner = "models.build('text-bag')"
    text_shape(owner, input_shape)
    _checks.whole(owner, "width", width, low=1)
    return Network(_Bag(vocabulary_size(owner, vocabulary), width), width, output_dim)


def text_transformer(
    input_shape: tuple[int, ...],
    output_dim: int,
    *,
    vocabulary: int | None = None,
    width: int = 64,
    layers: int = 2,
    heads: int = 4,
    dropout: float = 0.1,
) -> Network:
    """Return a transformer encoder with learned positions; the features are the mean of its outputs over the tokens.

    Args:
        input_shape: ``(length,)``, the longest text it takes.
        output_dim: width of the head.
        vocabulary: number of token ids, padding (id 0) included.
        width: of the embeddings; the layers' inner width is four times as much.
        layers: number of encoder layers.
        heads: of each layer's attention; divides ``width``.
        dropout: rate inside the layers.
    """
    owner = "models.build('text-transformer')"
    length = text_shape(owner, input_shape)
    for argument, value in (("width", width), ("layers", layers), ("heads", heads)):
        _checks.whole(owner, argument, value, low=1)
    if width % heads:
        raise _checks.fail(owner, "width", f"a multiple of `heads`, {heads}", width)
    rate = _checks.number(owner, "dropout", dropout, low=0, high=1, open_high=True)
    body = _Transformer(length, vocabulary_size(owner, vocabulary), width, layers, heads, rate)
    return Network(body, width, output_dim)


def vocabulary_size(owner: str, vocabulary: int | None) -> int:
    """Return the number of token ids, which must have been given."""
    if vocabulary is None:
        expected = "the number of token ids, padding (id 0) included"
        raise _checks.fail(owner, "vocabulary", expected, "nothing", "Give it as an option: vocabulary=20000.")
    return _checks.whole(owner, "vocabulary", vocabulary, low=2)


def masked_mean(values: Tensor, present: Tensor) -> Tensor:
    """Return the mean of ``(N, L, F)`` over the positions where ``present (N, L)`` is true; zeros where none is."""
    weights = present.unsqueeze(2).to(values.dtype)
    return (values * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


@final
class _Bag(nn.Module):
    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=0)
        self.hidden = nn.Linear(width, width)

    def forward(self, tokens: Tensor) -> Tensor:
        return torch.relu(self.hidden(masked_mean(self.embedding(tokens), tokens != 0)))


@final
class _Transformer(nn.Module):
    def __init__(self, length: int, vocabulary: int, width: int, layers: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=0)
        self.position = nn.Parameter(torch.empty(length, width).normal_(std=0.02))
        # made one by one: nn.TransformerEncoder copies a single layer, so that all would start with the same weights
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 4 * width, dropout, "gelu", batch_first=True, norm_first=True)
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor) -> Tensor:
        length = tokens.shape[1]
        if length > len(self.position):
            remedy = "Cut the texts, or build the network for longer ones."
            expected = f"token ids (N, length) of at most {len(self.position)} tokens"
            raise _checks.fail("text-transformer", "x", expected, f"shape {tuple(tokens.shape)}", remedy)
        padding = tokens == 0
        # a text of padding alone may attend to it: with every position masked, softmax gives NaN
        masked = padding & ~padding.all(dim=1, keepdim=True)
        hidden = self.embedding(tokens) + self.position[:length]
        for layer in self.layers:
            hidden = layer(hidden, src_key_padding_mask=masked)
        return masked_mean(self.norm(hidden), ~padding)
