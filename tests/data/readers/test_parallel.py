"""Parallel text in its layouts, and what is wrong with it in one clear line."""

import gzip
import warnings

import numpy as np
import pytest
import torch

from labelspace import data
from labelspace._checks import InputError
from labelspace.criteria.targets import IGNORED
from labelspace.data.readers import parallel
from labelspace.data.vocabulary import END, UNKNOWN, Vocabulary
from parallel_text import PAIRS, PARTS, write_lines, write_table, write_tar
from realdata import data_folder

FOLDER = data_folder()
real = [pytest.mark.data, pytest.mark.skipif(FOLDER is None, reason="the real datasets are not here")]


def texts_of(part):
    return list(zip(part.text, part.answers, strict=True))


def check_rows(dataset):
    """Compare every row with its text, by the vocabularies in the source alone."""
    source, target = (Vocabulary.stored(dataset.source["vocabularies"][side]) for side in ("source", "target"))
    assert (dataset.vocabulary, dataset.names) == (source.tokens, target.tokens)
    for part in dataset.parts.values():
        for ids, texts, own in ((part.x, part.text, source), (part.y, part.answers, target)):
            assert ids.dtype == torch.int64
            for row, text in zip(ids.tolist(), texts, strict=True):
                length = row.index(END) + 1
                assert set(row[length:]) <= {IGNORED}
                assert row[:length] == own.encode([text])[0].tolist()


@pytest.mark.parametrize("packed", [False, True])
def test_two_files(tmp_path, packed):
    dataset = data.load(write_lines(tmp_path / "d", packed=packed), source="en")
    assert repr(dataset) == "Dataset(sequences en→de, 15 → 15 tokens: 8 train, 2 validation, 2 test)"
    assert [texts_of(part) for part in dataset.parts.values()] == list(PARTS.values())
    assert UNKNOWN in dataset.test.x
    assert UNKNOWN not in dataset.train.x
    check_rows(dataset)
    back = data.load(tmp_path / "d", target="en")
    assert back.source["languages"] == ["de", "en"]
    assert texts_of(back.test) == [pair[::-1] for pair in PARTS["test"]]
    assert back.key != dataset.key


@pytest.mark.parametrize("ending", ["tsv", "tsv.gz"])
def test_tables(tmp_path, ending):
    for part, name in (("train", "train"), ("val", "valid"), ("test", "test")):
        write_table(tmp_path / f"{name}.{ending}", PARTS[part])
    dataset = data.load(tmp_path, kind="sequences")
    assert [texts_of(part) for part in dataset.parts.values()] == list(PARTS.values())
    assert dataset.source["languages"] == ["source", "target"]
    check_rows(dataset)


def test_one_table_is_split_and_its_vocabulary_is_that_of_training(tmp_path):
    rows = [(f"id{n}", f"w{n} w", f"v{n} v") for n in range(40)]
    path = write_table(tmp_path / "pairs.txt", rows)
    dataset = data.load(path, kind="sequences", columns=["id", "en", "de"], source="de", target="en", seed=3)
    assert {name: len(part) for name, part in dataset.parts.items()} == {"train": 28, "validation": 6, "test": 6}
    assert {text for part in dataset.parts.values() for text in part.text} == {row[2] for row in rows}
    trained = {f"▁{word}" for text in dataset.train.text for word in text.split()}
    assert set(dataset.vocabulary[2:]) == trained
    assert (dataset.test.x[:, 0] == UNKNOWN).all()
    check_rows(dataset)


def test_a_folder_of_training_alone_is_split(tmp_path):
    dataset = data.load(write_lines(tmp_path, {"train": PAIRS}), source="en")
    assert dataset.source["split"]["test"].startswith("split from all")


def test_tar_files_of_iwslt(tmp_path):
    for stem, text in (("tst2012", "I don &apos;t say &quot; x &quot; &amp; y .\n"), ("tst2013", "tests &lt; a\n")):
        write_tar(tmp_path / f"{stem}.tgz", {f"{stem}.en": text, f"deep/{stem}.vi": text})
    write_lines(tmp_path, {"train": PAIRS})
    for path in (tmp_path / "train.de",):
        path.rename(path.with_suffix(".vi"))
    dataset = data.load(tmp_path, kind="sequences", source="en")
    assert dataset.validation.text == ('I don \'t say " x " & y .',)
    assert dataset.test.answers == ("tests < a",)
    as_it_is = data.load(tmp_path, kind="sequences", source="en", unescape=False)
    assert as_it_is.test.answers == ("tests &lt; a",)


