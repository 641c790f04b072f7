"""The encoder–decoder beside a slow one in numpy, its padding, its single steps."""

import copy
import pickle

import numpy as np
import pytest
import torch
from torch import Tensor

from labelspace import InputError
from labelspace.models import Seq2Seq, build, count_parameters, names
from labelspace.models.sentences import Sentences, sentences

K, V, P = 11, 13, -100
NAMES = ["seq2seq-6", "seq2seq-5x2"]


def made(name: str = "seq2seq-6", seed: int = 0, output: int = K, **options: object) -> Seq2Seq:
    torch.manual_seed(seed)
    model = build(name, (9,), output, vocabulary=V, targets=K, **options)
    assert isinstance(model, Seq2Seq)
    for parameter in model.parameters():  # large enough that everything matters
        parameter.data.mul_(3.0)
    return model.double().eval()


def ids(rows: int = 5, seed: int = 1) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x, y = torch.full((rows, 9), P), torch.full((rows, 8), P)
    for row in range(rows):
        for table, tokens in ((x, V), (y, K)):
            length = int(torch.randint(1, table.shape[1] + 1, (1,), generator=generator))
            table[row, : length - 1] = torch.randint(1, tokens, (length - 1,), generator=generator)
            table[row, length - 1] = 0
    return x, y


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def lstm(weights: dict[str, np.ndarray], end: str, x: list, h: np.ndarray, c: np.ndarray) -> list:
    """Return (h, c) after each input of one direction of one layer."""
    out = []
    for one in x:
        gates = weights[f"weight_ih_{end}"] @ one + weights[f"bias_ih_{end}"]
        gates += weights[f"weight_hh_{end}"] @ h + weights[f"bias_hh_{end}"]
        i, f, g, o = np.split(gates, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append((h, c))
    return out


def reference(model: Seq2Seq, source: list[int], target: list[int]) -> np.ndarray:
    """Return the outputs for one pair of texts, in a loop over time."""
    all_weights = {name: value.numpy() for name, value in model.state_dict().items()}

    def part(name: str) -> dict[str, np.ndarray]:
        return {key.removeprefix(name): value for key, value in all_weights.items() if key.startswith(name)}

    layers, hidden = model.decoder.num_layers, model.decoder.hidden_size
    zero, inputs, starts = np.zeros(hidden), [all_weights["source.weight"][token] for token in source], []
    for layer in range(layers):
        there = lstm(part("encoder."), f"l{layer}", inputs, zero, zero)
        back = lstm(part("encoder."), f"l{layer}_reverse", inputs[::-1], zero, zero)
        inputs = [np.concatenate([one[0], other[0]]) for one, other in zip(there, back[::-1], strict=True)]
        last = [np.concatenate([there[-1][which], back[-1][which]]) for which in (0, 1)]
        bridges = [part(f"bridges.{which}.") for which in (0, 1)]
        starts.append([bridge["weight"] @ end + bridge["bias"] for bridge, end in zip(bridges, last, strict=True)])
    memory = np.stack(inputs)
    table = all_weights.get("target.weight", all_weights["head.weight"])
    states = [all_weights["first"], *(table[token] for token in target[:-1])]
    for layer in range(layers):
        states = [h for h, _ in lstm(part("decoder."), f"l{layer}", states, *starts[layer])]
    rows = []
    for state in states:
        scores = memory @ (all_weights["key.weight"].T @ state)
        shares = np.exp(scores - scores.max())
        context = shares / shares.sum() @ memory
        features = np.tanh(all_weights["combine.weight"] @ np.concatenate([context, state]))
        rows.append(all_weights["head.weight"] @ features + all_weights["head.bias"])
    return np.stack(rows)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_what_a_loop_in_numpy_makes_of_each_pair(name: str, tied: bool) -> None:
    model, (x, y) = made(name, tied=tied), ids()
    batch, _ = sentences(x, y, K)
    with torch.no_grad():
        output, features = model(batch)
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    rows = [reference(model, *([token for token in text if token != P] for text in pair)) for pair in pairs]
    torch.testing.assert_close(output, torch.from_numpy(np.concatenate(rows)), rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(output, model.head(features))
    assert features.shape == (len(output), model.feature_dim)
    assert model.head_weight() is model.head.weight


@pytest.mark.parametrize("name", NAMES)
def test_neither_padding_nor_the_rest_of_the_batch_changes_an_output(name: str) -> None:
    model, (x, y) = made(name), ids()
    with torch.no_grad():
        together = model(sentences(x, y, K)[0])[0]
        alone = torch.cat([model(sentences(x[row : row + 1], y[row : row + 1], K)[0])[0] for row in range(len(x))])
        wider = model(padded(sentences(x, y, K)[0], 3))[0]
    torch.testing.assert_close(together, alone, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(together, wider, rtol=1e-12, atol=1e-12)


def padded(batch: Sentences, more: int) -> Sentences:
    """Return a batch with more padding than it needs."""
    rows, length = batch.previous.shape
    extra = torch.zeros(rows, more, dtype=torch.int64)
    kept = batch.kept // length * (length + more) + batch.kept % length
    return Sentences(torch.cat([batch.source, extra], 1), batch.lengths, torch.cat([batch.previous, extra], 1), kept)


@pytest.mark.parametrize("name", NAMES)
def test_other_ids_in_the_padding_change_nothing_and_get_no_gradient(name: str) -> None:
    """Ids that stand in the padding alone have rows of gradients that are exactly zero, and outputs keep every bit."""
    x, y = ids()
    batch, _ = sentences(x, y, K)
    batch = padded(batch, 2)
    source, previous = batch.source.clone(), batch.previous.clone()
    source[torch.arange(source.shape[1]) >= batch.lengths[:, None]] = V - 1
    real = torch.zeros(previous.numel(), dtype=torch.bool)
    real[batch.kept] = True
    previous.view(-1)[~real] = K - 1
    model = made(name)
    # the last id of each side is real nowhere else
    source, clean = source.where(batch.source != V - 1, 1), batch.source.where(batch.source != V - 1, 1)
    source[torch.arange(source.shape[1]) >= batch.lengths[:, None]] = V - 1
    previous = previous.where(batch.previous != K - 1, 1)
    previous.view(-1)[~real] = K - 1
    changed = batch._replace(source=source, previous=previous)
    plain = batch._replace(source=clean, previous=batch.previous.where(batch.previous != K - 1, 1))
    results = [model(one)[0] for one in (plain, changed)]
    torch.testing.assert_close(*results, rtol=0, atol=0)
    weights = torch.randn(results[1].shape, dtype=torch.float64)
    (results[1] * weights).sum().backward()
    assert model.target is not None
    assert model.source.weight.grad is not None
    assert not model.source.weight.grad[V - 1].any()
    assert model.target.weight.grad is not None
    assert not model.target.weight.grad[K - 1].any()
    assert (source == V - 1).any()
    assert (previous == K - 1).any()


@pytest.mark.parametrize("name", [*NAMES, "seq2seq-3"])
@pytest.mark.parametrize("tied", [False, True])
def test_single_steps_are_what_training_sees(name: str, tied: bool) -> None:
    model, (x, y) = made(name, tied=tied), ids()
    batch, _ = sentences(x, y, K)
    with torch.no_grad():
        expected = model(batch)[0]
        state = model.begin(batch.source, batch.lengths)
        outputs = []
        for tokens in batch.previous.T:
            output, state = model.step(tokens, state)
            outputs.append(output)
    stepped = torch.stack(outputs, dim=1).flatten(0, 1)[batch.kept]
    torch.testing.assert_close(stepped, expected, rtol=1e-6, atol=1e-6)


def test_chosen_rows_of_a_state_go_on_as_they_were() -> None:
    model, (x, y) = made("seq2seq-5x2"), ids()
    batch, _ = sentences(x, y, K)
    rows = torch.tensor([3, 0, 3])
    with torch.no_grad():
        _, state = model.step(batch.previous[:, 0], model.begin(batch.source, batch.lengths))
        whole, _ = model.step(torch.tensor([1, 2, 3, 4, 5]), state)
        some, _ = model.step(torch.tensor([4, 1, 4]), model.chosen(state, rows))
    torch.testing.assert_close(some, whole[rows], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"tied": True}])
def test_every_parameter_gets_a_gradient(options: dict[str, bool]) -> None:
    model = made("seq2seq-6x2", dropout=0.2, **options).train()
    output, _ = model(sentences(*ids(), K)[0])
    (output * torch.randn(output.shape, dtype=torch.float64)).sum().backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in model.parameters())
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert count_parameters(twin) == count_parameters(model)


