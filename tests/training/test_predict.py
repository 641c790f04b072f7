"""Raw rows: a finished run takes them as its training data came, and gives the scores of its own evaluation."""

import csv
import gzip
import json
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labelspace import Decision, data
from labelspace.serving.predictions import Ready, Tally, predictions
from labelspace.training import predict
from labelspace.training.inputs import Inputs
from labelspace.training.run import Run, train
from signing import signed_again

HEADER = ["id", "size", "colour", "weight", "label"]


def row(draw: random.Random, number: int) -> list[str]:
    size = draw.random()
    colour = draw.choice(["red", "blue", "a|b; c"])
    gap = number % 11 == 4
    label = "big" if size + (0.3 if colour == "red" else 0) > 0.6 else "small"
    return [
        f"n{number}",
        "" if gap else f"{size:.5f}",
        "NA" if number % 13 == 5 else colour,
        f"{draw.gauss(50, 9):.3f}",
        label,
    ]


def write(path: Path, rows: list[list[str]], header: list[str] = HEADER, delimiter: str = ",") -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """A folder of tables with categories and gaps, and a run on it that came back from disk."""
    folder, draw = tmp_path_factory.mktemp("table"), random.Random(0)
    for part, count in (("train", 150), ("test", 1100)):
        write(folder / f"{part}.csv", [row(draw, number) for number in range(count)])
    options = {"missing": "median", "ignore": ["id"]}
    run = train(folder, model="linear", epochs=2, learning_rate=0.1, data_options=options, out=folder / "runs")
    return folder, Run.load(run.folder)


def test_a_file_gives_the_bits_of_the_runs_own_evaluation(table: tuple[Path, Run]) -> None:
    folder, run = table
    # more rows than one batch
    assert torch.equal(run.scores_of(folder / "test.csv"), run.scores["test_scores"])
    torch.testing.assert_close(run.predict(str(folder / "test.csv")), run.scores["test_scores"].argmax(1))


def test_other_delimiters_orders_and_packings_change_nothing(table: tuple[Path, Run], tmp_path: Path) -> None:
    folder, run = table
    with (folder / "test.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    backwards = [line[::-1] for line in rows]
    paths = [
        write(tmp_path / f"{number}.csv", backwards, HEADER[::-1], delimiter)
        for number, delimiter in enumerate((";", "\t", "|"))
    ]
    paths.append(write(tmp_path / "t.tsv", rows, delimiter="\t"))
    without_label = write(tmp_path / "no-label.csv", [line[:-1] for line in rows], HEADER[:-1])
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress((folder / "test.csv").read_bytes()))
    for path in (*paths, without_label, packed):
        assert torch.equal(run.scores_of(path), run.scores["test_scores"]), path.name


