"""Taxonomies in files of every form: the same tree must come out of all of them."""

import json
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelspace import tree
from labelspace.cli.label_views import space_template
from labelspace.spec.named import named
from labelspace.spec.taxonomy import taxonomy
from labelspace.spec.words import words

# ragged: Boots three levels down, Hat two
NAMES = ["Hat", "Boots", "Tote", "Sandals"]
LINES = "Apparel > Shoes > Boots\nApparel > Shoes > Sandals\nApparel > Hat\nBags > Tote\n"
PAIRS = "Boots,Shoes\nSandals,Shoes\nShoes,Apparel\nHat,Apparel\nTote,Bags\nApparel,\nBags,\n"
LEVELS = "Apparel,Shoes,Boots\nApparel,Shoes,Sandals\nApparel,Hat,\nBags,Tote\n"
NESTED = {"Apparel": {"Shoes": ["Boots", "Sandals"], "Hat": None}, "Bags": ["Tote"]}
DRAWN = {
    "name": "all",
    "children": [
        {
            "name": "Apparel",
            "children": [{"name": "Shoes", "children": [{"name": "Boots"}, {"name": "Sandals"}]}, {"name": "Hat"}],
        },
        {"name": "Bags", "children": [{"name": "Tote", "children": []}]},
    ],
}
PARENTS = {"Boots": "Shoes", "Sandals": "Shoes", "Shoes": "Apparel", "Hat": "Apparel", "Tote": "Bags"}
YAML = "# clothes\nApparel:\n  Shoes:\n    - Boots\n    - Sandals\n  Hat:\nBags: [Tote]\n"
# counted by hand, in the order of NAMES: Hat–Apparel–Shoes–Boots is 3 edges, Hat–Apparel–root–Bags–Tote 4
HOPS = torch.tensor([[0, 3, 4, 3], [3, 0, 5, 2], [4, 5, 0, 5], [3, 2, 5, 0]])


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.txt", LINES),
        ("t.txt", LINES.replace(" > ", ">")),
        ("t.txt", LINES.replace(" > ", " -> ")),
        ("t.txt", LINES.replace(" > ", " → ")),
        ("t.txt", "# a comment\n\n" + LINES.replace("\n", "\r\n")),
        ("t.csv", LINES),
        ("t.txt", LINES.encode("utf-8-sig")),
        ("t.txt", LINES.encode("utf-16")),
        ("t.csv", PAIRS),
        ("t.csv", "child,parent\n" + PAIRS),
        ("t.csv", "Name;Parent;note\n" + PAIRS.replace(",", ";").replace("Tote;Bags", "Tote;Bags;large")),
        ("t.csv", "parent,child\n" + "\n".join(",".join(line.split(",")[::-1]) for line in PAIRS.split())),
        ("t.tsv", PAIRS.replace(",", "\t")),
        ("t.csv", LEVELS),
        ("t.txt", LEVELS),
        ("t.csv", "Department,Aisle,Product\n" + LEVELS),
        ("t.csv", LEVELS.replace("Apparel,Hat,", '"Apparel","","Hat"')),
        ("t.json", json.dumps(NESTED)),
        ("t.txt", json.dumps(NESTED)),
        ("t.json", json.dumps(DRAWN)),
        ("t.json", json.dumps(PARENTS)),
        ("t.json", '{"Apparel": {"Shoes": ["Boots"]}, "Bags": "Tote", "Apparel": {"Shoes": "Sandals", "Hat": []}}'),
    ],
)
def test_every_form_gives_the_same_tree(name: str, text: str | bytes, tmp_path: Path) -> None:
    space = named(str(write(tmp_path, name, text)), NAMES)
    assert space.names == tuple(NAMES)
    assert space.hops is not None
    torch.testing.assert_close(space.hops, HOPS)
    torch.testing.assert_close(space.matrix, tree(NESTED, leaves=NAMES).matrix)


