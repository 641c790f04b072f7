"""LCSTS's format, which only looks like XML: small files made in it."""

import pytest

from labelspace import data
from labelspace._checks import InputError
from labelspace.data.vocabulary import END

DOC = "<doc id={number}>\n{label}    <summary>\n        {summary}\n    </summary>\n    <short_text>\n        {text}\n    </short_text>\n</doc>\n"  # noqa: E501


def doc(number, summary, text, label=None):
    said = "" if label is None else f"    <human_label>{label}</human_label>\n"
    return DOC.format(number=number, summary=summary, text=text, label=said)


def load(folder, **options):
    return data.load("lcsts", data_dir=folder.parent, **options)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "lcsts"
    place.mkdir()
    train = "".join(doc(n, f"修改后的立法{n}", f"较上年下降 & 全国人大<b>{n}") for n in range(6))
    (place / "PART_I.txt").write_text(train, encoding="utf-8")
    for part, name in (("II", "研究"), ("III", "大数据")):
        rows = "".join(doc(n, f"{name}{n}", f"{name}文本{n}", label=n + 1) for n in range(5))
        (place / f"PART_{part}.txt").write_text(rows, encoding="utf-8")
    return place


def test_texts_summaries_and_scores(folder):
    dataset = load(folder)
    assert repr(dataset).startswith("Dataset(sequences text→summary")
    assert dataset.train.text[0] == "较上年下降 & 全国人大<b>0"
    assert dataset.train.answers[5] == "修改后的立法5"
    assert dataset.validation.answers == ("研究2", "研究3", "研究4")
    assert dataset.test.text == ("大数据文本2", "大数据文本3", "大数据文本4")
    assert dataset.names[2] in "修改后的立法"
    assert int((dataset.train.y[0] == END).nonzero()[0]) == len("修改后的立法0")
    assert len(load(folder, human_label=1).test) == 5


def test_part_one_alone_is_split(folder):
    for part in ("II", "III"):
        (folder / f"PART_{part}.txt").unlink()
    dataset = load(folder)
    assert sum(len(part) for part in dataset.parts.values()) == 6


def test_a_pair_without_text_is_dropped_from_training_and_refused_elsewhere(folder):
    path = folder / "PART_I.txt"
    path.write_text(path.read_text(encoding="utf-8") + doc(7, "", "没有"), encoding="utf-8")
    assert load(folder).source["dropped"] == {"train": 1}
    (folder / "PART_II.txt").write_text(doc(0, "", "没有", label=4), encoding="utf-8")
    with pytest.raises(InputError, match=r"Got doc 0 with an empty one in PART_II\.txt, line 1"):
        load(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (doc(0, "a", "b").replace("</doc>\n", ""), r"</doc> after each document\. Got doc 0 without an end .* line 1"),
        (doc(0, "a", "b").replace("</doc>\n", "") * 2, "</doc> before the next document"),
        (doc(0, "a", "b").replace("summary>", "title>"), r"Got doc 0 without summary in PART_I\.txt, line 1"),
        (doc(0, "a", "b", label=9), r"a human_label from 1 to 5\. Got human_label '9' of doc 0"),
        (doc(0, "a", "b", label=1), r"pairs in PART_I\.txt\. Got none of score 3 or more\. Keep more.*human_label=1"),
        ("a,b\n1,2\n", r"documents between <doc id=0> and </doc>\. Got 'a,b' in PART_I\.txt, line 1"),
        ("", r"pairs in PART_I\.txt"),
    ],
)
def test_what_is_not_in_the_format_is_one_clear_line(folder, content, message):
    (folder / "PART_I.txt").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load(folder)


def test_bad_options_and_folders(folder):
    for score in (0, 6):
        with pytest.raises(InputError, match="`human_label` of data.load"):
            load(folder, human_label=score)
    (folder / "PART_I.txt").unlink()
    with pytest.raises(InputError, match=r"a folder with PART_I\.txt.*Got PART_II\.txt, PART_III\.txt"):
        load(folder)