class Frame:
    """What a DataFrame has: columns by name."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values, self.columns = values, list(values)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


def test_parquet_columns_and_frames(table: tuple[Path, Run], tmp_path: Path) -> None:
    folder, run = table
    with (folder / "test.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    columns: dict[str, Any] = {
        "size": [float(line["size"]) if line["size"] else None for line in rows],
        "colour": [None if line["colour"] == "NA" else line["colour"] for line in rows],
        "weight": np.asarray([float(line["weight"]) for line in rows]),
        "unused": [object() for _ in rows],
    }
    assert torch.equal(run.scores_of(columns), run.scores["test_scores"])
    assert torch.equal(run.scores_of(Frame(columns)), run.scores["test_scores"])
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    stored = pyarrow.table({name: list(columns[name]) for name in ("weight", "colour", "size")})
    parquet.write_table(stored, tmp_path / "t.parquet", row_group_size=100)
    assert torch.equal(run.scores_of(tmp_path / "t.parquet"), run.scores["test_scores"])


def test_a_pandas_frame_with_its_own_missing_values(table: tuple[Path, Run]) -> None:
    pandas = pytest.importorskip("pandas")
    folder, run = table
    frame = pandas.read_csv(folder / "test.csv").convert_dtypes()
    assert torch.equal(run.scores_of(frame), run.scores["test_scores"])


def test_one_row_as_a_dict(table: tuple[Path, Run]) -> None:
    folder, run = table
    first = data.load(folder, missing="median", ignore=["id"]).test.x[:1]
    with (folder / "test.csv").open(newline="") as file:
        line = next(csv.DictReader(file))
    torch.testing.assert_close(run.scores_of(line), run.scores_of(first))


def test_an_unknown_category_counts_as_none_and_is_told(table: tuple[Path, Run]) -> None:
    _, run = table
    rows = {"size": [0.5, 0.5], "colour": ["green", "red"], "weight": [50, 50]}
    with pytest.warns(UserWarning, match=r"Training had no 'green' in 'colour' \(1 row\)"):
        scores = run.scores_of(rows)
    torch.testing.assert_close(scores, run.scores_of(torch.tensor([[0.5, 0, 0, 0, 50], [0.5, 0, 0, 1, 50]])))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"size": [1], "colour": ["red"]}, "none called 'weight'"),
        ({"size": [1], "colour": ["red"], "Weight": [2]}, "Did you mean 'Weight'"),
        ({"size": [1], "colour": ["red", "blue"], "weight": [2]}, "columns of one length"),
        ({"size": ["big"], "colour": ["red"], "weight": [2]}, r"0 \('big' in 'size', which is no finite number"),
        ({"size": [float("inf")], "colour": ["red"], "weight": [2]}, "no finite number"),
        ({"size": [1e39], "colour": ["red"], "weight": [2]}, "no finite number"),
        ({}, "no columns"),
        (
            [],
            r"rows with the columns of training \(a CSV .*, a dict of columns, a DataFrame, rows in lists\). Got list",
        ),
        (3, "Got int"),
        ("nowhere.csv", "Got 'nowhere.csv'. There is no file nowhere.csv."),
    ],
)
def test_rows_that_will_not_do(table: tuple[Path, Run], rows: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        table[1].predict(rows)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"size,colour,weight\n1,red\n", "2 cells where the header has 3"),
        (b"size,colour,weight\n", "a table with rows"),
        (b"", "columns have different names"),
        (b"size,size\n1,2\n", "columns have different names"),
        (b"size,colour,weight\n1,\xff,3\n", "not UTF-8"),
        (b'size,colour,weight\n1,"red,3\n', "line"),
    ],
)
def test_damaged_tables_are_explained(table: tuple[Path, Run], tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(ValueError, match=words):
        table[1].predict(tmp_path / "t.csv")


def test_files_that_are_not_what_they_are_called(table: tuple[Path, Run], tmp_path: Path) -> None:
    for name in ("t.csv.gz", "t.npz", "t.parquet", "t.xlsx"):
        (tmp_path / name).write_bytes(b"nothing of the kind")
        with pytest.raises(ValueError, match=r"`\w+` of (Run|data.load) must be"):
            table[1].predict(tmp_path / name)


def test_a_packed_table_has_the_bound_of_training_data(
    table: tuple[Path, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = (table[0] / "test.csv").read_text().splitlines(keepends=True)
    content = "".join([whole[0], *(whole[1:] * (200_000 // len("".join(whole[1:])) + 1))])
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(content.encode()))
    monkeypatch.setenv("LABELSPACE_MAX_UNPACKED", "100000")
    with pytest.raises(ValueError, match="a file that unpacks to at most 100,000 bytes"):
        table[1].predict(tmp_path / "t.csv.gz")
    monkeypatch.setenv("LABELSPACE_MAX_UNPACKED", "1M")
    assert len(table[1].predict(tmp_path / "t.csv.gz")) == content.count("\n") - 1


def rule_run(tmp_path: Path, rule: str) -> Run:
    gaps = (3, 12, 20) if rule in ("drop", "indicator") else ()
    rows = [["" if i in gaps else str(i % 7), str(i), "ab"[i % 2]] for i in range(40)]
    path = write(tmp_path / "t.csv", rows, ["v", "w", "y"])
    return train(path, model="linear", epochs=1, data_options={"missing": rule}, out=tmp_path / "runs")


def test_gaps_by_the_rule_of_training(tmp_path: Path) -> None:
    gaps = {"v": [1, None, "NA"], "w": [1, 2, 3]}
    for rule in ("error", "drop"):
        with pytest.raises(ValueError, match=r"1 \(no value in 'v'\) and 1 more"):
            rule_run(tmp_path, rule).predict(gaps)
    filled = rule_run(tmp_path, "median")
    median = float(filled.preprocessing["input"]["encoding"][0]["fill"])
    torch.testing.assert_close(filled.scores_of(gaps), filled.scores_of({"v": [1, median, median], "w": [1, 2, 3]}))
    marked = Run.load(rule_run(tmp_path, "indicator").folder)
    assert marked.preprocessing["input_shape"] == [3]
    assert not torch.equal(marked.scores_of(gaps)[1:], marked.scores_of({"v": [1, median, median], "w": [1, 2, 3]})[1:])


def test_categories_that_are_numbers(tmp_path: Path) -> None:
    rows = [[str(i % 3), str(i / 7), "ab"[i % 2]] for i in range(60)]
    path = write(tmp_path / "t.csv", rows, ["code", "v", "y"])
    run = train(path, model="linear", epochs=1, data_options={"categorical": ["code"]})
    wanted = run.scores_of({"code": ["2", "0"], "v": [1.0, 2.0]})
    # a column of whole numbers with a gap elsewhere comes as floats
    torch.testing.assert_close(run.scores_of({"code": [2.0, 0.0], "v": [1.0, 2.0]}), wanted)
    torch.testing.assert_close(run.scores_of({"code": np.array([2, 0]), "v": [1.0, 2.0]}), wanted)


def texts(tmp_path: Path) -> Path:
    draw = random.Random(1)
    words = ["film", "story", "actor", "plot", "music", "scene"]
    for part, count in (("train", 80), ("test", 40)):
        rows = [
            [str(i), f"A {'good' if i % 2 else 'BAD'}, {' '.join(draw.choices(words, k=6))} {part}{i}", str(i % 2)]
            for i in range(count)
        ]
        write(tmp_path / f"{part}.csv", rows, ["n", "review", "label"])
    return tmp_path


def test_texts(tmp_path: Path) -> None:
    folder = texts(tmp_path)
    options = {"text": "review", "max_length": 5, "vocabulary": 12, "ignore": ["n"]}
    run = train(folder, model="text-bag", epochs=1, data_options=options, out=tmp_path / "runs")
    run = Run.load(run.folder)
    with (folder / "test.csv").open(newline="") as file:
        reviews = [line["review"] for line in csv.DictReader(file)]
    alone = write(tmp_path / "alone.csv", [[text] for text in reviews], ["whatever"])
    for given in (folder / "test.csv", reviews, {"review": reviews}, alone):
        assert torch.equal(run.scores_of(given), run.scores["test_scores"])
    with pytest.raises(ValueError, match=r"1 \(no text in 'review'\)"):
        run.predict(["good", " "])
    with pytest.raises(ValueError, match="texts .a list, or a CSV.*There is no file a good film"):
        run.predict("a good film")


def test_arrays(tmp_path: Path) -> None:
    digits = data.load("digits")
    run = train(digits, model="linear", epochs=1)
    np.savez(tmp_path / "a.npz", x=digits.test.x.numpy()[:, 0], other=np.zeros(3))  # without the axis of channels
    assert torch.equal(run.scores_of(tmp_path / "a.npz"), run.scores["test_scores"])
    np.savez(tmp_path / "b.npz", z=digits.test.x.numpy())
    with pytest.raises(ValueError, match="an NPZ file with an array x. Got b.npz with z"):
        run.predict(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", x=digits.test.x.numpy().astype(np.float32))
    with pytest.raises(ValueError, match="Got torch.float32"):
        run.predict(tmp_path / "c.npz")
    with pytest.raises(ValueError, match="at least one sample"):
        run.predict(digits.test.x[:0])


def test_features_and_float64(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(60, 3, 4)).astype(np.float32)
    run = train((x, np.arange(60) % 2), model="linear", epochs=1, precision="float64")
    np.savez(tmp_path / "x.npz", embeddings=x)
    assert run.scores_of(tmp_path / "x.npz").dtype == torch.float64
    torch.testing.assert_close(run.scores_of(tmp_path / "x.npz"), run.scores_of(torch.from_numpy(x)))
    with pytest.raises(ValueError, match="or an NPZ file with x. Got dict"):
        run.predict({"a": [1.0]})


def test_runs_that_recorded_less_still_load(table: tuple[Path, Run], tmp_path: Path) -> None:
    folder, run = table
    old = tmp_path / "old"
    old.mkdir()
    assert run.folder is not None
    for file in run.folder.iterdir():
        (old / file.name).write_bytes(file.read_bytes())
    facts = json.loads((old / "preprocessing.json").read_text())
    del facts["input"]
    (old / "preprocessing.json").write_text(json.dumps(facts))
    loaded = Run.load(signed_again(old))
    x = data.load(folder, missing="median", ignore=["id"]).test.x
    assert torch.equal(loaded.scores_of(x), run.scores["test_scores"])
    with pytest.raises(ValueError, match="did not record how columns are encoded.*Train again"):
        loaded.predict(folder / "test.csv")


def test_an_old_run_on_texts_takes_lists(tmp_path: Path) -> None:
    options = {"text": "review", "max_length": 8, "ignore": ["n"]}
    run = train(texts(tmp_path), model="text-bag", epochs=1, data_options=options)
    wanted = run.scores_of(["a good film"])
    del run.preprocessing["input"]
    torch.testing.assert_close(run.scores_of(["a good film"]), wanted)


def test_parts_that_were_replaced_are_not_described_by_the_table(table: tuple[Path, Run]) -> None:
    folder, _ = table
    dataset = data.load(folder, missing="median", ignore=["id"])
    wide = {name: replace(part, x=torch.cat([part.x, part.x], dim=1)) for name, part in dataset.parts.items()}
    changed = replace(
        dataset,
        **wide,
        normalize=replace(
            dataset.normalize, mean=dataset.normalize.mean.repeat(2), std=dataset.normalize.std.repeat(2)
        ),
    )
    run = train(changed, model="linear", epochs=1)
    assert run.preprocessing["input"]["encoding"] is None


def test_parquet_without_its_package_names_the_extra(
    table: tuple[Path, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"labelspace\[parquet\]"):
        table[1].predict(tmp_path / "t.parquet")


def test_tensors_without_numbers_in_them_are_refused(table: tuple[Path, Run]) -> None:
    run = table[1]
    x = torch.zeros(3, *run.preprocessing["input_shape"])
    assert len(run.predict(x)) == 3
    with pytest.raises(ValueError, match=r"a dense tensor.* Got torch.sparse_coo. Give its .to_dense\(\)"):
        run.predict(x.to_sparse())
    with pytest.raises(ValueError, match="a dense tensor.* Got a tensor on the meta device"):
        run.predict(x.to("meta"))


def test_only_the_arrays_that_are_asked_for_are_read(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    run = train((x, np.arange(40) % 2), model="linear", epochs=1, out=tmp_path / "runs")
    np.savez(tmp_path / "new.npz", x=x, who=np.arange(40), junk=np.array([{}, None], dtype=object))
    assert len(run.predict(tmp_path / "new.npz")) == 40
    pieces = Inputs(run.preprocessing).pieces(tmp_path / "new.npz", 16, ["who"])
    assert [value for piece in pieces for value in piece.kept["who"]] == list(range(40))
    with pytest.raises(ValueError, match="an NPZ file of plain arrays. Got new.npz: an array of Python objects"):
        list(Inputs(run.preprocessing).pieces(tmp_path / "new.npz", 16, ["junk"]))


def test_scores_that_are_not_finite_are_no_predictions(tmp_path: Path) -> None:
    run = train(([[float(v)] for v in range(40)], ["low"] * 20 + ["tall"] * 20), model="linear", epochs=1)
    weights = {name: value.clone() for name, value in run.weights.items()}
    next(iter(weights.values())).fill_(torch.nan)
    diverged = replace(run, read_weights=lambda: weights)
    with pytest.raises(ValueError, match=r"for sample 0 \(and 4 more\)"):
        diverged.predict(torch.zeros(5, 1))
    np.savez(tmp_path / "x.npz", x=np.array([[1.0], [3e38], [2.0]], np.float32))
    large = replace(
        run,
        read_weights=lambda: {name: value * 1e30 if value.ndim == 2 else value for name, value in run.weights.items()},
    )
    with (
        pytest.warns(UserWarning, match=r"1 sample far from those of training: 1 \('feature 0' is 3e\+38, "),
        pytest.raises(ValueError, match=r"`scores` of Run.predict must be finite .* Got \S+ for sample 1\. "),
    ):
        large.predict(tmp_path / "x.npz")
    tally = Tally()
    decision = Decision("argmax", 1.0, None, run.preprocessing["names"])
    columns = next(predictions(Ready(large, decision), tmp_path / "x.npz", tally))
    assert tally.unread == [("1", "its scores are not finite numbers")]
    assert [cell is None for cell in columns["class"]] == [False, True, False]
    assert columns["decision"][1] is None


def test_several_models_read_what_a_frozen_network_makes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("efficientnet_lite_pytorch")
    draw = np.random.default_rng(0)
    pictures = draw.integers(0, 256, (30, 16, 16, 3), dtype=np.uint8), [*"abc"] * 10
    options = {"epochs": 1, "backbone": "efficientnet-lite0"}
    runs = [train(pictures, seed=seed, **options) for seed in (0, 1)]
    read: list[int] = []

    def counted(frozen: object, samples: object) -> torch.Tensor:
        read.append(len(samples))  # type: ignore[arg-type]
        return features(frozen, samples)  # type: ignore[arg-type]

    features = predict.backbone_features
    wanted = [run.predict_proba(pictures[0]).double() for run in runs]
    monkeypatch.setattr(predict, "backbone_features", counted)
    several = replace(runs[0], members=tuple(runs), shares=(0.25, 0.75))
    mean = 0.25 * wanted[0] + 0.75 * wanted[1]
    torch.testing.assert_close(several.scores_of(pictures[0]).double().exp(), mean)
    assert read == [30]
