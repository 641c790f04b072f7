"""What models return, in every form that people have, against what was put there."""

from collections import OrderedDict, namedtuple
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from labelspace import LabelEmbedding, Learner, OneHot
from labelspace._returned import features_of, output_of

OUTPUT, FEATURES = torch.arange(6.0).reshape(2, 3), torch.arange(8.0).reshape(2, 4)
STATES = (torch.zeros(2, 4), FEATURES)
Pair = namedtuple("Pair", ["hidden_states", "logits"])


@pytest.mark.parametrize(
    "returned",
    [
        (OUTPUT, FEATURES),
        [OUTPUT, FEATURES, torch.zeros(1)],
        {"logits": OUTPUT, "features": FEATURES},
        OrderedDict(loss=None, logits=OUTPUT, hidden_states=STATES),
        SimpleNamespace(logits=OUTPUT, hidden_states=STATES),
        Pair(STATES, OUTPUT),
    ],
)
def test_output_and_features_are_found(returned: Any) -> None:
    output = output_of("Learner", returned)
    assert output is OUTPUT
    assert features_of("Learner", returned, output) is FEATURES
    assert features_of("Learner", returned, output, lambda found: OUTPUT) is OUTPUT
    assert output_of("Learner", returned, lambda found: FEATURES) is FEATURES


def test_there_may_be_no_features() -> None:
    for returned in (OUTPUT, (OUTPUT,), (OUTPUT, STATES)):
        assert features_of("Learner", returned, output_of("Learner", returned)) is None
    with pytest.raises(
        ValueError, match=r"`features` of Learner must be in the output of the model. Got no hidden states"
    ):
        features_of("Learner", {"logits": OUTPUT}, OUTPUT)
    with pytest.raises(ValueError, match="one row for each row of logits. Got hidden states of shape"):
        features_of("Learner", {"hidden_states": (torch.zeros(2, 7, 4),)}, OUTPUT)


@pytest.mark.parametrize("returned", [None, {"scores": OUTPUT}, (), ("x", OUTPUT), 3])
def test_what_has_no_output_says_how_to_find_it(returned: Any) -> None:
    with pytest.raises(TypeError, match="`model` of Learner must be one that returns a tensor.*output=lambda"):
        output_of("Learner", returned)


def test_a_model_of_transformers_in_a_plain_loop() -> None:
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    config = transformers.BertConfig(vocab_size=20, num_labels=3, output_hidden_states=True, **sizes)
    bert = transformers.BertForSequenceClassification(config).eval()
    batch = {"input_ids": torch.tensor([[1, 3, 7], [2, 4, 0]]), "attention_mask": torch.tensor([[1, 1, 1], [1, 1, 0]])}
    labels, outcome = torch.tensor([2, 0]), bert(**batch)
    learner = Learner(bert, OneHot(3))
    loss, scores = learner(**batch, labels=labels, scores=True)
    torch.testing.assert_close(loss, nn.functional.cross_entropy(outcome.logits, labels))
    torch.testing.assert_close(scores, outcome.logits.detach())
    torch.testing.assert_close(learner(**batch), outcome.logits)
    torch.testing.assert_close(learner.predict(**batch, labels=labels), outcome.logits.argmax(1))

    def first(returned: Any) -> Tensor:
        return returned.hidden_states[-1][:, 0]

    criterion = LabelEmbedding(3, in_features=8)
    wanted = criterion(outcome.logits, labels, features=first(outcome))
    torch.testing.assert_close(Learner(bert, criterion, features=first)(**batch, labels=labels), wanted)
    with pytest.raises(ValueError, match=r"Give features=lambda outputs: outputs.hidden_states\[-1\]\[:, 0\]"):
        Learner(bert, criterion)(**batch, labels=labels)
