"""LSTM encoder–decoders with attention, for sequences whose labels are the words of a vocabulary."""

import re
from typing import NamedTuple, final

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, scaled_dot_product_attention
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from labelspace import _checks
from labelspace.models.network import text_shape
from labelspace.models.sentences import Longest, Sentences, places

# embedding, hidden, layers of the networks of label embedding (004): LCSTS, and IWSLT'15
SIZES = {"seq2seq-500": (400, 500, 1), "seq2seq-512x2": (512, 512, 2)}
FORMS = ("seq2seq-H", "seq2seq-HxL")  # how names of other sizes are written: H units in each of L layers
START = 0.1  # weights start uniformly within ± this, as those of Luong et al. (2015)


class State(NamedTuple):
    """What a decoder knows before its next token, of R texts that it writes for B sources.

    Shape:
        memory ``(B, S, 2H)``, keys ``(B, S, H)``, present ``(B, S)``; row ``(R,)``, the source of each text; hidden
        and cell ``(R, layers, H)``.
    """

    memory: Tensor
    keys: Tensor
    present: Tensor
    row: Tensor
    hidden: Tensor
    cell: Tensor


def seq2seq(
    input_shape: tuple[int, ...],
    output_dim: int,
    *,
    name: str,
    vocabulary: int | None = None,
    targets: int | None = None,
    dropout: float = 0.3,
    tied: bool = False,
) -> "Seq2Seq":
    """Return a bidirectional LSTM that reads, and an LSTM with attention that writes.

    Paper says: LSTM encoder and decoder, one layer of 500 with embeddings of 400 (``seq2seq-500``), two of 512
    (``seq2seq-512x2``), attention. We add what it leaves open: the encoder reads in both directions, H units each;
    linear bridges to the decoder's first state; Luong's general attention; dropout on both embeddings, between layers,
    on the encoder's states and on the features.

    Args:
        input_shape: ``(length,)`` of the sources; any length is taken.
        output_dim: width of the head.
        name: ``seq2seq-H`` or ``seq2seq-HxL``: H units in L layers, embeddings as wide.
        vocabulary: number of source tokens.
        targets: number of target tokens, K.
        dropout: rate; public LSTM baselines for Multi30k use 0.2 to 0.5.
        tied: the head's weights are the embeddings of the target tokens too; needs a head over them.
    """
    owner = f"models.build({name!r})"
    text_shape(owner, input_shape)
    width, hidden, layers = parse_sizes(name)
    counts = [token_count(owner, key, value) for key, value in (("vocabulary", vocabulary), ("targets", targets))]
    rate = _checks.number(owner, "dropout", dropout, low=0, high=1, open_high=True)
    _checks.choice(owner, "tied", tied, (True, False))
    if tied and (output_dim != counts[1] or width != hidden):
        got = f"True with a head of {output_dim} for {counts[1]} tokens, embeddings of {width}, {hidden} units"
        expected = "False, unless the head has one output for each target token and embeddings are as wide as the units"
        raise _checks.fail(owner, "tied", expected, got)
    return Seq2Seq(counts[0], counts[1], output_dim, width, hidden, layers, rate, tied)


def parse_sizes(name: str) -> tuple[int, int, int]:
    """Return the width of embeddings, the units and the layers in a name.

    Example:
        >>> parse_sizes("seq2seq-500"), parse_sizes("seq2seq-64x2")
        ((400, 500, 1), (64, 64, 2))
    """
    found = re.fullmatch(r"seq2seq-([1-9][0-9]{0,4})(?:x([1-9]))?", name)
    if not found:
        expected = "'seq2seq-H' or 'seq2seq-HxL' with H units in each of L layers (at most 9)"
        raise _checks.fail("models.build", "name", expected, repr(name), "For example 'seq2seq-256'.")
    hidden = int(found[1])
    return SIZES.get(name, (hidden, hidden, int(found[2] or 1)))


def token_count(owner: str, argument: str, value: object) -> int:
    """Return a number of tokens that must be given."""
    if value is None:
        remedy = f"Give it as an option: {argument}=8000."
        raise _checks.fail(owner, argument, "the number of tokens", "nothing", remedy)
    return _checks.whole(owner, argument, value, low=1)