def test_another_test_set(tmp_path):
    write_lines(tmp_path / "d", {**PARTS, "test_2017": PAIRS[:3]})
    write_tar(tmp_path / "other.tar", {"x/tst2013.en": "A cat .\n", "x/tst2013.de": "Eine Katze .\n"})
    write_lines(tmp_path / "more", {"test": PAIRS[:1], "dev": PAIRS[4:5]})
    write_table(tmp_path / "own.tsv", [("A", "Ein")])
    usual = data.load(tmp_path / "d", source="en")

    def tested(test_set):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            dataset = data.load(tmp_path / "d", kind="sequences", columns=["en", "de"], test_set=test_set)
        assert (dataset.names, dataset.vocabulary) == (usual.names, usual.vocabulary)
        return texts_of(dataset.test)

    assert tested("test_2017") == PAIRS[:3]
    assert tested("other.tar") == [("A cat .", "Eine Katze .")]
    assert tested(str(tmp_path / "more")) == PAIRS[:1]
    assert tested("more/dev") == PAIRS[4:5]
    assert tested("own.tsv") == [("A", "Ein")]
    with pytest.raises(InputError, match=r"`test_set` of data.load must be a part of the data.*Got 'absent'"):
        tested("absent")


@pytest.mark.parametrize("tokens", ["word", "subword", "character"])
def test_forms_of_tokens(tmp_path, tokens):
    dataset = data.load(write_lines(tmp_path), source="en", tokens=tokens, vocabulary=[25, 20], lowercase=True)
    assert len(dataset.vocabulary) <= 25
    assert len(dataset.names) <= 20
    assert "▁A" not in dataset.vocabulary
    check_rows(dataset)


def test_long_texts_are_refused_or_cut_when_asked(tmp_path):
    rows = [*PAIRS[:3], ("short", "ein sehr " * 30), *PAIRS[3:]]
    write_lines(tmp_path, {"train": rows, "test": [("other", "anders")]})
    message = (
        r"`longest` of data.load must be at least the tokens of every target text, its end included \(20\)\. "
        r"Got 1 of 14 longer, up to 61 tokens in train.de, line 4 \('ein sehr ein sehr .*…'\)\. Cut them with cut=True"
    )
    with pytest.raises(InputError, match=message):
        data.load(tmp_path, source="en", longest=20)
    with pytest.raises(InputError, match="every target text"):
        data.load(tmp_path, source="en", longest=[300, 20], cut="source")
    dataset = data.load(tmp_path, source="en", longest=20, cut="target", validation="last 1")
    row = dataset.train.y[3]
    assert dataset.train.y.shape[1] == 20
    assert row[-1] == END
    assert (row[:-1] > UNKNOWN).all()
    assert dataset.train.answers[3] == ("ein sehr " * 30)
    assert dataset.source["cut"] == {"target": 1}
    report = data.check(tmp_path, source="en", longest=20)
    said = "1 target text is longer than 19 tokens (the longest: 60 in train.de:4): training refuses it unless "
    assert f"{said}cut=True or longest=61 is given." in report.problems