@pytest.mark.parametrize("name", ["t.yaml", "t.txt"])
def test_yaml(name: str, tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    space = taxonomy(write(tmp_path, name, YAML), NAMES)
    assert space.hops is not None
    torch.testing.assert_close(space.hops, HOPS)
    answers = taxonomy(write(tmp_path, "words.yml", "said:\n- no\n- yes\n- 1\nsilent: [null_, '~']\n"))
    assert answers.names == ("no", "yes", "1", "null_", "~")


def test_yaml_without_its_package_says_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ImportError, match=r'pip install "labelspace\[compare\]"'):
        taxonomy(write(tmp_path, "t.yaml", YAML), NAMES)


def test_yaml_that_unfolds_without_end_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    lines = ["a0: &a0 [x, y, z, u, v, w, p, q]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 8)}]" for level in range(1, 12)]
    with pytest.raises(ValueError, match="at most 100 levels and 200,000 nodes"):
        taxonomy(write(tmp_path, "t.yaml", "\n".join(lines)))
    with pytest.raises(ValueError, match="at most 100 levels"):
        taxonomy(write(tmp_path, "t.yaml", "a: &a\n  b: *a\n"))
    with pytest.raises(ValueError, match="in sound YAML"):
        taxonomy(write(tmp_path, "t.yaml", "a: [b\n"))


def test_leaves_are_the_classes_where_none_are_given(tmp_path: Path) -> None:
    for name, text in (("t.txt", LINES), ("t.csv", "level1,level2,level3\n" + LEVELS), ("p.csv", PAIRS)):
        space = taxonomy(write(tmp_path, name, text))
        assert sorted(space.names) == sorted(NAMES), name
    assert words(space) == "tree: 4 classes in 3 groups, depth 3"
    assert space.source["file"] == "p.csv"


def test_groups_in_different_branches_may_share_a_name_and_a_class_may_have_that_of_its_group(tmp_path: Path) -> None:
    lines = "Women > Shoes > Pumps\nMen > Shoes > Brogues\nHats > Hats\nHats > Caps\n"
    space = taxonomy(write(tmp_path, "t.txt", lines), ["Pumps", "Brogues", "Hats", "Caps"])
    # Pumps and Brogues meet at the root, not in one "Shoes"; Hats and Caps in the group Hats
    assert space.hops is not None
    torch.testing.assert_close(space.hops[0], torch.tensor([0, 6, 5, 5]))
    assert int(space.hops[2, 3]) == 2


def test_a_class_may_be_an_inner_node(tmp_path: Path) -> None:
    path = write(tmp_path, "t.txt", "Animal > Dog > Poodle\nAnimal > Dog > Collie\nAnimal > Cat\n")
    space = taxonomy(path, ["Dog", "Poodle", "Collie", "Cat"])
    assert space.hops is not None
    assert space.hops[0].tolist() == [0, 1, 1, 2]


def test_two_columns_either_way_round(tmp_path: Path) -> None:
    names = ["cat", "dog", "bus"]
    children_first = taxonomy(write(tmp_path, "a.csv", "cat,pet\ndog,pet\nbus,vehicle\n"), names)
    groups_first = taxonomy(write(tmp_path, "b.csv", "pet,cat\npet,dog\nvehicle,bus\n"), names)
    assert children_first.hops is not None
    assert groups_first.hops is not None
    torch.testing.assert_close(children_first.hops, groups_first.hops)
    for name in ("a.csv", "b.csv"):
        assert set(taxonomy(tmp_path / name).names) == set(names)


def test_other_spellings_of_the_same_accent_and_windows_files(tmp_path: Path) -> None:
    lines = "Drinks > caf\u00e9\nDrinks > tea\nFood > p\u00e2t\u00e9\n"
    names = ["cafe\u0301", "tea", "pa\u0302te\u0301"]
    for content in (lines.encode(), lines.encode("cp1252")):
        assert taxonomy(write(tmp_path, "t.txt", content), names).names == tuple(names)


