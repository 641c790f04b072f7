"""Encoder–decoders of transformers (T5, BART, Marian and their like) for sequences."""

from collections.abc import Mapping
from typing import NamedTuple, final

import torch
from torch import Tensor, nn

from labelspace import _checks
from labelspace.models.network import text_shape
from labelspace.models.sentences import Longest, Sentences
from labelspace.models.seq2seq import token_count
from labelspace.models.transformer import Configured, architecture_of, first_made, made_again

TABLES = ("shared", "embed_tokens")  # where these networks keep the embeddings of their own tokens


def from_encoder_decoder(
    name: str,
    input_shape: tuple[int, ...],
    output_dim: int,
    *,
    targets: int,
    vocabulary: int | None = None,
    pretrained: bool = True,
    **options: object,
) -> "Translation":
    """Return an encoder–decoder of transformers with embeddings of our tokens and a linear head.

    Texts are encoded by the data's own vocabularies, not by a tokenizer of the folder; so the embeddings are learned
    anew, and only the layers between them and the head start from a folder's weights. The safety of
    ``from_transformers`` holds: nothing is downloaded, no code of a folder is run, options only shape the network.

    Args:
        name: the folder of a saved model, or an architecture such as ``t5``, ``bart`` or ``marian``.
        input_shape: ``(length,)`` of the sources.
        output_dim: width of the head.
        targets: number of target tokens, K.
        vocabulary: number of source tokens.
        pretrained: load the weights in the folder; with False only its configuration.
        options: values of the configuration that shape the network, for example ``d_model=128``.
    """
    owner = f"models.build('hf:{name}')"
    shape, counts = _sizes(owner, input_shape, vocabulary, targets)
    model, config = first_made(owner, name, shape, pretrained, None, options)
    return _translation(owner, model, config, counts, output_dim)


def encoder_decoder_again(
    name: str,
    input_shape: tuple[int, ...],
    output_dim: int,
    architecture: Mapping[str, object] | None,
    options: Mapping[str, object],
) -> "Translation":
    """Return the network of a record, with random weights; no folder is looked at.

    Args:
        name: the folder that it once came from, or its architecture.
        input_shape: of one sample.
        output_dim: width of the head.
        architecture: the configuration in the record.
        options: as they were given; ``vocabulary`` and ``targets`` are among them.
    """
    owner = f"models.build('hf:{name}')"
    shape, counts = _sizes(owner, input_shape, options.get("vocabulary"), options.get("targets"))
    given = {key: value for key, value in options.items() if key not in ("vocabulary", "targets")}
    model, config = made_again(owner, name, shape, architecture, given)
    return _translation(owner, model, config, counts, output_dim)


def _sizes(
    owner: str, input_shape: tuple[int, ...], vocabulary: object, targets: object
) -> tuple[tuple[int, ...], tuple[int, int]]:
    shape = (text_shape(owner, input_shape),)
    return shape, (token_count(owner, "vocabulary", vocabulary), token_count(owner, "targets", targets))


def _translation(
    owner: str, model: nn.Module, config: Configured, counts: tuple[int, int], output_dim: int
) -> "Translation":
    parts = [getattr(model, side, None) for side in ("encoder", "decoder")]
    width = getattr(config, "hidden_size", None)
    whole = all(isinstance(getattr(part, "embed_tokens", None), nn.Embedding) for part in parts)
    if not getattr(config, "is_encoder_decoder", False) or not whole or not isinstance(width, int):
        expected = "an encoder–decoder for text, such as 't5', 'bart' or 'marian'"
        raise _checks.fail(owner, "name", expected, f"model_type {config.model_type!r}")
    network = Translation(model, *counts, width, output_dim)
    network.architecture, network.longest = architecture_of(config), _longest(config)
    return network


def _longest(config: Configured) -> Longest:
    """Return how many positions there are; networks with relative ones, such as T5, have no end of them."""
    common = getattr(config, "max_position_embeddings", None)
    sides = (getattr(config, f"max_{side}_position_embeddings", common) for side in ("encoder", "decoder"))
    return Longest(*(most if isinstance(most, int) else None for most in sides))


