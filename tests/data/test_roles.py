"""What the columns of a table are for."""

import pytest

from labelspace import data
from labelspace.data.roles import ALONE, label_of, without_index
from small_tables import write

SIZES = [i * 7 % 13 / 3 for i in range(60)]
KINDS = ["abc"[i % 3] for i in range(60)]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("name", ["", " ", "Unnamed: 0", "__index_level_0__"])
def test_an_index_is_left_out_and_said(tmp_path, first, name):
    rows = [[i + first, size, kind] for i, (size, kind) in enumerate(zip(SIZES, KINDS, strict=True))]
    path = write(tmp_path / "t.csv", rows, [name, "size", "species"])
    with pytest.warns(UserWarning, match=f"numbers the rows \\({first} … {59 + first}\\): it is left out"):
        dataset = data.load(path)
    plain = data.load(write(tmp_path / "plain.csv", [row[1:] for row in rows], ["size", "species"]))
    assert dataset.key == plain.key
    assert dataset.source["index"] == {name: f"{first} … {59 + first}"}


def test_parts_have_indices_of_their_own():
    parts = {"train": {"": ["5", "2"], "v": [1, 1]}, "test": {"v": [1], "": ["car"]}}
    assert without_index(parts) == ({"train": {"v": [1, 1]}, "test": {"v": [1]}}, {"": "5 … 2"})


@pytest.mark.parametrize("values", [["1", "1", "2"], ["0.5", "1.5", "2.5"]])
def test_a_column_without_a_name_that_is_no_index_is_refused(values):
    with pytest.raises(ValueError, match="columns have names. Got a first column without one"):
        without_index({"all": {"": values, "v": [1, 2, 3]}})
    # pandas numbers what lacks a name
    assert without_index({"all": {"Unnamed: 3": values}}) == ({"all": {"Unnamed: 3": values}}, {})


def test_only_the_first_column_may_lack_a_name(tmp_path):
    path = write(tmp_path / "t.csv", [[1, 2, 0]] * 9, ["v", "", "y"])
    with pytest.raises(ValueError, match="columns have different names"):
        data.load(path)


@pytest.mark.parametrize(
    ("names", "label"),
    [
        (["x", "y", "label"], "label"),
        (["Species", "a", "b"], "Species"),
        (["a", "TARGET "], "TARGET "),
        (["a", "y"], "y"),
    ],
)
def test_a_label_by_its_name(names, label):
    assert label_of(names, {}) == (label, "by its name")


def test_a_length_called_y_is_no_label():
    table = {"cut": KINDS, "x": SIZES, "y": SIZES, "z": SIZES}
    assert label_of(list(table), table) == ("cut", ALONE)
    with pytest.raises(ValueError, match="measurements"):
        data.load({"x": SIZES, "y": SIZES})


def test_the_only_column_that_can_be_it():
    table = {"size": SIZES, "kind": KINDS, "count": list(range(60))}
    assert label_of(list(table), table) == ("kind", ALONE)
    sick = {"size": SIZES, "sick": [0, 1] * 30}
    assert label_of(list(sick), sick) == ("sick", ALONE)


@pytest.mark.parametrize(
    ("table", "listed"),
    [
        ({"cut": KINDS, "size": SIZES, "colour": ["red", "blue"] * 30}, "'cut' (3 classes), 'colour' (2 classes)"),
        ({"class": KINDS, "label": KINDS, "v": SIZES}, "'class' (3 classes), 'label' (3 classes)"),
        ({"rooms": [1, 2, 3] * 20, "price": list(range(60))}, "'rooms' (3 classes), 'price'"),
        ({"a": SIZES, "b": SIZES}, "'a', 'b'"),
    ],
)
def test_where_it_is_not_clear_it_has_to_be_said(table, listed):
    with pytest.raises(ValueError, match="`label`") as caught:
        data.load(table)
    assert f"it is not clear which column it is. Got {listed}. Say which it is, for example label=" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_guess_without_a_telling_name_is_said_on_load():
    with pytest.warns(UserWarning, match="'kind' is taken for the label, as the only column with few different values"):
        assert data.load({"size": SIZES, "kind": KINDS}).names == ("a", "b", "c")


def test_two_columns_of_texts_are_pairs(tmp_path):
    rows = [[f"the dog number {n} runs", f"der Hund Nummer {n} rennt"] for n in range(60)]
    path = tmp_path / "pairs.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    with pytest.raises(ValueError, match="two columns of texts") as caught:
        data.load(path)
    assert str(caught.value).endswith("Read them as pairs of texts with kind='sequences', or name the labels: label=…")
    assert len(data.load(path, kind="sequences").train) == 42
    single = {"a": [f"word{n}" for n in range(60)], "b": [f"code{n}" for n in range(60)]}
    with pytest.raises(ValueError, match="not clear which column it is"):
        data.load(single)