def test_names_with_arrows(tmp_path: Path) -> None:
    names = ["<50K", ">50K", ">100K"]
    assert taxonomy(write(tmp_path, "t.txt", "low > <50K\nhigh > >50K\nhigh > >100K\n"), names).names == tuple(names)
    for separator in (",", ", ", ";", "\t"):
        table = "low,<50K\nhigh,>50K\nhigh,>100K\n".replace(",", separator)
        assert taxonomy(write(tmp_path, "t.csv", table), names).names == tuple(names)


@given(
    names=st.lists(
        st.text(alphabet="ab1 ,;:\"'<#-[{é", min_size=1, max_size=6).map(str.strip).filter(bool),
        min_size=2,
        max_size=6,
        unique=True,
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_template_is_a_tree_of_one_group(names: list[str], tmp_path: Path) -> None:
    space = taxonomy(write(tmp_path, "t.txt", space_template(names)), names)
    assert space.hops is not None
    torch.testing.assert_close(space.hops, 2 * (1 - torch.eye(len(names), dtype=torch.int64)))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "t.txt",
            LINES.replace("Tote", "Toat"),
            "'Toat' (Bags > Toat, line 4), which is none of the classes. Did you",
        ),
        (
            "t.txt",
            LINES + "Bags > Backpack\n",
            "Got 'Backpack' (Bags > Backpack, line 5), which is none of the classes",
        ),
        ("t.txt", LINES.replace("Bags > Tote\n", ""), "Got nothing for 'Tote'"),
        ("t.txt", LINES + "Bags > Hat\n", "Got 'Hat' (Apparel > Hat, line 3) again (Bags > Hat, line 5)"),
        ("t.txt", LINES + "Bags > Tote\n", "Got 'Tote' (Bags > Tote, line 4) again"),
        ("t.txt", LINES + "Bags >\n", "without empty names. Got 'Bags >' in line 5"),
        ("t.csv", PAIRS + "Boots,Bags\n", "'Boots' under 'Shoes' (line 1) and 'Bags' (line 8)"),
        ("t.csv", PAIRS.replace("Apparel,\n", "Apparel,Shoes\n"), "without circles. Got"),
        ("t.csv", PAIRS + ",Bags\n", "Leave the parent of a top empty"),
        ("t.csv", "Hat,Hat\nBoots,Shoes\nTote,Bags\nSandals,Shoes", "Hat → Hat"),
        ("t.csv", LEVELS + ",Shoes,Boots\n", "an empty first cell in line 5"),
        ("t.csv", "Hat\nBoots\nTote\nSandals\n", "at least two columns"),
        ("t.csv", '"Hat,Bags\n', "line 1"),
        ("t.csv", ",,\n,,\n", "whose cells are all empty"),
        ("t.json", "{", "in sound JSON"),
        ("t.json", "[" * 100_000, "in sound JSON"),
        ("t.json", "[" * 150 + "]" * 150, "at most 100 levels"),
        ("t.json", '{"a": [true, "Hat"]}', "Got True under 'a'. Put names in quotation marks."),
        ("t.json", '["Hat", "Boots"]', "no class with a group above it"),
        ("t.json", "{}", "no class at all"),
        ("t.json", json.dumps({**PARENTS, "Shoes": "Boots"}), "without circles"),
        ("t.csv", "true\\predicted,Hat,Boots\nHat,0,1\nBoots,1,0\n", "looks like prices of mistakes"),
        ("t.txt", "", "which is empty"),
        ("t.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "must be a text file"),
    ],
)
def test_bad_taxonomies_get_one_clear_message(name: str, text: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="`space`") as error:
        named(str(write(tmp_path, name, text)), NAMES)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_are_not_there_or_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere.txt, which does not exist"):
        named(str(tmp_path / "nowhere.txt"), NAMES)
    with pytest.raises(ValueError, match="which is a folder"):
        named(str(tmp_path), NAMES)
    monkeypatch.setattr("labelspace._tables.LARGEST", 10)
    with pytest.raises(ValueError, match="text file of at most"):
        named(str(write(tmp_path, "t.txt", LINES)), NAMES)
