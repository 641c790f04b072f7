"""Prices as a DataFrame: rows are true classes, columns what is decided."""

import numpy as np
import pytest
from numpy.typing import NDArray

from labelspace.spec.frames import Frame, cells
from labelspace.spec.prices import cost_words, prices

pandas = pytest.importorskip("pandas")
NAMES = ["Fair", "Good", "Ideal"]
# true × decided, in the order of NAMES
TABLE = np.array([[0, 3, 9], [1, 0, 2], [5, 1.25, 0]])


def frame(order: list[int]) -> "pandas.DataFrame":
    names = [NAMES[place] for place in order]
    return pandas.DataFrame(TABLE[np.ix_(order, order)], index=names, columns=names)


def found(given: object, names: list[str] = NAMES) -> NDArray[np.float64]:
    return prices(given, names).matrix.double().numpy()


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_classes_are_found_by_their_names(order: list[int]) -> None:
    np.testing.assert_array_equal(found(frame(order)), TABLE)
    mixed = frame([0, 1, 2])[["Ideal", "Fair", "Good"]]
    np.testing.assert_array_equal(found(mixed), TABLE)
    assert cost_words(prices(mixed, NAMES)) == ("prices as given", "true Fair called Ideal costs 9")


def test_axes_that_say_which_is_which() -> None:
    turned = frame([0, 1, 2]).T.rename_axis(index="predicted", columns="true")
    np.testing.assert_array_equal(found(turned), TABLE)
    np.testing.assert_array_equal(found(turned.T), TABLE)


def test_a_frame_as_it_was_read_from_a_file() -> None:
    np.testing.assert_array_equal(found(frame([0, 1, 2]).reset_index()), TABLE)
    lines = frame([2, 1, 0]).rename_axis("true").reset_index().melt("true", var_name="predicted", value_name="cost")
    np.testing.assert_array_equal(found(lines), TABLE)
    default = pandas.DataFrame({"true": ["*", "Fair"], "predicted": ["*", "Ideal"], "cost": [1, 7.5]})
    np.testing.assert_array_equal(found(default), [[0, 1, 7.5], [1, 0, 1], [1, 1, 0]])


def test_numbers_as_classes_and_nothing_on_the_diagonal() -> None:
    plain = pandas.DataFrame([[None, 2], [4, None]])
    np.testing.assert_array_equal(found(plain, ["0", "1"]), [[0, 2], [4, 0]])
    shifted = pandas.DataFrame([[0, 2], [4, 0]], index=[2, 1], columns=[2, 1])
    np.testing.assert_array_equal(found(shifted, ["1", "2"]), [[0, 4], [2, 0]])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pandas.DataFrame(TABLE, columns=NAMES), "Got one whose index counts rows. Set it: frame.index = [classes]."),
        (frame([0, 1]), "Got nothing for 'Ideal'"),
        (frame([0, 1, 2]).rename(columns={"Good": "Goood"}), "Got 'Goood' (first row), which is none of the classes"),
        (frame([0, 1, 2]).rename(index={"Good": "good"}), "Got 'good' (line 3), which is none of the classes"),
        (frame([0, 1, 2]) * -1, "prices of 0 or more. Got -3 for true 'Fair' called 'Good'"),
        (frame([0, 1, 2]) + 1, "prices of 0 for being right. Got 1 for true 'Fair'"),
        (frame([0, 1, 2]).replace(3, np.nan), "prices that are numbers. Got nothing for true 'Fair' called 'Good'"),
        (frame([0, 1, 2]) * 0, "a price above 0 for some mistake"),
        (pandas.DataFrame(), "Got one without rows."),
    ],
)
def test_what_is_no_table_of_prices_is_refused_in_words(given: object, message: str) -> None:
    with pytest.raises(ValueError, match="`cost` of labelspace must be") as error:
        prices(given, NAMES)
    assert message in str(error.value)


def test_polars_like_frames_have_columns_alone() -> None:
    class Plain:
        columns = ("true", *NAMES)

        def to_numpy(self) -> NDArray[np.object_]:
            return np.array([[name, *row] for name, row in zip(NAMES, TABLE.tolist(), strict=True)], dtype=object)

    assert isinstance(Plain(), Frame)
    assert cells(Plain())[0].cells == ["true", *NAMES]
    np.testing.assert_array_equal(found(Plain()), TABLE)


def test_numbers_are_written_so_that_they_come_back() -> None:
    third = frame([0, 1, 2]) / 3
    np.testing.assert_array_equal(found(third), (TABLE / 3).astype(np.float32))
