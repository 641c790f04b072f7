"""The card of a model of sequences, and the folder to take home."""

from pathlib import Path

from labelspace import train
from labelspace.serving.predictions import ready
from labelspace.serving.take_home import take_home
from labelspace.serving.text_card import text_card
from labelspace.training.run import Run
from small_corpus import SMALL, write_corpus
from small_results import of_texts


def test_a_card_says_what_it_is_and_how_good(tmp_path: Path) -> None:
    run = train(str(write_corpus(tmp_path / "numbers")), method="uniform", **{**SMALL, "epochs": 1})
    text = text_card(run, of_texts(warnings=["Mind | the gap."]))
    assert text.startswith("# A model that writes texts: multi30k\n")
    assert "on 120 train, 30 validation, 30 test pairs of texts" in text
    assert f"| **BLEU** | {run.result['test']['bleu']:.2f} |" in text
    assert "BLEU: `nrefs:1|case:mixed`" in text
    assert "| search | beam of 3, length penalty 1, at most 2 × source + 10 tokens; " in text
    assert "FORCED" not in text
    assert "Mind \\| the gap." in text
    assert "labelspace predict . TEXTS.txt" in text
    alone = text_card(run)
    assert alone.startswith("# A model that writes texts: numbers\n")
    assert "How it was chosen" not in alone

    home = take_home(run, None, tmp_path / "home")
    assert (home / "README.md").read_text() == alone
    assert not (home / "decision.json").exists()
    assert ready(home).run.translations == run.translations == Run.load(home).translations
