"""Scores from statistics beside sacrebleu and rouge-score on the texts; intervals over sentences and seeds."""

import random

import numpy as np
import pytest
import sacrebleu
import torch
from rouge_score.rouge_scorer import RougeScorer

from labelspace import InputError
from labelspace.data.vocabulary import Vocabulary
from labelspace.metrics import metric_interval
from labelspace.sequences.quality import (
    bleu_of_sums,
    measures,
    measures_for,
    quality_interval,
)

WORDS = ["a", "the", "man", "woman", "dog", "runs", "sits", "on", "in", "park", ",", ".", "red", "Größe", "ist", "ein"]


def corpus(seed: int, count: int = 30, noise: float = 0.3) -> tuple[list[str], list[str]]:
    draw = random.Random(seed)
    references = [" ".join(draw.choices(WORDS, k=draw.randint(1, 14))) for _ in range(count)]
    texts = [" ".join(w for w in text.split() if draw.random() > noise) for text in references]
    return [" ".join(w if draw.random() > noise else draw.choice(WORDS) for w in t.split()) for t in texts], references


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", [0.0, 0.3, 0.9])
def test_scores_of_a_corpus_are_those_of_sacrebleu(seed: int, noise: float) -> None:
    texts, references = corpus(seed, noise=noise)
    found = measures()
    assert found["BLEU"](texts, references) == pytest.approx(sacrebleu.corpus_bleu(texts, [references]).score, abs=1e-9)
    assert found["chrF"](texts, references) == pytest.approx(sacrebleu.corpus_chrf(texts, [references]).score, abs=1e-9)


@pytest.mark.parametrize(
    ("texts", "references"),
    [
        (["", ""], ["a b", "c"]),
        (["a b c"], ["a b c"]),  # no n-gram of order four
        (["a b c d e"], ["a x c y e"]),  # unigrams alone: smoothed
        (["a b c d e", "a b"], ["a b c x e", "q"]),
        (["q"], ["a b c d"]),
        (["a b c d e f g h"], ["a b c d"]),
        (["a b c d"], ["a b c d e f g h"]),
    ],
)
def test_corpora_at_the_edge(texts: list[str], references: list[str]) -> None:
    found = measures()
    assert found["BLEU"](texts, references) == pytest.approx(sacrebleu.corpus_bleu(texts, [references]).score, abs=1e-9)
    assert found["chrF"](texts, references) == pytest.approx(sacrebleu.corpus_chrf(texts, [references]).score, abs=1e-9)


def test_a_draw_of_sentences_is_scored_as_its_texts_would_be() -> None:
    texts, references = corpus(0)
    generator = np.random.default_rng(0)
    for measure in measures().values():
        counts = measure.count(texts, references)
        rows = generator.integers(len(texts), size=(4, len(texts)))
        times = np.stack([np.bincount(row, minlength=len(texts)) for row in rows])
        expected = [measure([texts[place] for place in row], [references[place] for place in row]) for row in rows]
        np.testing.assert_allclose(measure.of_sums(times @ counts), expected, rtol=1e-12)


@pytest.mark.parametrize(("name", "kind"), [("ROUGE-1", "rouge1"), ("ROUGE-2", "rouge2"), ("ROUGE-L", "rougeL")])
def test_rouge_is_the_mean_of_rouge_scorer(name: str, kind: str) -> None:
    texts, references = corpus(1)
    scorer = RougeScorer([kind])
    each = [scorer.score(reference, text)[kind].fmeasure for text, reference in zip(texts, references, strict=True)]
    assert measures()[name](texts, references) == pytest.approx(100 * float(np.mean(each)))


def test_characters_are_compared_where_words_have_no_spaces() -> None:
    texts, references = ["今天天气 好"], ["今天天气很好"]
    by_character, by_word = measures(characters=True), measures()
    # five of five characters and five of six; four of four and five pairs
    assert by_character["ROUGE-1"](texts, references) == pytest.approx(100 * 2 * 5 / 11)
    assert by_character["ROUGE-2"](texts, references) == pytest.approx(100 * 2 * 3 / 9)
    assert by_character["ROUGE-L"](texts, references) == pytest.approx(100 * 2 * 5 / 11)
    assert by_word["ROUGE-1"](texts, references) == 0.0
    expected = sacrebleu.corpus_bleu(texts, [references], tokenize="zh").score
    assert by_character["BLEU"](texts, references) == pytest.approx(expected, abs=1e-9)


def test_the_letters_of_a_vocabulary_say_what_is_compared() -> None:
    texts, references = ["今天天气 好"], ["今天天气很好"]
    for tokens in (["▁今天", "天气", "。"], list("今天气好")):  # words or characters: the writing is the same
        assert measures_for(tokens, False)["ROUGE-1"](texts, references) == pytest.approx(100 * 2 * 5 / 11)
        assert "tok:zh" in measures_for(tokens, False)["BLEU"].signature
    german = measures_for(["▁ein", "▁schöner", "▁Tag"], False)
    # schöner is one word, not sch and ner
    assert german["ROUGE-1"](["schöner Tag"], ["ein schöner Tag"]) == pytest.approx(100 * 2 * 2 / 5)
    assert "tok:13a" in german["BLEU"].signature
    assert measures_for(["▁a", "▁dog"], False)["ROUGE-1"].signature == measures()["ROUGE-1"].signature


