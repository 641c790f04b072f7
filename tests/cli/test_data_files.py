"""Files as people have them: each a small one, and what ``data check`` says of it."""

import csv
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from labelspace.cli.data import app

run = CliRunner()
SIZE, WIDTH = [f"{i * 7 % 13 / 3:.3f}" for i in range(60)], [i * 5 % 11 for i in range(60)]
SPECIES = [["setosa", "virginica", "other"][i % 3] for i in range(60)]
FLOWERS = list(zip(SIZE, WIDTH, SPECIES, strict=True))
HEADER = ["size", "width", "species"]
BY_NAME = "note: 'species' is taken for the label, by its name; --label species says so."


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LABELSPACE_CACHE", str(tmp_path / "cache"))


def write(path, header, rows, **options):
    with path.open("w", newline="") as file:
        csv.writer(file, **options).writerows([header, *rows])
    return path


def check(path, *arguments):
    """Return the exit code, the facts, and what is noted and found wrong; of a refusal the line on stderr.

    That these tables are small is noted of all of them, and left out here.
    """
    result = run.invoke(app, ["check", str(path), *arguments])
    lines = (result.output if result.exit_code < 2 else result.stderr).splitlines()
    said = [line for line in lines if line.startswith(("note: ", "problem: ", "no problems", "labelspace: "))]
    said = [line for line in said if "a comparison decides nothing on fewer" not in line]
    return result.exit_code, lines, said


PLAIN = """\
flowers.csv: Dataset(table 2, 3 classes: 42 train, 9 validation, 9 test)

class      train  validation  test
other         14           3     3
setosa        14           3     3
virginica     14           3     3
all           42           9     9

sample: 2 float32
missing values: none
repeated rows: none
same content in two parts: none
note: 'species' is taken for the label, by its name; --label species says so.
note: Only 9 test samples: a comparison decides nothing on fewer than 20. Add samples.
no problems found

options for these data, by example:
  --label species                                         the column of labels
  --text                                                  learn from the texts of one column
  --group-by                                              keep what belongs together in one part
  --cost-column                                           multiply the prices of each row by a column
  --data-option 'numeric=["size"]'                        a column of numbers, whatever it looks like
  --data-option 'categorical=["size"]'                    a column of categories, whatever it looks like
  --ignore width                                          leave a column out
  --missing indicator                                     indicator fills gaps and marks them, median fills, \
drop leaves rows out
  --data-option 'names=["other", "setosa", "virginica"]'  the classes in their order
  --delimiter ';'                                         what separates the cells
  --validation 0.1                                        how much to choose on
  --data-option test=0.3                                  how much to measure on, where no part is given
  --classes other,setosa                                  only these classes, in this order
"""


def test_a_plain_table_with_the_options_of_its_reader(tmp_path):
    result = run.invoke(app, ["check", str(write(tmp_path / "flowers.csv", HEADER, FLOWERS))])
    assert result.output == PLAIN
    assert result.exit_code == 0


@pytest.mark.parametrize(("first", "quoting"), [(0, csv.QUOTE_MINIMAL), (1, csv.QUOTE_ALL)])  # pandas, R
def test_an_index_without_a_name(tmp_path, first, quoting):
    rows = [[first + i, *row] for i, row in enumerate(FLOWERS)]
    code, lines, said = check(write(tmp_path / "t.csv", ["", *HEADER], rows, quoting=quoting))
    index = f"note: The first column has no name and numbers the rows ({first} … {first + 59}): it is left out."
    assert (code, said) == (0, [BY_NAME, index, "no problems found"])
    assert "sample: 2 float32" in lines


def test_rows_without_a_label_and_gaps(tmp_path):
    rows = [list(row) for row in FLOWERS]
    rows[7][2], rows[8][2], rows[9][2] = "NA", "", "null"
    rows[3][1] = rows[20][1] = "NA"
    path = write(tmp_path / "t.csv", HEADER, rows)
    code, lines, said = check(path)
    bare = "note: 3 rows have no label in 'species' (an empty cell, NA or null): they are left out."
    stops = "Training stops on them; --missing indicator fills them and marks where."
    gaps = f"problem: Values are missing: 2 in 'width'. {stops}"
    assert (code, said) == (1, [BY_NAME, bare, gaps])
    assert not any(line.startswith("NA ") for line in lines)
    code, lines, said = check(path, "--missing", "indicator")
    assert (code, said) == (0, [BY_NAME, bare, "no problems found"])
    assert "sample: 3 float32" in lines
    assert "missing values: width 2" in lines


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("mark", [".", ","])
def test_other_separators_and_decimal_commas(tmp_path, separator, mark):
    rows = [[size.replace(".", mark), width, species] for size, width, species in FLOWERS]
    code, lines, said = check(write(tmp_path / "flowers.csv", HEADER, rows, delimiter=separator))
    assert (code, said) == (0, [BY_NAME, "no problems found"])
    assert lines[: PLAIN.count("\n")] == PLAIN.splitlines()


