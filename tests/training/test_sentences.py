"""Pairs of texts through the loop: what is measured, kept, resumed and divided among ranks.

Two ranks run this very file: ``torchrun --nproc-per-node 2 test_sentences.py OUT CORPUS``.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import log_softmax

from labelspace import Learner, criteria, data, models
from labelspace._checks import DamagedError, InputError
from labelspace.criteria.targets import IGNORED
from labelspace.data.vocabulary import Vocabulary
from labelspace.training.build import Outline, make_learner, prepare
from labelspace.training.config import make_config
from labelspace.training.loop import Loop
from labelspace.training.run import Run, train
from labelspace.training.sentences import SentenceFeed, feed_of, measured, translated
from small_corpus import SMALL, write_corpus

FILES = ("model.safetensors", "scores.safetensors", "label_space.safetensors", "epochs.jsonl", "translations.json")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train(corpus, out=tmp_path_factory.mktemp("runs"), method="uniform", smoothing=0.1, **SMALL)


def test_an_epoch_is_every_pair_once_in_batches_of_like_length(corpus: Path) -> None:
    dataset = data.load(corpus, kind="sequences")
    feed = SentenceFeed(dataset.train, dataset, make_config())
    batches = feed.epoch(16, torch.Generator().manual_seed(0))
    assert sorted(torch.cat(batches).tolist()) == list(range(len(dataset.train)))
    assert [len(batch) for batch in batches].count(16) >= len(batches) - 1
    spreads = [int(feed.lengths[batch].max() - feed.lengths[batch].min()) for batch in batches]
    assert max(spreads) <= 2, "batches of any lengths would have four or five"
    firsts = [int(feed.lengths[batch].max()) for batch in batches]
    assert firsts != sorted(firsts), "short ones would always come first"
    again = feed.epoch(16, torch.Generator().manual_seed(0))
    assert all(torch.equal(one, two) for one, two in zip(batches, again, strict=True))


def test_numbers_are_those_of_single_sentences(corpus: Path) -> None:
    torch.manual_seed(0)
    dataset = data.load(corpus, kind="sequences")
    classes = len(dataset.names)
    assert dataset.vocabulary is not None
    model = models.build("seq2seq-16", (9,), classes, vocabulary=len(dataset.vocabulary), targets=classes)
    learner = Learner(model, criteria.make_criterion("onehot", dataset.names)).double()
    feed = feed_of(dataset.test, dataset, make_config(precision="float64", batch_size=7))
    numbers, kept = measured(learner, feed, make_config(precision="float64", batch_size=7))
    likelihood, right, tokens = [], 0, 0
    learner.eval()
    with torch.no_grad():
        for x, y in zip(dataset.test.x, dataset.test.y, strict=True):
            source, target = x[x != IGNORED], y[y != IGNORED]
            state = learner.model.begin(source[None], torch.tensor([len(source)]))
            token, total = model.begin_token, 0.0
            for wanted in target.tolist():
                output, state = learner.model.step(torch.tensor([token]), state)
                total += float(log_softmax(output[0], dim=0)[wanted])
                right += int(output[0].argmax()) == wanted
                tokens, token = tokens + 1, wanted
            likelihood.append(total)
    np.testing.assert_allclose(kept["log_likelihood"].numpy(), likelihood, rtol=1e-9)
    assert numbers["accuracy"] == pytest.approx(right / tokens, abs=1e-12)
    assert numbers["nll"] == pytest.approx(-sum(likelihood) / tokens, rel=1e-9)


def test_the_loss_of_an_epoch_is_that_of_its_tokens(corpus: Path) -> None:
    """With a rate of nothing every step sees the same network: the mean over batches is that over all tokens."""
    config = make_config(
        data=str(corpus), **{**SMALL, "epochs": 1, "learning_rate": 1e-30}, model_options={"dropout": 0}
    )
    loop = Loop(prepare(config))
    before = measured(loop.learner, loop.feed, config).numbers["nll"]
    loop.run()
    assert loop.progress.history[0]["train_loss"] == pytest.approx(before, rel=1e-5)


def test_a_run_is_kept_and_translates_again(run: Run, corpus: Path) -> None:
    assert run.folder is not None
    loaded = Run.load(run.folder)
    dataset = data.load(corpus, kind="sequences")
    assert dataset.test.text is not None
    assert dataset.test.answers is not None
    assert loaded.translations == run.translations
    assert loaded.translate(list(dataset.test.text)) == list(run.translations["test"])
    assert len(run.translations["validation"]) == 30
    import sacrebleu

    bleu = sacrebleu.corpus_bleu(list(run.translations["test"]), [list(dataset.test.answers)])
    assert run.result["test"]["bleu"] == pytest.approx(bleu.score, abs=1e-9)
    assert loaded.translate([]) == []
    assert loaded.result["search"] == {"beam": 3, "length_penalty": 1.0, "source_times": 2, "more": 10}
    # a text that has as many tokens as there may be: its end is one of them, and no other was allowed there
    target = Vocabulary.stored(dataset.source["vocabularies"]["target"])
    sources = (dataset.test.x != IGNORED).sum(dim=1).tolist()
    written = [len(ids) for ids in target.encode(run.translations["test"])]
    forced = sum(length == 2 * source + 10 for length, source in zip(written, sources, strict=True))
    assert loaded.result["test"]["forced"] == forced
    with pytest.raises(InputError, match=r"`run` of Run.predict must be of a model with one label"):
        loaded.predict(["one two."])
    for given, got in (
        ("one two.", "'one two.'"),
        (None, "None"),
        (3, "3"),
        ([3], "one with 3 at place 0"),
        (["one.", None], "one with None at place 1"),
    ):
        with pytest.raises(TypeError, match=f"`texts` of Run.translate must be a list of texts. Got {got}"):
            loaded.translate(given)  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="2 of 3 texts are empty: they stay so"):
        assert loaded.translate(["", "one two.", " "]) == ["", loaded.translate(["one two."])[0], ""]


def test_texts_that_never_end_are_counted_and_told(corpus: Path) -> None:
    job = prepare(make_config(data=str(corpus), **SMALL))
    learner = make_learner(job.config, Outline.of(job.dataset), None)
    learner.model.head.bias.data[0] -= 1000
    texts, numbers = translated(learner, job.dataset.test, job)
    assert (len(texts), numbers["forced"]) == (30, 30.0)
    learner.model.head.bias.data[0] += 2000
    assert translated(learner, job.dataset.test, job)[1]["forced"] == 0.0


def test_new_texts_are_as_long_as_those_of_training(corpus: Path, tmp_path: Path) -> None:
    """A longer one is refused in one line, or cut as those of training were: with their last token an end."""
    short = {**SMALL, "epochs": 1}
    strict = train(corpus, out=tmp_path, **{**short, "data_options": {"kind": "sequences", "longest": [9, 20]}})
    long = " ".join(["one"] * 20)
    words = (
        r"`texts` of Run.translate must be of at most 9 tokens each, the end included, as those it was trained on\. "
        r"Got 1 of 2 longer, up to 21 in text 2 \('one one one one one one one one one one …'\)\."
    )
    for run in (strict, Run.load(strict.folder or "")):
        with pytest.raises(InputError, match=words):
            run.translate(["one.", long])
        assert len(run.translate(["one one one one one one one one"])) == 1
    cut = train(corpus, **{**short, "data_options": {"kind": "sequences", "longest": [5, 20], "cut": "source"}})
    with pytest.warns(UserWarning, match="1 of 2 texts is longer than 5 tokens: it is cut, as those of training"):
        found = cut.translate([long, "two."])
    assert found == cut.translate(["one one one one", "two."])
    dataset = data.load(corpus, kind="sequences", longest=[5, 20], cut="source")
    assert dataset.test.text is not None
    assert dataset.test.x.shape[1] == 5
    with pytest.warns(UserWarning, match="are cut"):
        assert cut.translate(list(dataset.test.text)) == list(cut.translations["test"])


def test_damaged_translations_are_noticed(run: Run, tmp_path: Path) -> None:
    assert run.folder is not None
    for spoil in ("{", '{"test": [1]}', None):
        copy = tmp_path / str(spoil and len(spoil))
        copy.mkdir()
        for path in run.folder.iterdir():
            if path.is_file():
                (copy / path.name).write_bytes(path.read_bytes())
        if spoil is None:
            (copy / "translations.json").unlink()
        else:
            (copy / "translations.json").write_text(spoil)
        with pytest.raises(DamagedError, match=r"translations\.json"):
            Run.load(copy)


class Stop(Exception):
    """Ends a training in the middle."""


def test_stopped_and_resumed_it_is_the_same(run: Run, corpus: Path, tmp_path: Path) -> None:
    saved = 0

    def report(event: str, numbers: Any) -> None:
        nonlocal saved
        saved += event == "saved"
        if saved == 5:
            raise Stop

    options = {"method": "uniform", "smoothing": 0.1, **SMALL}
    with pytest.raises(Stop):
        train(corpus, out=tmp_path, checkpoint_seconds=0, report=report, **options)
    seen: list[str] = []
    again = train(corpus, out=tmp_path, report=lambda event, numbers: seen.append(event), **options)
    assert seen[0] == "resumed"
    assert run.folder is not None
    assert again.folder is not None
    for name in FILES:
        assert (again.folder / name).read_bytes() == (run.folder / name).read_bytes(), name


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("`method` of train must be one that remembers nothing of single samples", {"method": "lwr"}),
        ("`model` of train must be one that reads and writes texts", {"model": "text-bag"}),
        ("`beam` of train must be at most the number of tokens", {"beam": 100}),
        ("`label_noise` of train must be left out for sequences", {"label_noise": "symmetric:0.1"}),
        ("`specs` of Augment must be empty: token ids cannot be blended", {"augment": ["mixup"]}),
        ("`space` of train must be one that needs no samples", {"method": "semantic", "space": "lda"}),
    ],
)
def test_what_makes_no_sense_is_refused(corpus: Path, tmp_path: Path, words: str, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=words):
        train(corpus, out=tmp_path / "runs", **{**SMALL, **options})
    assert not (tmp_path / "runs").exists()


def test_a_network_for_texts_is_refused_for_pictures() -> None:
    with pytest.raises(InputError, match=r"seq2seq-16"):
        train("digits", model="seq2seq-16", epochs=1)


OPTIONS: dict[str, Any] = {**SMALL, "method": "labelemb", "method_options": {"rank": 3}, "batch_size": 15}


def main(out: Path, corpus: Path) -> None:
    """Train on this rank; fifteen pairs divide into eight and seven, whose last is filled up."""
    from labelspace import _distributed

    _distributed.join(torch.device("cpu"))
    train(corpus, out=out, **OPTIONS, model_options={"dropout": 0})
    _distributed.leave()


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_two_ranks_are_as_one(corpus: Path, tmp_path: Path) -> None:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [*launcher, __file__, str(tmp_path), str(corpus)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    (folder,) = tmp_path.glob("labelemb-*")
    both, alone = Run.load(folder), train(corpus, **OPTIONS, model_options={"dropout": 0})
    assert both.config.world == 2
    for one, two in zip(both.epochs, alone.epochs, strict=True):
        assert one == pytest.approx(two, rel=1e-4)
    for name, value in both.weights.items():
        torch.testing.assert_close(value, alone.weights[name], rtol=1e-3, atol=1e-4)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
