"""Prices of mistakes from rules and from files."""

import csv
import io
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from labelspace import LabelSpace, cost, groups, ordinal, permuted, tree, uniform, wordnet
from labelspace.cli.label_views import cost_template
from labelspace.spec.named import order
from labelspace.spec.prices import cost_words, has_prices, implied, prices

SIZES = ("high", "low", "mid")
ANIMALS = {"pet": ["cat", "dog"], "vehicle": {"road": ["bus"], "air": ["jet"]}}


def write(folder: Path, text: str | bytes, name: str = "prices.csv") -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def table(rows: list[list[object]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def test_rules_of_an_order_follow_ranks() -> None:
    space = order("low<mid<high", SIZES)
    # rows and columns are high, low, mid
    torch.testing.assert_close(
        prices("ordinal", SIZES, space).matrix, torch.tensor([[0.0, 2, 1], [2, 0, 1], [1, 1, 0]])
    )
    torch.testing.assert_close(
        prices("squared", SIZES, space).matrix, torch.tensor([[0.0, 4, 1], [4, 0, 1], [1, 1, 0]])
    )
    # under: calling a true high low is two steps below it
    steps = prices("under=5,over=1", SIZES, space)
    torch.testing.assert_close(steps.matrix, torch.tensor([[0.0, 10, 5], [2, 0, 1], [1, 5, 0]]))
    assert steps.kind == "cost"
    torch.testing.assert_close(prices(" over=1, under=5 ", SIZES, space).matrix, steps.matrix)
    torch.testing.assert_close(prices("under=5", SIZES, space).matrix, steps.matrix)


def test_names_that_are_numbers_have_an_order() -> None:
    # ranks, not values: 10 is one step from 2
    torch.testing.assert_close(prices("squared", ["10", "2", "1"]).matrix[0], torch.tensor([0.0, 1, 4]))
    # an order that was given wins
    space = order("2<10<1", ["10", "2", "1"])
    torch.testing.assert_close(prices("squared", ["10", "2", "1"], space).matrix[0], torch.tensor([0.0, 1, 1]))


@pytest.mark.parametrize("rule", ["ordinal", "squared", "under=5,over=1"])
def test_without_an_order_there_are_no_steps(rule: str) -> None:
    for space in (None, uniform(SIZES), ordinal(["low", "mid"])):
        with pytest.raises(ValueError, match="only for classes with an order. Got 'high', 'low', 'mid'"):
            prices(rule, SIZES, space)


def test_uniform_and_nothing_are_one_for_every_mistake() -> None:
    expected = torch.ones(3, 3) - torch.eye(3)
    for spec in (None, "uniform"):
        found = prices(spec, SIZES)
        torch.testing.assert_close(found.matrix, expected)
        assert not has_prices(found)
        assert cost_words(found)[0] == "every mistake costs 1"


def test_tree_prices_are_edges_over_the_most_edges() -> None:
    names = ["jet", "cat", "dog", "bus"]
    found = prices("tree", names, tree(ANIMALS))
    # cat–pet–dog 2 edges, cat–pet–root–vehicle–road–bus 5, bus–road–vehicle–air–jet 4; 5 is the most
    expected = torch.tensor([[0, 5, 5, 4], [5, 0, 2, 5], [5, 2, 0, 5], [4, 5, 5, 0]]) / 5
    torch.testing.assert_close(found.matrix, expected)
    words, example = cost_words(found)
    assert words == "tree distance (the farthest costs 1)"
    assert example == "true jet called cat costs 1, called bus 0.8"


def test_a_class_that_wordnet_does_not_know_is_as_far_as_can_be() -> None:
    with pytest.warns(UserWarning, match="no noun"):
        space = wordnet(["cat", "dog", "qwzx"])
    found = prices("tree", space.names, space)
    torch.testing.assert_close(found.matrix, torch.tensor([[0.0, 1, 1], [1, 0, 1], [1, 1, 0]]))
    far = wordnet(["cat", "dog", "truck"])
    torch.testing.assert_close(prices("tree", far.names, far).matrix[0], torch.tensor([0, 4 / 17, 1]))


def test_groups_cost_half_inside() -> None:
    space = groups({"a": ["x", "y"], "b": ["z", "w"]})
    found = prices("tree", ["w", "x", "y", "z"], space)
    torch.testing.assert_close(found.matrix[0], torch.tensor([0, 1, 1, 0.5]))
    assert cost_words(found) == ("0.5 inside a group, 1 between groups", "true w called x costs 1, called z 0.5")


ORDER = order("low<mid<high", SIZES)


@pytest.mark.parametrize(
    "space", [None, uniform(SIZES), tree({"a": ["low"], "b": ["mid"]}), ORDER, permuted(ORDER, seed=1)]
)
def test_tree_needs_a_tree(space: LabelSpace | None) -> None:
    with pytest.raises(ValueError, match="'tree' only beside a space from a taxonomy"):
        prices("tree", SIZES, space)


def test_what_a_space_implies() -> None:
    space = order("low<mid<high", SIZES)
    torch.testing.assert_close(implied(space).matrix, prices("ordinal", SIZES, space).matrix)  # type: ignore[union-attr]
    animals = tree(ANIMALS)
    found = implied(animals)
    assert found is not None
    torch.testing.assert_close(found.matrix, prices("tree", animals.names, animals).matrix)
    given_prices = cost([[0, 1], [5, 0]], ["a", "b"])
    assert implied(given_prices) is given_prices
    assert implied(groups([["a", "b"], ["c", "d"]])).matrix[0].tolist() == [0, 0.5, 1, 1]  # type: ignore[union-attr]
    for nothing in (None, uniform(3), LabelSpace(("a", "b"), torch.eye(2), "vectors"), permuted(animals, 0)):
        assert implied(nothing) is None
    assert implied(permuted(space, 0)) is None


MATRIX: list[list[object]] = [["", "low", "mid", "high"], ["low", 0, 1, 2], ["mid", 3, 0, 4], ["high", 5, 6, 0]]
# rows and columns of SIZES
EXPECTED = torch.tensor([[0.0, 5, 6], [2, 0, 1], [4, 3, 0]])


@pytest.mark.parametrize(
    "text",
    [
        table(MATRIX),
        table([["true\\predicted", *MATRIX[0][1:]], *MATRIX[1:]]),
        table([["", "low", "mid", "high", ""], ["low", "", 1, 2, ""], ["mid", 3, 0, 4, ""], ["high", 5, 6, 0, ""]]),
        table(MATRIX).replace(",", ";").replace(";1;", ";1,0;"),
        table(MATRIX).replace(",", "\t"),
        table(MATRIX).encode("utf-8-sig"),
        table(MATRIX).encode("utf-16"),
        # turned, and the corner says so
        table([["predicted / true", "low", "mid", "high"], ["low", 0, 3, 5], ["mid", 1, 0, 6], ["high", 2, 4, 0]]),
        "true,predicted,cost\nlow,mid,1\nlow,high,2\nmid,low,3\nmid,high,4\nhigh,low,5\nhigh,mid,6\n",
        "low,mid,1\nlow,high,2\nmid,low,3\nmid,high,4\nhigh,low,5\nhigh,mid,6\nmid,mid,0\n",
        "note,Predicted class,Price,True class\nx,mid,1,low\n,high,2,low\n,low,3,mid\n,high,4,mid\n"
        ",low,5,high\n,mid,6,high\n",
        # wildcards: two classes beat one, one beats none
        "true,predicted,cost\n*,*,2\nlow,mid,1\nmid,*,4\nmid,low,3\nhigh,*,6\nhigh,low,5\n",
        "true,predicted,cost\ndefault,,2\nlow,mid,1\nmid,*,4\nmid,low,3\nhigh,low,5\n*,mid,6\n",
    ],
)
def test_files_are_read_by_name(text: str | bytes, tmp_path: Path) -> None:
    found = prices(write(tmp_path, text), SIZES)
    torch.testing.assert_close(found.matrix, EXPECTED)
    assert cost_words(found) == ("prices from prices.csv", "true high called mid costs 6")


def test_digits_as_names_are_not_taken_for_prices(tmp_path: Path) -> None:
    matrix = prices(write(tmp_path, ",0,1\n0,0,1\n1,1,0\n"), ["0", "1"])
    torch.testing.assert_close(matrix.matrix, torch.tensor([[0.0, 1], [1, 0]]))
    lines = prices(write(tmp_path, "0,1,5\n1,0,2\n"), ["0", "1"])
    torch.testing.assert_close(lines.matrix, torch.tensor([[0.0, 5], [2, 0]]))


def test_a_class_may_be_called_default(tmp_path: Path) -> None:
    text = "true,predicted,cost\n*,*,1\ndefault,paid,20\n"
    found = prices(write(tmp_path, text), ["paid", "default", "late"])
    torch.testing.assert_close(found.matrix, torch.tensor([[0.0, 1, 1], [20, 0, 1], [1, 1, 0]]))


def replaced(row: int, column: int, value: object) -> str:
    rows = [list(line) for line in MATRIX]
    rows[row][column] = value
    return table(rows)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (replaced(0, 3, "hihg"), "'hihg' (first row), which is none of the classes. Did you mean 'high'?"),
        (replaced(2, 0, "midd"), "'midd' (line 3), which is none of the classes. Did you mean 'mid'?"),
        (replaced(2, 0, "low"), "'low' (line 2) again (line 3)"),
        (table(MATRIX[:3]), "Got nothing for 'high'. `labelspace labels template DATA --cost`"),
        (table([row[:3] for row in MATRIX[:3]]), "Got nothing for 'high'"),
        (table([*MATRIX[:3], ["high", 5, 0]]), "Got 2 for 'high' in line 4 under 3 names"),
        (replaced(1, 3, -2), "prices of 0 or more. Got -2 for true 'low' called 'high' (line 2)"),
        (replaced(2, 2, 7), "0 for being right. Got 7 for true 'mid' called 'mid' (line 3)"),
        (replaced(1, 2, "nan"), "numbers. Got 'nan' for true 'low' called 'mid' (line 2)"),
        (replaced(1, 2, "inf"), "Got 'inf' for true 'low' called 'mid' (line 2)"),
        (replaced(1, 2, "1e99"), "Got '1e99'"),
        (replaced(1, 2, "1_0"), "Got '1_0'"),
        (replaced(1, 2, "dear"), "Got 'dear' for true 'low' called 'mid' (line 2)"),
        (replaced(1, 2, ""), "Got nothing for true 'low' called 'mid' (line 2)"),
        (
            "0,1,2\n3,0,4\n5,6,0\n",
            "first row and column are the classes, or columns true,predicted,cost. Got '0' in its",
        ),
        ("a,b\nc,d\n", "Got no class in either, but 'b'"),
        (
            "true,predicted,cost\n*,*,1\nlow,hgih,2\n",
            "'hgih' as predicted class in line 3, which is none of the classes.",
        ),
        (
            "true,predicted,cost\n*,*,1\nlow,high,2\nlow,high,3\n",
            "lines 3 and 4 for the same mistake, true 'low' called",
        ),
        ("true,predicted,cost\nlow,high,2\n", "none for true 'high' called 'low'. Add the line *,*,1"),
        (
            "true,predicted,cost\n*,*,1\nlow,*,2\n*,mid,3\n",
            "two for true 'low' called 'mid', in lines 3 and 4. Add the",
        ),
        ("true,predicted,cost\n*,*,1\nlow,low,2\n", "Got 2 for true 'low' called 'low' (line 3)"),
        ("true,predicted,cost\n*,*,x\n", "Got 'x' for true '*' called '*' (line 2)"),
        ("true,predicted,cost\n*,*,0\n", "a price above 0 for some mistake"),
        ("true,predicted,cost\n", "a price for every mistake"),
        ('"', "line 1"),
        ('"' + "a" * 200_000, "line 1: unexpected end of data"),
    ],
)
def test_bad_files_get_one_clear_message(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="`cost` of labelspace must be") as error:
        prices(write(tmp_path, text), SIZES)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("sqared", "Did you mean 'squared'?"),
        ("everything", "template DATA --cost"),
        ("under=5,above=1", "Write for example 'under=5,over=1'"),
        ("under=-5", "prices of 0 or more per step"),
        ("under=x", "prices of 0 or more per step"),
        ("under=nan", "prices of 0 or more per step"),
        ("under=0,over=0", "only zeros"),
    ],
)
def test_bad_rules_get_one_clear_message(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match="`cost` of labelspace must be") as error:
        prices(spec, ["1", "2"])
    assert message in str(error.value)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError, match="`cost` names the file nowhere.csv"):
        prices("nowhere.csv", SIZES)