@final
class Seq2Seq(nn.Module):
    """An encoder–decoder; a call on ``Sentences`` returns output and features of the real targets alone.

    Args:
        vocabulary: number of source tokens.
        targets: number of target tokens, K; its number stands for "begin".
        output_dim: D, width of the head.
        width: of the embeddings.
        hidden: units of the decoder, and of each direction of the encoder.
        layers: of both.
        dropout: rate.
        tied: whether the head's weights embed the target tokens.

    Shape:
        ``Sentences`` with M real targets → output ``(M, D)``, features ``(M, hidden)``.
    """

    def __init__(
        self,
        vocabulary: int,
        targets: int,
        output_dim: int,
        width: int,
        hidden: int,
        layers: int,
        dropout: float,
        tied: bool,
    ) -> None:
        """Make the layers."""
        super().__init__()
        self.begin_token, self.feature_dim, self.architecture, self.longest = targets, hidden, None, Longest()
        self.source = nn.Embedding(vocabulary, width)
        # absent where the head's weights are used: files of weights take no tensor twice
        self.target = None if tied else nn.Embedding(targets, width)
        self.first = nn.Parameter(torch.empty(width))  # stands before the first token
        between = dropout if layers > 1 else 0.0
        self.encoder = nn.LSTM(width, hidden, layers, batch_first=True, dropout=between, bidirectional=True)
        self.decoder = nn.LSTM(width, hidden, layers, batch_first=True, dropout=between)
        self.bridges = nn.ModuleList(nn.Linear(2 * hidden, hidden) for _ in ("hidden", "cell"))
        self.key = nn.Linear(2 * hidden, hidden, bias=False)
        self.combine = nn.Linear(3 * hidden, hidden, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(hidden, output_dim)
        self._start()

    def _start(self) -> None:
        for name, parameter in self.named_parameters():
            if name.rpartition(".")[2].startswith("bias"):
                nn.init.zeros_(parameter)
            else:
                nn.init.uniform_(parameter, -START, START)
        for lstm in (self.encoder, self.decoder):
            for name, bias in lstm.named_parameters():
                if name.startswith("bias_hh"):  # gates that let the past through from the start
                    bias.data[lstm.hidden_size : 2 * lstm.hidden_size] = 1.0

    def forward(self, batch: Sentences) -> tuple[Tensor, Tensor]:
        """Return output and features of the real targets, each after the true tokens before it."""
        features = self.features(batch)
        return self.head(features), features

    def features(self, batch: Sentences) -> Tensor:
        """Return what the head reads of the real targets."""
        state = self.begin(batch.source, batch.lengths)
        states, _, _ = self._decoded(batch.previous, state)
        seen = torch.cat([self._attended(states, state), states], dim=2).flatten(0, 1)
        return self._finished(seen.index_select(0, batch.kept))

    def begin(self, source: Tensor, lengths: Tensor) -> State:
        """Return the state after reading sources; ``lengths`` are on the CPU."""
        embedded = self.dropout(self.source(source))
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        states, last = self.encoder(packed)
        memory = self.dropout(pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])[0])
        positions = torch.arange(source.shape[1], device=source.device)
        present = positions < lengths.to(source.device, non_blocking=True).unsqueeze(1)
        hidden, cell = (bridge(_joined(end)) for bridge, end in zip(self.bridges, last, strict=True))
        row = torch.arange(len(source), device=source.device)
        return State(memory, self.key(memory), present, row, hidden, cell)

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the output after one more token of each text, and the state that follows."""
        states, hidden, cell = self._decoded(tokens.unsqueeze(1), state)
        texts = states.squeeze(1)
        # texts of one source ask its memory together: a copy for each would cost more than all else but the head
        place = places(state.row)
        queries = texts.new_zeros(len(state.memory), int(place.max()) + 1, texts.shape[1])
        queries[state.row, place] = texts
        seen = torch.cat([self._attended(queries, state)[state.row, place], texts], dim=1)
        return self.head(self._finished(seen)), state._replace(hidden=hidden, cell=cell)

    def chosen(self, state: State, rows: Tensor) -> State:
        """Return these texts of a state, in this order; sources that none of them needs are left behind."""
        used, row = torch.unique(state.row[rows], return_inverse=True)
        sources = (state.memory, state.keys, state.present)
        if len(used) < len(state.memory):
            sources = (state.memory[used], state.keys[used], state.present[used])
        return State(*sources, row, state.hidden[rows], state.cell[rows])

    def head_weight(self) -> Tensor:
        """Return the weights of the last linear layer."""
        return self.head.weight

    def has_map(self, input_shape: tuple[int, ...]) -> bool:
        """Return whether features are the mean of a map over its positions: they are not."""
        return False

    def _decoded(self, previous: Tensor, state: State) -> tuple[Tensor, Tensor, Tensor]:
        """Return the decoder's states ``(B, T, H)`` after these tokens, and its last hidden and cell state."""
        table = self.head.weight if self.target is None else self.target.weight
        begins = (previous == self.begin_token).unsqueeze(2)
        tokens = embedding(previous.clamp(max=self.begin_token - 1), table)
        embedded = self.dropout(torch.where(begins, self.first, tokens))
        before = tuple(part.transpose(0, 1).contiguous() for part in (state.hidden, state.cell))
        states, (hidden, cell) = self.decoder(embedded, before)
        return states, hidden.transpose(0, 1), cell.transpose(0, 1)

    def _attended(self, states: Tensor, state: State) -> Tensor:
        """Return what each state of the decoder sees of the source, ``(B, T, 2H)``; padding has no weight."""
        mask = state.present.unsqueeze(1)
        # scale=1: the product with the keys is Luong's "general" score
        return scaled_dot_product_attention(states, state.keys, state.memory, attn_mask=mask, scale=1.0)

    def _finished(self, seen: Tensor) -> Tensor:
        """Return features."""
        features: Tensor = self.dropout(torch.tanh(self.combine(seen)))
        return features


def _joined(last: Tensor) -> Tensor:
    """Return ``(B, layers, 2H)`` from the last states ``(layers·2, B, H)`` of both directions."""
    both = last.reshape(-1, 2, *last.shape[1:])
    return torch.cat([both[:, 0], both[:, 1]], dim=2).transpose(0, 1)