def test_weights_of_a_tied_network_are_stored_once() -> None:
    state = made(tied=True).state_dict()
    places = [value.data_ptr() for value in state.values()]
    assert len(set(places)) == len(places)


def test_the_sizes_of_the_paper() -> None:
    with torch.device("meta"):
        one = build("seq2seq-500", (40,), 4000, vocabulary=4000, targets=4000)
        two = build("seq2seq-512x2", (40,), 7000, vocabulary=9000, targets=7000)
    assert isinstance(one, Seq2Seq)
    assert isinstance(two, Seq2Seq)
    assert (one.source.embedding_dim, one.decoder.hidden_size, one.decoder.num_layers) == (400, 500, 1)
    assert (two.source.embedding_dim, two.decoder.hidden_size, two.decoder.num_layers) == (512, 512, 2)
    assert {"seq2seq-256", "seq2seq-500", "seq2seq-512x2", "seq2seq-H", "seq2seq-HxL"} <= set(names())


@pytest.mark.parametrize("output", [4, 30])
def test_the_head_may_be_narrower_or_wider_than_the_vocabulary(output: int) -> None:
    result, features = made(output=output)(sentences(*ids(), K)[0])
    assert result.shape == (len(features), output)


@pytest.mark.parametrize(
    ("name", "options", "argument"),
    [
        ("seq2seq-", {}, "name"),
        ("seq2seq-0", {}, "name"),
        ("seq2seq-8x0", {}, "name"),
        ("seq2seq-8", {"vocabulary": None}, "vocabulary"),
        ("seq2seq-8", {"targets": None}, "targets"),
        ("seq2seq-8", {"targets": 0}, "targets"),
        ("seq2seq-8", {"dropout": 1.0}, "dropout"),
        ("seq2seq-8", {"tied": True, "targets": 9}, "tied"),
        ("seq2seq-500", {"tied": True}, "tied"),
        ("seq2seq-8", {"width": 3}, "option name"),
    ],
)
def test_what_is_refused(name: str, options: dict[str, object], argument: str) -> None:
    with pytest.raises(InputError) as caught:
        build(name, (9,), K, **{"vocabulary": V, "targets": K, **options})
    assert caught.value.argument == argument


def test_images_are_refused() -> None:
    with pytest.raises(InputError, match="token ids"):
        build("seq2seq-8", (1, 8, 8), K, vocabulary=V, targets=K)
