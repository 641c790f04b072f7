"""Pairs of texts through ``compare`` from end to end: judged by BLEU, resumed, repeated, and refused in words."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU

from labelspace import data
from labelspace._checks import InputError
from labelspace.comparison import Comparison, compare
from labelspace.comparison.question import Question
from labelspace.comparison.sequences import Translated
from labelspace.sequences.quality import measures
from labelspace.sweeps.executors import InProcess
from labelspace.training.run import Run
from small_corpus import SMALL, write_corpus

HOSTILE = "<script>alert(1)</script>"
ASKED: dict[str, Any] = {
    **SMALL,
    "methods": ["uniform", "lls"],
    "method_options": {"lls": {"rank": 4}},
    "strengths": {"uniform": [0.05, 0.3]},
    "seeds": 2,
    "epochs": 3,
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the small corpus, with a script in a text of the test part."""
    folder = write_corpus(tmp_path_factory.mktemp("texts") / "numbers")
    first, *others = (folder / "test.tsv").read_text().splitlines()
    source, target = first.split("\t")
    lines = [f"{source} {HOSTILE}\t{target} {HOSTILE}", *others]
    (folder / "test.tsv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def finished(corpus: Path) -> Comparison:
    return compare(str(corpus), **ASKED, out=corpus.parent / "runs", executor=InProcess())


def runs_of(comparison: Comparison, row: int) -> list[Run]:
    assert comparison.folder is not None
    return [Run.load(comparison.folder / "runs" / name) for name in comparison.rows[row].runs]


def test_rows_are_judged_by_bleu_on_the_test_part(finished: Comparison, corpus: Path) -> None:
    assert finished.result.measure is not None
    assert finished.result.measure.title == "BLEU"
    assert finished.result.measure.signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert [row.label for row in finished.rows] == ["one-hot", "uniform", "LLS"]
    answers = data.load(str(corpus), kind="sequences").test.answers
    assert answers is not None
    for number, row in enumerate(finished.rows):
        scores = [BLEU().corpus_score(run.translations["test"], [answers]).score for run in runs_of(finished, number)]
        assert row.quality is not None
        assert row.quality.value == pytest.approx(sum(scores) / 2, rel=1e-9)
        assert row.quality.low is not None
        assert row.quality.high is not None
        assert 0 <= row.quality.low <= row.quality.value <= row.quality.high <= 100
        assert row.argmax.of("bleu") == pytest.approx(row.quality.value)
        assert set(row.argmax.others) == {"bleu", "chrf", "rouge-1", "rouge-2", "rouge-l", "forced", "perplexity"}
    first, last = finished.rows[0].quality, finished.rows[2].quality
    assert first is not None
    assert last is not None
    assert finished.rows[0].change is None
    assert finished.rows[2].change is not None
    assert finished.rows[2].change.estimate == pytest.approx(last.value - first.value)


def test_strengths_and_the_winner_are_chosen_on_validation_data(finished: Comparison) -> None:
    uniform = finished.rows[1]
    assert [trial.value for trial in uniform.trials] == [0.05, 0.3]
    best = max(uniform.trials, key=lambda trial: trial.validation_quality or 0)
    assert uniform.strength is not None
    assert uniform.strength.value == best.value
    winner = max(finished.rows[1:], key=lambda row: row.validation_quality or 0)
    assert [row.label for row in finished.rows if row.winner] == [winner.label] == [finished.verdict.subject]
    # nothing was tried where nothing was asked for: it is the method's own strength
    assert finished.rows[2].strength is not None
    assert (finished.rows[2].strength.value, len(finished.rows[2].trials)) == (0.1, 1)
    assert (finished.verdict.margin, finished.verdict.indicative) == (0.5, True)
    assert finished.result.neighbours is not None
    assert finished.result.neighbours.label == "LLS"


def test_the_best_model_is_taken_home_without_decisions(finished: Comparison) -> None:
    assert finished.folder is not None
    best = finished.folder / "best"
    assert not (best / "decision.json").exists()
    card = (best / "README.md").read_text()
    assert "| **BLEU** |" in card
    assert "nrefs:1" in card
    assert finished.best.translate(["one two."]) == runs_best(finished).translate(["one two."])


def runs_best(finished: Comparison) -> Run:
    assert finished.folder is not None
    assert finished.recommendation is not None
    assert finished.recommendation.run is not None
    return Run.load(finished.folder / "runs" / finished.recommendation.run)


def test_table_page_and_records_speak_of_bleu(finished: Comparison) -> None:
    assert finished.folder is not None
    text = finished.table()
    assert "BLEU ↑" in text
    assert "nrefs:1" in text
    assert "texts: beam of 3, length penalty 1, at most 2 × source + 10 tokens" in " ".join(text.split())
    assert "cost" not in text
    page = finished.save_html().read_text(encoding="utf-8")
    assert HOSTILE not in page
    assert "Texts side by side" in page
    assert "texts by a beam of 3, length penalty 1, at most 2 × source + 10 tokens" in page
    assert "Validation BLEU of every strength tried" in page
    assert "Learning curves" in page
    assert 'id="honesty"' not in page
    records = finished.records()
    assert [record["label"] for record in records] == ["one-hot", "uniform", "LLS"]
    assert all("bleu" in record and "cost" in record for record in records)


def test_called_again_it_trains_nothing(finished: Comparison, corpus: Path) -> None:
    told: list[str] = []
    again = compare(
        str(corpus),
        **ASKED,
        out=corpus.parent / "runs",
        executor=InProcess(),
        report=lambda event, _: told.append(event),
    )
    assert again.content == finished.content
    assert told[-1] == "unchanged"
    assert "analysis" not in told


def test_its_plan_repeats_it(finished: Comparison, tmp_path: Path) -> None:
    assert finished.folder is not None
    plan = shutil.copy(finished.folder / "plan.toml", tmp_path / "plan.toml")
    again = compare(plan=plan, out=tmp_path / "out", executor=InProcess())
    assert again.folder is not None
    stored = json.loads((again.folder / "comparison.json").read_text())
    mine, theirs = ({**each, "command": "", "next": ""} for each in (finished.content, again.content))
    assert json.dumps(mine) == json.dumps(theirs)
    assert stored["measure"]["key"] == "bleu"


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("`cost` of compare must be left out for sequences. Got one. They are judged by BLEU", {"cost": "squared"}),
        ("`probabilities` of compare must be left out for sequences. Got 'inverted'", {"probabilities": "inverted"}),
        ("`capacity` of compare must be left out for sequences", {"capacity": {"a": 0.5}}),
        ("`method` of train must be one that remembers nothing of single samples, for sequences", {"methods": "lwr"}),
        ("`margin` of compare must be", {"margin": 200.0}),
        ("`model` of train must be one that reads and writes texts", {"model": "linear"}),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    corpus: Path, tmp_path: Path, words: str, options: dict[str, Any]
) -> None:
    asked = {**SMALL, "seeds": 2, "methods": "uniform", **options}
    with pytest.raises(InputError) as caught:
        compare(str(corpus), **asked, out=tmp_path / "runs", executor=InProcess())
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "runs").exists()