def test_a_quantity_is_no_label(tmp_path):
    prices = np.random.default_rng(0).integers(300, 20_000, 20_000).tolist()
    rows = [[i % 17 / 3, i % 11, price] for i, price in enumerate(prices)]
    path = write(tmp_path / "t.csv", ["size", "rooms", "price"], rows)
    started = time.process_time()
    code, _, said = check(path, "--label", "price")
    # reading included, on a machine that is busy with something else
    assert time.process_time() - started < 2
    assert code == 2
    assert said == [
        f"labelspace: `--label` must be a column of classes. Got 'price' with {len(set(prices))} different numbers in "
        "20000 rows. That looks like a quantity (a regression target): cut it into classes first, as pandas.qcut does. "
        "Name another column, or say --data-option 'categorical=[\"price\"]' if each is a class."
    ]
    code, _, said = check(path)
    assert code == 2
    assert said[0].startswith("labelspace: `--label` must be given, because it is not clear which column it is.")
    assert "Got 'size', 'rooms' (11 classes), 'price'." in said[0]


def test_a_column_that_names_rows(tmp_path):
    rows = [[1000 + i, *row] for i, row in enumerate(FLOWERS)]
    path = write(tmp_path / "t.csv", ["id", *HEADER], rows)
    code, lines, said = check(path)
    named = "note: 'id' is different in every row, as names and numbers of rows are: leave it out with --ignore id."
    assert (code, said) == (0, [BY_NAME, named, "no problems found"])
    assert any(line.split() == ["--ignore", "id", "leave", "a", "column", "out"] for line in lines)
    assert check(path, "--ignore", "id")[2] == [BY_NAME, "no problems found"]


def test_columns_that_give_the_label_away(tmp_path):
    kinds = ["setosa", "virginica", "other"]
    ones = [[int(row[2] == kind) for kind in kinds] for row in FLOWERS]
    rows = [[f"{i}.5", row[2][0], *own, row[2]] for i, (row, own) in enumerate(zip(FLOWERS, ones, strict=True))]
    path = write(tmp_path / "t.csv", ["size", "code", "level1", "level2", "level3", "species"], rows)
    code, _, said = check(path)
    unless = "the label of every row: unless that is known before the label, leave it out with"
    alone = f"problem: 'code' alone tells {unless} --ignore code."
    ignored = "--ignore level1 --ignore level2 --ignore level3"
    together = f"problem: 'level1', 'level2', 'level3' together tell {unless} {ignored}."
    assert (code, said) == (1, [BY_NAME, alone, together])
    assert check(path, "--ignore", "code", *ignored.split())[0] == 0


def test_coarse_rows_are_no_leakage_and_copies_are(tmp_path):
    draw = np.random.default_rng(0)
    rows = [[*draw.integers(0, 3, 3).tolist(), "abc"[draw.integers(3)]] for _ in range(200)]
    code, _, said = check(write(tmp_path / "coarse.csv", ["sex", "region", "age", "class"], rows))
    coarse = "because the columns are so coarse that few different rows are possible: that is no leakage."
    assert code == 0
    assert said[1:3] == [
        f"note: 30 of the 30 {part} samples equal an earlier one, {coarse}" for part in ("validation", "test")
    ]
    assert said[-1] == "no problems found"
    rows = [[*draw.random(3).round(4).tolist(), "abc"[draw.integers(3)]] for _ in range(60)]
    code, _, said = check(write(tmp_path / "copies.csv", ["p", "q", "r", "class"], [*rows, *rows, *rows]))
    problems = [line for line in said if line.startswith("problem: ")]
    assert code == 1
    assert len(problems) == 2
    assert all("will look better than they are. Name what belongs together" in line for line in problems)


def test_columns_beside_a_text(tmp_path):
    rows = [[i % 3, ["DE", "FR"][i % 2], f"this is review number {i}"] for i in range(90)]
    path = write(tmp_path / "t.csv", ["stars", "country", "review"], rows)
    code, lines, said = check(path, "--text", "review", "--label", "stars")
    beside = "note: Only the text 'review' is learned from, not 'country'; --ignore country says that it is meant."
    assert (code, said) == (0, [beside, "no problems found"])
    assert any(line.split()[:2] == ["--data-option", "max_length=256"] for line in lines)


def test_a_label_is_guessed_only_where_it_is_clear(tmp_path):
    rows = [[size, "xyz"[i % 3], species] for i, (size, _, species) in enumerate(FLOWERS)]
    code, _, said = check(write(tmp_path / "t.csv", ["size", "cut", "colour"], rows))
    assert code == 2
    assert said == [
        "labelspace: `--label` must be given, because it is not clear which column it is. Got 'cut' (3 classes), "
        "'colour' (3 classes). Say which it is, for example --label colour."
    ]
    code, _, said = check(write(tmp_path / "t.csv", ["size", "colour"], [[row[0], row[2]] for row in rows]))
    guessed = (
        "note: 'colour' is taken for the label, as the only column with few different values; --label colour says so."
    )
    assert (code, said[0]) == (0, guessed)