def test_case_does_not_count_where_texts_have_small_letters_alone() -> None:
    texts, references = ["ein hund sieht ein haus"], ["Ein Hund sieht ein Haus"]
    small = measures_for(["▁ein", "▁hund"], True)
    assert small["BLEU"](texts, references) == pytest.approx(100)
    assert small["chrF"](texts, references) == pytest.approx(100)
    assert "case:lc" in small["BLEU"].signature
    assert measures()["BLEU"](texts, references) < 60


def test_an_unknown_word_is_one_word_to_bleu() -> None:
    vocabulary = Vocabulary.learn(["a dog sees a house and a tree"])
    row = vocabulary.encode(["a dog sees a giraffe and a tree"])[0]
    found = sacrebleu.BLEU().corpus_score([vocabulary.decode(row.tolist())], [["a dog sees a giraffe and a tree"]])
    assert (found.sys_len, found.ref_len) == (8, 8)


def test_signatures_name_version_and_tokenizer() -> None:
    found = measures()
    assert found["BLEU"].signature == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{sacrebleu.__version__}"
    assert "tok:zh" in measures(characters=True)["BLEU"].signature
    assert f"version:{sacrebleu.__version__}" in found["chrF"].signature
    assert "rouge-score" in found["ROUGE-L"].signature


def drawn(generator: np.random.Generator, seeds: int, sentences: int, skill: float = 0.6) -> np.ndarray:
    """Return statistics of BLEU of one method: sentences differ, and so do seeds."""
    lengths = generator.integers(6, 15, size=sentences)
    chance = np.clip(skill + 0.15 * generator.standard_normal(sentences), 0.1, 0.95)
    rows = np.empty((seeds, sentences, 10))
    for table in rows:
        here = np.clip(chance + 0.02 * generator.standard_normal(), 0.05, 0.97)
        totals = np.maximum(lengths[:, None] - np.arange(4), 0)
        table[:, 0] = table[:, 1] = lengths
        table[:, 2:6] = generator.binomial(totals, here[:, None] ** np.arange(1, 5))
        table[:, 6:] = totals
    return rows


def test_the_same_method_twice_differs_by_nothing() -> None:
    rows = drawn(np.random.default_rng(0), 3, 40)
    difference = quality_interval(bleu_of_sums, rows, rows, resamples=50)
    assert (difference.estimate, difference.low, difference.high) == (0.0, 0.0, 0.0)


def test_a_better_method_is_told_from_a_worse_one() -> None:
    generator = np.random.default_rng(1)
    better, worse = drawn(generator, 4, 200, 0.7), drawn(generator, 4, 200, 0.5)
    difference = quality_interval(bleu_of_sums, better, worse, resamples=200)
    assert difference.low is not None
    assert difference.low > 0
    assert difference.p_value is not None
    assert difference.p_value < 0.01
    each = [float(np.mean([bleu_of_sums(table.sum(axis=0)) for table in rows])) for rows in (better, worse)]
    assert difference.estimate == pytest.approx(each[0] - each[1])
    alone = quality_interval(bleu_of_sums, better, resamples=200)
    assert alone.low is not None
    assert alone.high is not None
    assert alone.low < each[0] < alone.high


def test_intervals_of_equal_methods_cover_zero_about_as_often_as_they_say() -> None:
    generator, missed, times = np.random.default_rng(2), 0, 100
    for _ in range(times):
        state = generator.integers(1 << 30)
        # the same sentences with the same chances, other seeds
        one, other = drawn(np.random.default_rng(state), 8, 50).reshape(2, 4, 50, 10)
        found = quality_interval(bleu_of_sums, one, other, resamples=200, level=0.8)
        assert found.low is not None
        assert found.high is not None
        missed += not found.low <= 0 <= found.high
    assert 8 <= missed <= 34  # 20 expected; beyond lies a chance of some one in a thousand


def test_one_seed_has_no_interval() -> None:
    found = quality_interval(bleu_of_sums, drawn(np.random.default_rng(0), 1, 20))
    assert found.low is None
    assert "1 seed" in found.note


def test_what_is_refused() -> None:
    found = measures()
    for texts, references in (([], []), (["a"], ["a", "b"]), ("a", "a")):
        for measure in found.values():
            with pytest.raises(InputError):
                measure(texts, references)
    with pytest.raises(InputError, match="statistics"):
        quality_interval(bleu_of_sums, np.zeros((3, 4)))
    rows = drawn(np.random.default_rng(0), 2, 5)
    with pytest.raises(InputError, match="reference"):
        quality_interval(bleu_of_sums, rows, rows[:, :4])
    with pytest.raises(InputError, match="finite"):
        quality_interval(bleu_of_sums, rows * np.nan)


def test_draws_added_up_are_those_of_a_metric_computed_anew() -> None:
    """Other draws of the same kind: the ends lie as near as the number of draws lets them."""
    generator = np.random.default_rng(3)
    one, other = drawn(generator, 3, 60, 0.65), drawn(generator, 3, 60, 0.6)
    added = quality_interval(bleu_of_sums, one, other, resamples=1000)
    y = torch.zeros(60, dtype=torch.int64)
    anew = metric_interval(lambda rows, _: float(bleu_of_sums(rows.sum(0).numpy())), one, y, other, resamples=400)
    assert added.estimate == pytest.approx(anew.estimate)
    assert added.low is not None
    assert added.high is not None
    assert anew.low is not None
    assert anew.high is not None
    width = anew.high - anew.low
    np.testing.assert_allclose([added.low, added.high], [anew.low, anew.high], atol=0.15 * width)