def test_models_that_write_the_same_are_not_told_apart(finished: Comparison, corpus: Path) -> None:
    runs, dataset = runs_of(finished, 0), data.load(str(corpus), kind="sequences")
    same = Translated(runs, dataset, measures()["BLEU"])
    moved = same.change(Translated(runs, dataset, measures()["BLEU"]), 0.95)
    assert (moved.estimate, moved.low, moved.high, moved.p_value) == (0.0, None, None, None)
    assert (moved.seeds, moved.samples, moved.note) == (2, 30, "no text counts otherwise")


def test_models_that_learned_nothing_get_no_verdict(corpus: Path, tmp_path: Path) -> None:
    asked = {**SMALL, "methods": "uniform", "seeds": 2, "epochs": 1, "learning_rate": 1e-6}
    found = compare(str(corpus), **asked, out=tmp_path / "runs", executor=InProcess())
    assert found.verdict.sentences[0].startswith("No method reaches 1 BLEU: these models have hardly learned to write")
    assert found.verdict.kind == "undecided"
    assert found.verdict.cause is None
    # they never learned to end: said of every row
    forced = [row.argmax.of("forced") for row in found.rows]
    assert forced == [
        pytest.approx(np.mean([run.result["test"]["forced"] for run in runs_of(found, n)])) for n in (0, 1)
    ]
    said = [warning for warning in found.result.warnings if "test texts were ended by force" in warning]
    assert len(said) == sum(count > 0.05 * 30 for count in forced)


