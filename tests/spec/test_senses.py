"""Senses as people write them."""

from pathlib import Path

import pytest

from labelspace import wordnet
from labelspace.spec.named import named
from labelspace.spec.senses import senses_in, with_senses

NAMES = ["crane", "bat", "mouse", "saw"]


def test_pairs_and_files_are_one_list(tmp_path: Path) -> None:
    file = tmp_path / "senses.txt"
    file.write_text("# birds\ncrane = crane.n.05\n\na=b = cat.n.01\n", encoding="utf-8")
    found = senses_in(["saw=saw.n.02", str(file), "crane=crane.n.05"])
    assert found == {"saw": "saw.n.02", "crane": "crane.n.05", "a=b": "cat.n.01"}


def test_the_text_of_a_space_holds_its_senses(tmp_path: Path) -> None:
    text = with_senses("wordnet", ["saw=saw.n.02", "crane=5"])
    assert text == "wordnet:saw=saw.n.02,crane=5"
    space = named(text, NAMES)
    assert space.source == wordnet(NAMES, senses={"saw": "saw.n.02", "crane": 5}).source
    assert with_senses(text, ["bat=bat.n.05"]) == f"{text},bat=bat.n.05"
    assert with_senses("ordinal", []) == "ordinal"
    file = tmp_path / "senses.txt"
    file.write_text("saw=saw.n.02\ncrane=5\n", encoding="utf-8")
    assert named(f"wordnet:{file}", NAMES).source == space.source


def test_names_with_commas_and_quotation_marks_come_back() -> None:
    odd = {"tench, Tinca": "tench.n.01", 'a "cat"': "cat.n.01"}
    text = with_senses("wordnet", [f"{name}={sense}" for name, sense in odd.items()])
    assert text is not None
    space = named(text, list(odd))
    assert [space.source["senses"][name]["synset"] for name in odd] == list(odd.values())


def test_senses_for_all_classes_of_the_data_are_cut() -> None:
    space = named("wordnet:saw=saw.n.02,crane=crane.n.05", ["saw", "bat"], among=NAMES)
    assert space.names == ("saw", "bat")
    assert space.source["senses"]["saw"]["synset"] == "saw.n.02"


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (["saw"], "Got 'saw', which is no file"),
        (["saw="], "must be NAME=SENSE"),
        (["=saw.n.02"], "must be NAME=SENSE"),
        (["saw=saw.n.02", "saw=1"], "Got 'saw.n.02' and '1' for 'saw'"),
    ],
)
def test_what_is_no_sense_is_refused(items: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        senses_in(items)


def test_bad_files_are_refused_with_the_line(tmp_path: Path) -> None:
    file = tmp_path / "senses.txt"
    file.write_text("saw = saw.n.02\ncrane crane.n.05\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"Got 'crane crane.n.05' \(senses.txt, line 2\)"):
        senses_in([str(file)])
    file.write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(ValueError, match="senses.txt, which has none"):
        senses_in([str(file)])
    with pytest.raises(ValueError, match="a file. Got .*, which is a folder"):
        senses_in([str(tmp_path)])


@pytest.mark.parametrize("space", [None, "ordinal", "wordnetish"])
def test_only_wordnet_has_senses(space: str | None) -> None:
    with pytest.raises(ValueError, match="given with the space 'wordnet'"):
        with_senses(space, ["saw=saw.n.02"])


def test_classes_are_needed() -> None:
    with pytest.raises(ValueError, match="given with the classes"):
        named("wordnet:saw=saw.n.02")
