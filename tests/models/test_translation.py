"""Encoder–decoders of transformers through the protocol of sequences."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import Tensor

from labelspace import InputError
from labelspace.models import build, rebuild
from labelspace.models.sentences import sentences
from labelspace.models.translation import Translation
from labelspace.sequences import translate

K, V, P = 11, 13, -100
LAYERS = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
WIDE = {"d_model": 16, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "vocab_size": 20, "max_position_embeddings": 40}
SIZES = {
    "t5": {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2, "vocab_size": 20},
    "bart": {**LAYERS, **WIDE},
    "marian": {**LAYERS, **WIDE, "pad_token_id": 0, "decoder_start_token_id": 0},
}
GIVEN = {"vocabulary": V, "targets": K}


def working_transformers() -> ModuleType:
    """Return the library, or skip: it may be missing, or broken by a torchvision that does not match torch."""
    try:
        importlib.import_module("transformers.modeling_utils")  # transformers itself imports lazily
        return importlib.import_module("transformers")
    except Exception as error:
        pytest.skip(f"transformers cannot be imported: {error}")


def made(name: str) -> Translation:
    working_transformers()
    torch.manual_seed(0)
    model = build(f"hf:{name}", (9,), K, **SIZES[name], **GIVEN)
    assert isinstance(model, Translation)
    return model.double().eval()


def ids() -> tuple[Tensor, Tensor]:
    x = torch.tensor([[3, 4, 5, 0, P], [12, 0, P, P, P], [2, 7, 8, 9, 0]])
    return x, torch.tensor([[2, 0, P, P], [10, 9, 8, 0], [0, P, P, P]])


@pytest.mark.parametrize("name", SIZES)
def test_neither_padding_nor_the_rest_of_the_batch_changes_an_output(name: str) -> None:
    model, (x, y) = made(name), ids()
    with torch.no_grad():
        together, features = model(sentences(x, y, K)[0])
        alone = [model(sentences(x[row : row + 1], y[row : row + 1], K)[0])[0] for row in range(3)]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(together, model.head(features))
    assert features.shape == (7, model.feature_dim)


@pytest.mark.parametrize("name", SIZES)
def test_single_steps_are_what_training_sees(name: str) -> None:
    model, (x, y) = made(name), ids()
    batch, _ = sentences(x, y, K)
    with torch.no_grad():
        expected = model(batch)[0]
        state, outputs = model.begin(batch.source, batch.lengths), []
        for tokens in batch.previous.T:
            output, state = model.step(tokens, state)
            outputs.append(output)
        again, _ = model.step(torch.tensor([1, 1]), model.chosen(state, torch.tensor([2, 0])))
        whole, _ = model.step(torch.tensor([1, 1, 1]), state)
    stepped = torch.stack(outputs, dim=1).flatten(0, 1)[batch.kept]
    torch.testing.assert_close(stepped, expected, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(again, whole[[2, 0]], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", SIZES)
def test_padding_has_no_gradient_and_every_parameter_one(name: str) -> None:
    model, (x, y) = made(name), ids()
    batch, _ = sentences(x, y, K)
    source = batch.source.clone()
    source[torch.arange(source.shape[1]) >= batch.lengths[:, None]] = 1  # an id that stands in the padding alone
    output, _ = model(batch._replace(source=source))
    torch.testing.assert_close(output, model(batch)[0], rtol=0, atol=1e-12)
    (output * torch.randn(output.shape, dtype=torch.float64)).sum().backward()
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]  # not Marian's positions
    assert all(parameter.grad is not None for parameter in learned)
    assert model.source.weight.grad is not None
    assert not model.source.weight.grad[1].any()
    places = [value.data_ptr() for value in model.state_dict().values()]
    assert len(set(places)) == len(places)  # files of weights take no tensor twice


@pytest.mark.parametrize("name", SIZES)
def test_a_beam_over_many_is_one_at_a_time(name: str) -> None:
    model, (x, y) = made(name), ids()
    batch, _ = sentences(x, y, K)
    model.head.bias.data[0] -= 1
    found = translate(model, lambda output: output, batch.source, batch.lengths, beam=3, longest=6)
    for row, length in enumerate(batch.lengths.tolist()):
        alone = (batch.source[row : row + 1, :length], batch.lengths[row : row + 1])
        assert translate(model, lambda output: output, *alone, beam=3, longest=6) == [found[row]]


@pytest.mark.parametrize(("name", "most"), [("t5", None), ("bart", 40), ("marian", 40)])
def test_more_tokens_than_positions_are_refused_in_words(name: str, most: int | None) -> None:
    model = made(name)
    assert model.longest == (most, most)
    long, lengths, plain = torch.ones(1, 41, dtype=torch.int64), torch.tensor([41]), lambda output: output
    model.head.bias.data[0] -= 1000  # no text ends by itself
    if most is None:
        assert len(translate(model, plain, long, lengths, beam=1)[0]) == 2 * 41 + 9
        return
    words = r"`{}` of {} must be such that the network has a position for every token of a {}\. Got 41 tokens for 40"
    with pytest.raises(InputError, match=words.format("source", "Translation", "source")):
        translate(model, plain, long, lengths)
    with pytest.raises(InputError, match=words.format("previous", "Translation", "target")):
        model(sentences(torch.tensor([[1, 0]]), long, K)[0])
    with pytest.raises(InputError, match=words.format("longest", "translate", "target")):
        translate(model, plain, long[:, :5], lengths - 36, longest=41)
    # twice the source and ten more would be 70
    assert len(translate(model, plain, long[:, :30], lengths - 11, beam=1)[0]) == 39


def test_a_record_builds_it_again_without_its_folder(tmp_path: Path) -> None:
    transformers = working_transformers()
    saved = transformers.AutoModel.from_config(transformers.AutoConfig.for_model("bart", **SIZES["bart"]))
    saved.save_pretrained(tmp_path / "it")
    torch.manual_seed(0)
    model = build(f"hf:{tmp_path / 'it'}", (9,), K, **GIVEN)
    assert isinstance(model, Translation)
    weight = saved.encoder.layers[0].fc1.weight
    torch.testing.assert_close(model.model.get_parameter("encoder.layers.0.fc1.weight"), weight)
    (tmp_path / "it").rename(tmp_path / "gone")
    again = rebuild(f"hf:{tmp_path / 'it'}", (9,), K, model.architecture, **GIVEN)
    again.load_state_dict(model.state_dict())
    batch, _ = sentences(*ids(), K)
    torch.testing.assert_close(again.eval()(batch), model.eval()(batch), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("name", "options", "argument"),
    [
        ("bert", {}, "name"),
        ("t5", {"auto_map": {}}, "option name"),
        ("t5", {"vocabulary": None}, "vocabulary"),
        ("t5", {"targets": 0}, "targets"),
        ("no-such", {}, "name"),
    ],
)
def test_what_is_refused(name: str, options: dict[str, object], argument: str) -> None:
    working_transformers()
    small = {"num_hidden_layers": 1, "hidden_size": 16, "num_attention_heads": 2} if name == "bert" else {}
    with pytest.raises(InputError) as caught:
        build(f"hf:{name}", (9,), K, **{**small, **GIVEN, **options})
    assert caught.value.argument == argument