def test_a_table_of_all_pairs_of_tokens_is_refused(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelspace.training.build.fits", lambda count: False)
    with pytest.raises(InputError, match="'ols', which holds a number for every pair of them"):
        compare(str(corpus), **{**SMALL, "methods": "ols", "seeds": 1}, out=tmp_path, executor=InProcess())


def test_named_methods_learn_labels_of_a_rank_too(corpus: Path) -> None:
    dataset = data.load(str(corpus), kind="sequences")
    given = {"method_options": {"near": {"prune_after": 1, "top": 3}}}
    asked = Question("texts", dataset, ("lls", "near=lls", "ols"), None, None, "auto", 1, "2m", given)
    options = asked.about(dataset).options["method_options"]
    assert options == {"lls": {"rank": min(64, len(dataset.names))}, "near": {"prune_after": 1, "top": 3}}


def test_a_margin_of_classifiers_is_a_share(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="`margin` of compare must be less than or equal to 1. Got 2.0"):
        compare("digits", methods="uniform", model="linear", margin=2.0, out=tmp_path)


def test_a_single_run_has_an_interval_over_texts_alone(finished: Comparison, corpus: Path) -> None:
    dataset = data.load(str(corpus), kind="sequences")
    by = measures()["chrF"]  # of models this small BLEU is 0
    one = Translated([runs_best(finished)], dataset, by)
    judged = one.quality(0.95)
    counts = one.statistics[0]
    generator = np.random.default_rng(1)
    drawn = [counts[generator.integers(len(counts), size=len(counts))].sum(axis=0) for _ in range(2000)]
    expected = np.quantile(by.of_sums(np.stack(drawn)), [0.025, 0.975])
    assert judged.low is not None
    assert judged.high is not None
    assert 0 < judged.low < judged.value < judged.high
    assert abs(judged.high - judged.low - (expected[1] - expected[0])) < 0.35 * (expected[1] - expected[0])
    assert one.change(Translated([runs_best(finished)], dataset, by), 0.95).low is None


def test_summaries_are_judged_by_rouge(corpus: Path, tmp_path: Path) -> None:
    """The number of a row is the mean over seeds and texts of what rouge-score itself says."""
    options = {"kind": "sequences", "measure": "ROUGE-1"}
    asked = {**SMALL, "data_options": options, "methods": "uniform", "seeds": 2, "epochs": 8, "learning_rate": 0.03}
    found = compare(str(corpus), **asked, out=tmp_path / "runs", executor=InProcess())
    assert found.result.measure is not None
    assert (found.result.measure.key, found.result.measure.title) == ("rouge-1", "ROUGE-1")
    assert [extra.key for extra in found.result.extra] == ["rouge-2", "rouge-l"]
    answers = data.load(str(corpus), **options).test.answers
    assert answers is not None
    plain = str.maketrans({"ü": "u"})  # rouge-score's own words have the letters a–z alone
    scorer = RougeScorer(["rouge1"])
    for number, row in enumerate(found.rows):
        pairs = [pair for run in runs_of(found, number) for pair in zip(answers, run.translations["test"], strict=True)]
        scores = [scorer.score(*(text.translate(plain) for text in pair))["rouge1"].fmeasure for pair in pairs]
        assert row.quality is not None
        assert row.quality.value == pytest.approx(100 * sum(scores) / len(scores), rel=1e-9)
        assert row.quality.value > 1
    assert "ROUGE-1 ↑" in found.table()
    assert "BLEU" not in found.table()
    assert "ROUGE-1" in found.verdict.sentences[0]