def test_cost_spaces_arrays_and_label_files(tmp_path: Path) -> None:
    space = cost([[0, 1, 2], [3, 0, 4], [5, 6, 0]], ["low", "mid", "high"])
    path = str(space.save(tmp_path / "prices.safetensors"))
    for spec in (space, path):
        torch.testing.assert_close(prices(spec, SIZES).matrix, EXPECTED)
    torch.testing.assert_close(prices(EXPECTED, SIZES).matrix, EXPECTED)
    with pytest.raises(ValueError, match="none for 'hihg'. Did you mean 'high'?"):
        prices(space, ["low", "hihg"])
    with pytest.raises(ValueError, match="of kind 'cost'"):
        prices(uniform(SIZES), SIZES)


def test_words_for_large_prices_and_other_sources() -> None:
    assert cost_words(cost([[0, 2e6], [1, 0]], ["well", "ill"])) == (
        "prices as given",
        "true well called ill costs 2,000,000",
    )
    assert cost_words(cost([[0, 3], [3, 0]]))[0] == "every mistake costs 3"
    assert cost_words(cost([[0.0]], ["only"])) == ("every mistake costs 1", "")


# names that a person might give to classes; commas, quotation marks and arrows among them
NAMES = st.lists(
    st.text(alphabet="ab01 ,;\"'<>.é#-", min_size=1, max_size=6).map(str.strip).filter(bool),
    min_size=2,
    max_size=6,
    unique=True,
)


