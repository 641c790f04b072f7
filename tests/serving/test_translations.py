"""Files of texts and what a run makes of them."""

import gzip
from pathlib import Path

import pytest

from labelspace import InputError
from labelspace.serving import translations
from labelspace.training.run import train
from small_corpus import SMALL, write_corpus


def test_lines_of_files(tmp_path: Path) -> None:
    plain, packed = tmp_path / "new.txt", tmp_path / "new.txt.gz"
    plain.write_bytes("one two.\r\n\nfünf\n".encode())
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert translations.texts_of(plain) == translations.texts_of(packed) == ["one two.", "", "fünf"]
    with pytest.raises(
        InputError, match=r"`NEW` of predict must be a text file, one text on each line\. Got .*nowhere"
    ):
        translations.texts_of(tmp_path / "nowhere")
    (tmp_path / "picture").write_bytes(b"\x89PNG\0\0")
    with pytest.raises(InputError, match="a file that is not text"):
        translations.texts_of(tmp_path / "picture")


def test_pieces_are_as_the_whole_and_nothing_stays_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = train(write_corpus(tmp_path), **SMALL)
    texts = ["one two three.", "", "nine.", "  ", "four four."]
    monkeypatch.setattr(translations, "AT_ONCE", 2)
    with pytest.warns(UserWarning, match="2 of 5 lines are empty: they stay so"):
        found = [text for piece in translations.translations(run, texts) for text in piece]
    asked = [text for text in texts if text.strip()]
    assert [text for text, source in zip(found, texts, strict=True) if source.strip()] == run.translate(asked)
    assert [found[1], found[3]] == ["", ""]
    with pytest.raises(InputError, match=r"`run` of Run.translate must be of a model of sequences"):
        list(translations.translations(train("digits", model="linear", epochs=1, limit=100), ["one"]))
