"""The Trainer of Hugging Face trains what a plain loop trains: accumulated, with ignored labels, saved and resumed."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from integrations.plain import (
    CLASSES,
    DECAY,
    MAKE,
    METHODS,
    RATE,
    SPLIT,
    assert_same,
    batches,
    network,
    plain_loop,
    samples,
    state,
)
from labelspace import InputError, LabelEmbedding, LearnableSmoothing, OneHot, OnlineSmoothing

transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")
from labelspace.integrations import huggingface  # noqa: E402
from labelspace.integrations.huggingface import LabelCallback, LabelTrainer, loss_function  # noqa: E402

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


class Answers(nn.Module):
    """The network as Trainers call one."""

    def __init__(self) -> None:
        super().__init__()
        self.network = network()

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"logits": self.network(x)}


class Tokens(nn.Module):
    """The network at every position of a text: ``(B, T, K)``."""

    def __init__(self) -> None:
        super().__init__()
        self.network = network()

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"logits": self.network(x.reshape(-1, x.shape[-1])).reshape(*x.shape[:-1], CLASSES)}


def arguments(folder: Path, **more: Any) -> Any:
    settings = {
        "output_dir": str(folder),
        "learning_rate": RATE,
        "weight_decay": DECAY,
        "lr_scheduler_type": "constant",
        "optim": "adamw_torch",
        "per_device_train_batch_size": 12,
        "num_train_epochs": 5,
        "train_sampling_strategy": "sequential",
        "label_names": ["labels"],
        "save_strategy": "no",
        "logging_strategy": "no",
        "report_to": [],
        "use_cpu": True,
        "disable_tqdm": True,
        "dataloader_pin_memory": False,
    }
    return transformers.TrainingArguments(**{**settings, **more})


def dataset(x: Tensor, y: Tensor) -> list[dict[str, Tensor]]:
    return [{"x": one, "labels": label} for one, label in zip(x, y, strict=True)]


def found(trainer: Any) -> dict[str, Tensor]:
    return state(trainer.model.network, trainer.criterion)


@pytest.mark.parametrize("method", METHODS)
def test_twenty_steps_are_those_of_a_plain_loop(method: str, tmp_path: Path) -> None:
    x, y = samples()
    trainer = LabelTrainer(Answers(), arguments(tmp_path), criterion=MAKE[method](), train_dataset=dataset(x, y))
    trainer.train()
    assert trainer.state.global_step == 20
    wanted = plain_loop(network(), MAKE[method](), batches(x, y, 12), epochs=5, clip=1.0, biases=False)
    assert_same(found(trainer), wanted)


MASKED = [0, 5, 6, 7, 13, 14, 22, 23]  # unevenly over the micro-batches


def masked(y: Tensor) -> Tensor:
    return y.index_fill(0, torch.tensor(MASKED), -100)


def mixed_up(y: Tensor) -> Tensor:
    """Return probabilities of two classes each, some of no class."""
    soft = 0.7 * nn.functional.one_hot(y, CLASSES) + 0.3 * nn.functional.one_hot(y.roll(1), CLASSES)
    return soft.index_fill(0, torch.tensor(MASKED), 0)


FORMS = [("ignored", method) for method in SPLIT] + [("probabilities", "ols"), ("weighed", "lls"), ("weighed", "ols")]


@pytest.mark.parametrize(("labels", "method"), FORMS)
def test_accumulated_batches_are_one_large_batch(method: str, labels: str, tmp_path: Path) -> None:
    x, y = samples()
    y = mixed_up(y) if labels == "probabilities" else masked(y)
    common = {"weight": [0.5, 2.0, 1.0, 3.0]} if labels == "weighed" else {}
    settings = arguments(tmp_path, per_device_train_batch_size=4, gradient_accumulation_steps=4, num_train_epochs=2)
    trainer = LabelTrainer(Answers(), settings, criterion=MAKE[method](**common), train_dataset=dataset(x, y))
    trainer.train()
    assert trainer.state.global_step == 6
    wanted = plain_loop(network(), MAKE[method](**common), batches(x, y, 16), epochs=2, clip=1.0, biases=False)
    assert_same(found(trainer), wanted)


@pytest.mark.parametrize("class_dim", [1, -1])
def test_tokens_are_counted_one_by_one(class_dim: int, tmp_path: Path) -> None:
    """As many tokens as classes, so that a layout that was mistaken for another would not be refused."""
    x, y = samples()
    y = masked(y)
    texts = dataset(x.reshape(12, CLASSES, -1), y.reshape(12, CLASSES))
    settings = arguments(tmp_path, per_device_train_batch_size=1, gradient_accumulation_steps=3, num_train_epochs=2)
    trainer = LabelTrainer(Tokens(), settings, criterion=MAKE["semantic"](class_dim=class_dim), train_dataset=texts)
    trainer.train()
    wanted = plain_loop(network(), MAKE["semantic"](), batches(x, y, 12), epochs=2, clip=1.0, biases=False)
    assert_same(found(trainer), wanted)


def test_any_trainer_takes_the_function_and_the_callback(tmp_path: Path) -> None:
    x, y = samples()
    criterion = MAKE["ols"]()
    trainer = transformers.Trainer(
        Answers(),
        arguments(tmp_path, per_device_train_batch_size=4, gradient_accumulation_steps=3),
        train_dataset=dataset(x, masked(y)),
        compute_loss_func=loss_function(criterion),
        callbacks=[LabelCallback(criterion)],
    )
    trainer.train()
    wanted = plain_loop(network(), MAKE["ols"](), batches(x, masked(y), 12), epochs=5, clip=1.0, biases=False)
    assert_same(state(trainer.model.network, criterion), wanted)
    torch.testing.assert_close(criterion.label_matrix.sum(dim=1), torch.ones(CLASSES))


@pytest.mark.parametrize("method", ["lls", "ols", "lwal"])  # all of them on two ranks
def test_resumed_in_mid_epoch_it_ends_as_if_nothing_had_happened(method: str, tmp_path: Path) -> None:
    x, y = samples()

    def trainer(**more: Any) -> Any:
        settings = arguments(tmp_path, num_train_epochs=3, save_strategy="steps", save_steps=6, **more)
        return LabelTrainer(Answers(), settings, criterion=MAKE[method](), train_dataset=dataset(x, y))

    whole = trainer()
    whole.train()
    resumed = trainer()
    resumed.train(resume_from_checkpoint=str(tmp_path / "checkpoint-6"))
    assert resumed.state.global_step == 12
    assert_same(found(resumed), found(whole), 1e-7)
    if method == "ols":
        stopped = trainer(max_steps=6)
        stopped.train()
        # half an epoch is no epoch: it is counted on when training goes on
        torch.testing.assert_close(stopped.criterion.statistics.sums["seen"], torch.tensor(24.0))


def tiny(kind: Any, **more: Any) -> Any:
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    off = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    torch.manual_seed(1)
    return kind(transformers.BertConfig(vocab_size=20, num_labels=CLASSES, **sizes, **off, **more))


def texts(tokens: bool, count: int = 16) -> list[dict[str, Tensor]]:
    generator = torch.Generator().manual_seed(2)
    words = torch.randint(20, (count, 6), generator=generator)
    labels = words % CLASSES if tokens else words[:, 0] % CLASSES
    return [{"input_ids": one, "labels": label} for one, label in zip(words, labels, strict=True)]


def test_labels_do_not_decay_and_are_saved_with_the_model(tmp_path: Path) -> None:
    model = tiny(transformers.BertForSequenceClassification)
    criterion = LearnableSmoothing(CLASSES)
    start = criterion.label_logits.detach().clone()
    settings = arguments(tmp_path, learning_rate=1e-9, weight_decay=1e8, max_steps=1)
    trainer = LabelTrainer(model, settings, criterion=criterion, train_dataset=texts(False), eval_dataset=texts(False))
    heavy = model.classifier.weight.detach().clone()
    trainer.train()
    torch.testing.assert_close(criterion.label_logits.detach(), start)
    torch.testing.assert_close(model.classifier.weight.detach(), 0.9 * heavy)
    trainer.save_model()
    again = tiny(transformers.BertForSequenceClassification).from_pretrained(tmp_path)
    torch.testing.assert_close(again.classifier.weight, model.classifier.weight)
    assert trainer.evaluate()["eval_loss"] == pytest.approx(float(trainer.evaluate()["eval_loss"]))


@pytest.mark.parametrize("tokens", [False, True])
def test_label_embedding_gets_features(tokens: bool, tmp_path: Path) -> None:
    kind = transformers.BertForTokenClassification if tokens else transformers.BertForSequenceClassification
    model = tiny(kind, output_hidden_states=True)
    criterion = LabelEmbedding(CLASSES, in_features=8)
    getter = None if tokens else (lambda outputs: outputs.hidden_states[-1][:, 0])
    trainer = LabelTrainer(
        model, arguments(tmp_path, max_steps=3), criterion=criterion, features=getter, train_dataset=texts(tokens)
    )
    before = criterion.embedding.detach().clone(), criterion.second_head.weight.detach().clone()
    trainer.train()
    after = criterion.embedding.detach(), criterion.second_head.weight.detach()
    assert all(bool((new != old).any()) for new, old in zip(after, before, strict=True))
    shown = trainer.predict(texts(tokens)).predictions
    assert shown.shape == ((16, 6, CLASSES) if tokens else (16, CLASSES))  # scores alone, no hidden states


def test_scores_are_what_metrics_see(tmp_path: Path) -> None:
    x, y = samples()
    criterion = MAKE["lwal"]()
    trainer = LabelTrainer(Answers(), arguments(tmp_path), criterion=criterion, train_dataset=dataset(x, y))
    trainer.train()
    shown = torch.from_numpy(trainer.predict(dataset(x, y)).predictions)
    with torch.no_grad():
        torch.testing.assert_close(shown, criterion.scores(trainer.model(x)["logits"]))


def test_a_causal_model_is_shifted() -> None:
    logits, y = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0)), torch.tensor([[0, 1, 2, 1, -100]] * 2)
    found = loss_function(OneHot(3), shift=True)({"logits": logits}, y, num_items_in_batch=6)
    wanted = nn.functional.cross_entropy(logits[:, :-1].reshape(-1, 3), y[:, 1:].reshape(-1))
    torch.testing.assert_close(found, wanted)


def test_what_cannot_work_is_refused(tmp_path: Path) -> None:
    x, y = samples()
    with pytest.raises(InputError, match=r"`labels` of loss_function must be given .*label_names=\['labels'\]"):
        loss_function(OneHot(3))({"logits": torch.zeros(2, 3)}, None)
    with pytest.raises(InputError, match=r"`criterion` of loss_function must be a labelspace criterion. Got CrossEntr"):
        loss_function(nn.CrossEntropyLoss())
    with pytest.raises(InputError, match="`criterion` of loss_function must be one with reduction='mean'"):
        loss_function(OneHot(3, reduction="sum"))
    embedding = LabelEmbedding(3, in_features=2)
    with pytest.raises(InputError, match=r"Set model.config.output_hidden_states = True"):
        loss_function(embedding)({"logits": torch.zeros(2, 3)}, torch.tensor([0, 1]))
    with pytest.raises(InputError, match=r"hidden states of shape \(2, 4, 2\) for logits of \(2, 3\)"):
        loss_function(embedding)({"logits": torch.zeros(2, 3), "hidden_states": [torch.zeros(2, 4, 2)]}, y[:2])
    model, criterion = Answers(), LearnableSmoothing(CLASSES)
    early = torch.optim.SGD(model.parameters(), lr=0.1)
    trainer = LabelTrainer(
        model, arguments(tmp_path), criterion=criterion, train_dataset=dataset(x, y), optimizers=(early, None)
    )
    with pytest.raises(InputError, match=r"without label_logits of LearnableSmoothing"):
        trainer.train()


class Settings:
    """Arguments of a Trainer on two ranks."""

    world_size, average_tokens_across_devices, ddp_find_unused_parameters, gradient_checkpointing = 2, True, None, False


def test_settings_that_break_ranks_are_refused() -> None:
    learns, free = LearnableSmoothing(3), OnlineSmoothing(3)
    huggingface._check_ranks(Settings(), free)
    with pytest.raises(InputError, match="`ddp_find_unused_parameters` of TrainingArguments must be False"):
        huggingface._check_ranks(Settings(), learns)
    settings = Settings()
    settings.average_tokens_across_devices = False  # type: ignore[misc]
    with pytest.raises(
        InputError, match="`average_tokens_across_devices` of TrainingArguments must be True on several"
    ):
        huggingface._check_ranks(settings, free)