class Written(NamedTuple):
    """What was read, and what was written so far; the first axis of each is the text.

    Shape:
        memory ``(R, S, F)``, present ``(R, S)``, tokens ``(R, t)``.
    """

    memory: Tensor
    present: Tensor
    tokens: Tensor


@final
class Translation(nn.Module):
    """An encoder–decoder of transformers; a call on ``Sentences`` returns output and features of the real targets.

    Args:
        model: with an ``encoder`` and a ``decoder``; its tables of token embeddings are taken out.
        vocabulary: number of source tokens.
        targets: number of target tokens, K; its number stands for "begin".
        width: F, of the embeddings and the features.
        output_dim: D.

    Shape:
        ``Sentences`` with M real targets → output ``(M, D)``, features ``(M, F)``.
    """

    def __init__(self, model: nn.Module, vocabulary: int, targets: int, width: int, output_dim: int) -> None:
        """Put our embeddings in the place of the model's, with numbers as large as those."""
        super().__init__()
        self.begin_token, self.feature_dim = targets, width
        self.architecture: Mapping[str, object] | None = None
        self.longest = Longest()
        table = model.get_submodule("decoder.embed_tokens")
        spread = float(table.get_parameter("weight").detach().std()) * float(getattr(table, "embed_scale", 1.0))
        for part in (model, model.get_submodule("encoder"), model.get_submodule("decoder")):
            for place in TABLES:
                if hasattr(part, place):
                    setattr(part, place, nn.Identity())  # parameters without a gradient, and stored under three names
        self.model = model
        self.source, self.target = nn.Embedding(vocabulary, width), nn.Embedding(targets + 1, width)
        for embedding in (self.source, self.target):
            nn.init.normal_(embedding.weight, std=spread)
        self.head = nn.Linear(width, output_dim)

    def forward(self, batch: Sentences) -> tuple[Tensor, Tensor]:
        """Return output and features of the real targets, each after the true tokens before it."""
        features = self.features(batch)
        return self.head(features), features

    def features(self, batch: Sentences) -> Tensor:
        """Return what the head reads of the real targets."""
        read = self.begin(batch.source, batch.lengths)
        return self._decoded(read.memory, read.present, batch.previous).flatten(0, 1).index_select(0, batch.kept)

    def begin(self, source: Tensor, lengths: Tensor) -> Written:
        """Return the state after reading sources."""
        self.longest.check("Translation", "source", source=source.shape[1])
        positions = torch.arange(source.shape[1], device=source.device)
        present = positions < lengths.to(source.device, non_blocking=True).unsqueeze(1)
        encoder = self.model.get_submodule("encoder")
        read = encoder(inputs_embeds=self.source(source), attention_mask=present.long())
        return Written(read.last_hidden_state, present, source[:, :0])

    def step(self, tokens: Tensor, state: Written) -> tuple[Tensor, Written]:
        """Return the output after one more token of each text, and the state that follows.

        The decoder reads all tokens so far anew: a cache of each architecture's own form is not kept.
        """
        written = torch.cat([state.tokens, tokens.unsqueeze(1)], dim=1)
        features = self._decoded(state.memory, state.present, written)[:, -1]
        return self.head(features), state._replace(tokens=written)

    def chosen(self, state: Written, rows: Tensor) -> Written:
        """Return these texts of a state, in this order."""
        return Written(*(part.index_select(0, rows) for part in state))

    def head_weight(self) -> Tensor:
        """Return the weights of the last linear layer."""
        return self.head.weight

    def has_map(self, input_shape: tuple[int, ...]) -> bool:
        """Return whether features are the mean of a map over its positions: they are not."""
        return False

    def _decoded(self, memory: Tensor, present: Tensor, previous: Tensor) -> Tensor:
        self.longest.check("Translation", "previous", target=previous.shape[1])
        decoder = self.model.get_submodule("decoder")
        decoded: Tensor = decoder(
            inputs_embeds=self.target(previous),
            encoder_hidden_states=memory,
            encoder_attention_mask=present.long(),
            use_cache=False,
        ).last_hidden_state
        return decoded