def test_empty_lines_are_dropped_from_training_and_refused_elsewhere(tmp_path):
    write_lines(tmp_path, {"train": [*PAIRS[:2], ("", "leer"), ("nothing", " \t"), *PAIRS[2:]], "test": PAIRS[:1]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        dataset = data.load(tmp_path, source="en", validation="none")
    assert len(dataset.train) == len(PAIRS)
    assert dataset.source["dropped"] == {"train": 2}
    write_lines(tmp_path, {"test": [PAIRS[0], ("x", "")]})
    with pytest.raises(InputError, match=r"texts on both sides\. Got test\.de, line 2: none\..*test part"):
        data.load(tmp_path, source="en")


def test_other_ends_of_lines_do_not_shift_the_sentences(tmp_path):
    rows = [("a\u2028b", "x"), ("c\x85d", "y"), ("e\x0bf", "z"), *PAIRS]
    for part in ("train", "val", "test"):
        for place, language in enumerate(("en", "de")):
            text = "\ufeff" + "\r\n".join(row[place] for row in rows) + ("\r\n" if part == "train" else "")
            (tmp_path / f"{part}.{language}").write_bytes(text.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        dataset = data.load(tmp_path, source="en")
    assert texts_of(dataset.train) == rows
    assert texts_of(dataset.test) == rows


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda d: (d / "train.de").write_text("x\n" * 7),
            r"as many lines as each other\. Got 8 in train\.en and 7 in",
        ),
        (lambda d: (d / "train.de").write_bytes("Männer\n".encode("latin-1") * 8), r"not UTF-8 \(line 1\).*iconv"),
        (
            lambda d: (d / "train.de").write_bytes(b"\x89PNG\0\0" * 9),
            r"readable train\.de\. Got a file that is not text",
        ),
        (lambda d: (d / "train.de").write_bytes(b""), r"Got 8 in train\.en and 0 in train\.de"),
        (lambda d: (d / "val.de").unlink(), r"must be val\.en and val\.de\. Got no val\.de"),
        (lambda d: [(d / f"test.{one}").write_bytes(b"") for one in ("en", "de")], r"texts in test\.en .* Got none"),
        (lambda d: (d / "train.fr").write_text("x\n" * 8), "`target`.*the language to write, one of de, en, fr"),
    ],
)
def test_bad_files_are_one_clear_line(tmp_path, spoil, message):
    spoil(write_lines(tmp_path))
    with pytest.raises(InputError, match=message) as caught:
        data.load(tmp_path, source="en")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocabulary": 0}, "`vocabulary` of data.load must be a whole number of at least 3. Got 0"),
        ({"vocabulary": [10, 20, 30]}, "`vocabulary` of data.load must be one number, or one for source"),
        ({"longest": 1}, "`longest` of data.load must be a whole number of at least 2"),
        ({"tokens": "words"}, "Did you mean 'word'"),
        ({"cut": "both"}, "`cut` of data.load must be one of False, True, 'source', 'target'"),
        ({"source": "fr"}, "`source` of data.load must be one of 'de', 'en'. Got 'fr'"),
        ({"source": "en", "target": "en"}, "`target` of data.load must be the language to write"),
        ({}, "`source` of data.load must be the language to read, one of de, en. Got none"),
        ({"columns": ["x"]}, "`columns` of data.load must be at least two different names"),
        ({"source": "en", "classes": "first 5"}, "`classes` of .* must be left out for pairs of texts"),
        ({"source": "en", "kind": "texts"}, "`kind` of data.load must be one of 'sequences'"),
    ],
)
def test_bad_options_are_one_clear_line(tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        data.load(write_lines(tmp_path), **options)


def test_a_table_with_other_columns_is_refused(tmp_path):
    path = write_table(tmp_path / "pairs.tsv", [*PAIRS, ("a", "b", "c")])
    with pytest.raises(InputError, match=r"lines of 2 texts with tabs between them\. Got 3 in pairs\.tsv, line 13"):
        data.load(path, kind="sequences")


def test_a_packed_file_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    write_lines(tmp_path)
    (tmp_path / "train.de").unlink()
    (tmp_path / "train.de.gz").write_bytes(gzip.compress(b"x\n" * 100_000))
    monkeypatch.setenv("LABELSPACE_MAX_UNPACKED", "50K")
    with pytest.raises(InputError, match="a file that unpacks to at most 51,200 bytes"):
        data.load(tmp_path, source="en")


def test_kind_is_refused_for_other_data():
    with pytest.raises(InputError, match="`kind` of data.load must be 'images' or left out for these data"):
        data.load("digits", kind="sequences")


@pytest.mark.parametrize("spoiled", [False, True])
def test_many_pairs_come_from_the_cache(tmp_path, cache_dir, monkeypatch, spoiled):
    monkeypatch.setattr("labelspace.data.pairs.MANY", 5)
    path = write_lines(tmp_path / "d")
    first = data.load(path, source="en", tokens="subword", longest=5, cut=True)
    assert len(list((cache_dir / "texts").iterdir())) == 4
    if spoiled:
        for entry in (cache_dir / "texts").glob("*-vocabulary/rows.bin"):
            entry.write_bytes(entry.read_bytes()[::-1])
    second = data.load(path, source="en", tokens="subword", longest=5, cut=True)
    assert ("cache" in second.source) == spoiled
    assert (second.names, second.vocabulary, second.key) == (first.names, first.vocabulary, first.key)
    assert second.source["cut"] == first.source["cut"]
    for name, part in second.parts.items():
        torch.testing.assert_close(part.x, first.parts[name].x)
        torch.testing.assert_close(part.y, first.parts[name].y)
        assert part.x.untyped_storage().nbytes() == part.x.numel() * 8


class TestReal:
    pytestmark = real

    def test_multi30k(self):
        with pytest.warns(UserWarning, match="1 of the 1014 validation samples has the same source text"):
            dataset = data.load("multi30k", data_dir=FOLDER)
        assert [len(part) for part in dataset.parts.values()] == [29_000, 1_014, 1_000]
        assert (len(dataset.names), len(dataset.vocabulary)) == (10_000, 10_000)
        assert dataset.train.answers[0] == "Zwei junge weiße Männer sind im Freien in der Nähe vieler Büsche."
        with gzip.open(FOLDER / "multi30k" / "test_2016_flickr.de.gz", "rt", encoding="utf-8") as file:
            assert list(dataset.test.answers) == file.read().splitlines()
        assert dataset.names[2:6] == (".", "▁Ein", "▁einem", "▁in")
        assert int((dataset.train.y == END).sum()) == 29_000
        known = np.bincount(dataset.train.y[dataset.train.y >= 2].numpy())[2:]
        assert (np.diff(known) <= 0).all()

    def test_other_tests(self):
        found = parallel.read(FOLDER / "multi30k", test_set="test_2017_flickr", source="de")
        assert found.source["languages"] == ["de", "en"]
        assert found.answers[-1] == "Man with gray jacket in the grass surrounded by red roses"
        found = parallel.read(FOLDER / "en-vi", columns=("en", "vi"), test_set="iwslt15")
        assert {name: len(rows) for name, rows in found.given.items()} == {
            "train": 58_384,
            "validation": 1_000,
            "test": 1_268,
        }
        assert not any("&quot;" in found.texts[row] for row in found.given["test"])

    def test_iwslt15_has_no_training_part_here(self):
        with pytest.raises(InputError, match=r"a training part .*Got tst2012\.en, .*test_set=…"):
            data.load("iwslt15", data_dir=FOLDER)
