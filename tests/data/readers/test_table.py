"""Tables with labels."""

import sys

import pytest
import torch
from torch.testing import assert_close

from labelspace import data
from small_tables import ROWS, write


def test_numbers_and_categories(tmp_path):
    dataset = data.load(write(tmp_path / "t.csv", ROWS), label="sick", ignore=["id", "patient"])
    assert dataset.kind == "table"
    assert dataset.names == ("no", "yes")
    assert dataset.source["columns"] == ["size", "colour=blue", "colour=red"]
    assert dataset.train.x.dtype == torch.float32
    assert_close(dataset.normalize(dataset.train.x).mean(0), torch.zeros(3), atol=1e-5, rtol=0)
    packed = data.load(write(tmp_path / "t.csv.gz", ROWS), label="sick", ignore=["id", "patient"])
    assert packed.key == dataset.key
    as_category = data.load(tmp_path / "t.csv", label="sick", ignore=["patient", "colour", "size"], categorical=["id"])
    assert len(as_category.source["columns"]) == len(as_category.train)
    assert as_category.source["unseen categories (all zeros)"] == {"id": 12}


def test_columns_that_are_labels_by_name(tmp_path):
    path = write(tmp_path / "t.csv", [[i % 2, i] for i in range(20)], ["Class", "value"])
    assert data.load(path).source["options"]["label"] == "Class"
    with pytest.raises(ValueError, match="`label` of data.load must be a column.*Did you mean 'Class'"):
        data.load(path, label="Clas")


def test_groups_stay_together(tmp_path):
    dataset = data.load(write(tmp_path / "t.csv", ROWS), group_by="patient", label="sick", ignore=["id"])
    sides = [set(part.groups.tolist()) for part in dataset.parts.values() if part.groups is not None]
    assert sum(len(side) for side in sides) == 10
    assert all(len(side) >= 1 for side in sides)
    assert "patient" not in " ".join(dataset.source["columns"])


def test_a_column_of_factors_comes_with_its_rows_and_is_no_feature(tmp_path):
    amounts = {row[1]: float(index % 7) for index, row in enumerate(ROWS)}
    rows = [[*row, amounts[row[1]]] for row in ROWS]
    header = ["id", "size", "colour", "patient", "sick", "amount"]
    options = {"label": "sick", "ignore": ["id", "patient", "colour"]}
    dataset = data.load(write(tmp_path / "t.csv", rows, header), **options, cost_column="amount")
    assert dataset.source["columns"] == ["size"]
    assert dataset.source["options"]["cost_column"] == "amount"
    for part in dataset.parts.values():
        wanted = [amounts[f"{size:.3f}"] for size in part.x[:, 0].tolist()]
        assert_close(part.factors, torch.tensor(wanted, dtype=torch.float64))
    fewer = dataset.limit(10).train
    assert_close(fewer.factors, torch.tensor([amounts[f"{size:.3f}"] for size in fewer.x[:, 0].tolist()]).double())
    other = data.load(
        write(tmp_path / "u.csv", [[*row[:5], 1] for row in rows], header), **options, cost_column="amount"
    )
    assert other.key != dataset.key  # what is judged by it is judged anew


@pytest.mark.parametrize(
    ("cells", "column", "message"),
    [
        (["1"] * 40, "amout", "`cost_column` of data.load must be a column.*Did you mean 'amount'"),
        (["1"] * 39 + ["-2"], "amount", "`cost_column` .* 0 or more, in every row. Got '-2' in row 39"),
        (["1"] * 39 + ["much"], "amount", "Got 'much' in row 39"),
        (["1"] * 39 + ["nan"], "amount", "Got 'nan' in row 39"),
        (["1"] * 39 + [""], "amount", "1 in 'amount'.*what prices are multiplied by are not made up"),
        (["1"] * 40, "sick", "another column than that of label. Got 'sick'"),
    ],
)
def test_columns_that_are_no_factors(tmp_path, cells, column, message):
    rows = [[*row, cell] for row, cell in zip(ROWS, cells, strict=True)]
    path = write(tmp_path / "t.csv", rows, ["id", "size", "colour", "patient", "sick", "amount"])
    with pytest.raises(ValueError, match=message):
        data.load(path, label="sick", cost_column=column)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,y\n1,0\ninf,1\n2,0\n3,1\n", "1 NaN or infinite values \\(1 in 'a', first in row 1\\)"),
        ("a,y\n1,0\n2\n", "1 cells where the header has 2, at line 3"),
        ("a,a,y\n1,2,0\n", "columns have different names"),
        ("a,y\n", "a table with rows"),
        ("", "columns have different names"),
        ("y\n1\n", "columns have different names"),
        ("a,y\n1,0.5\n2,1.5\n", "measurements"),
        ("a,y\n1,0\n2,0\n", "at least two classes"),
        ('a,y\n"1,0\n', "line"),
    ],
)
def test_bad_tables_are_explained(tmp_path, content, message):
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        data.load(path)


def test_text_of_another_encoding_is_named(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,y\n\xff,1\n")
    with pytest.raises(ValueError, match="not UTF-8"):
        data.load(tmp_path / "t.csv")


def test_a_class_that_is_only_in_the_test_part(tmp_path):
    write(tmp_path / "train.csv", [[i, i % 2] for i in range(10)], ["v", "y"])
    write(tmp_path / "test.csv", [[i + 20, i % 3] for i in range(10)], ["v", "y"])
    with pytest.raises(ValueError, match="classes with training samples. Got 1 without any \\('2'\\)"):
        data.load(tmp_path)


def test_same_rows_in_train_and_test_are_warned_of(tmp_path):
    write(tmp_path / "train.csv", [[i, i % 2] for i in range(20)], ["v", "y"])
    write(tmp_path / "test.csv", [[i + 17, i % 2] for i in range(10)], ["v", "y"])
    with pytest.warns(UserWarning, match="3 of the 10 test samples have the same content"):
        data.load(tmp_path)


def test_groups_in_train_and_test_are_warned_of(tmp_path):
    write(tmp_path / "train.csv", [[i, f"p{i % 9}", i % 2] for i in range(36)], ["v", "who", "y"])
    write(tmp_path / "test.csv", [[i + 50, f"p{i}", i % 2] for i in range(10)], ["v", "who", "y"])
    with pytest.warns(UserWarning, match="9 groups of the test part"):
        data.load(tmp_path, group_by="who")


def test_a_parquet_file(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"v": [float(i) for i in range(20)], "y": [i % 2 for i in range(20)]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    assert data.load(tmp_path / "t.parquet").names == ("0", "1")


def test_parquet_without_its_package_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"labelspace\[parquet\]"):
        data.load(tmp_path / "t.parquet")


def test_a_damaged_parquet_file_is_named(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match="a readable t.parquet"):
        data.load(tmp_path / "t.parquet")