@given(names=NAMES)
@example(names=[";a", ";b"])
@example(names=["default", "paid"])
@example(names=["-", "'-"])  # the one is written as the other is called
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_template_is_the_uniform_cost(names: list[str], tmp_path: Path) -> None:
    expected = prices("uniform", names).matrix
    for long in (False, True):
        found = prices(write(tmp_path, cost_template(names, long=long)), names)
        torch.testing.assert_close(found.matrix, expected)


@given(names=NAMES, numbers=st.randoms(use_true_random=False))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_shuffling_rows_and_columns_changes_nothing(names: list[str], numbers: object, tmp_path: Path) -> None:
    draw = numbers.randrange  # type: ignore[attr-defined]
    values = {(i, j): 0 if i == j else draw(100) + 1 for i in names for j in names}
    rows, columns = list(names), list(names)
    numbers.shuffle(rows)  # type: ignore[attr-defined]
    numbers.shuffle(columns)  # type: ignore[attr-defined]
    expected = torch.tensor([[values[i, j] for j in names] for i in names], dtype=torch.float32)
    matrix = [["true\\predicted", *columns], *([i, *(values[i, j] for j in columns)] for i in rows)]
    lines = [["true", "predicted", "cost"], *([i, j, values[i, j]] for i in rows for j in columns if i != j)]
    for content in (matrix, lines):
        torch.testing.assert_close(prices(write(tmp_path, table(content)), names).matrix, expected)
