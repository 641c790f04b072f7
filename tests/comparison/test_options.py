"""What a comparison can be told: label noise, options of methods, other forms of one, seeds, and every schedule."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import torch

from comparison.small import TINY, single, write_table
from labelspace import data
from labelspace.comparison import Comparison, compare
from labelspace.comparison.entries import Named, check_methods, make_entries, shuffled_entries
from labelspace.sources.lda import lda
from labelspace.sources.matrices import ordinal
from labelspace.space import LabelSpace
from labelspace.sweeps.executors import InProcess
from labelspace.training.build import Job, training_labels
from labelspace.training.run import Run

NAMES = ["1", "2", "3", "4"]


def run(folder: Path, **options: Any) -> Comparison:
    table = folder / "steps.csv"
    if not table.exists():
        write_table(table, NAMES)
    return compare(table, **{**TINY, "out": folder / "out", "executor": InProcess(), **options})


def runs_of(found: Comparison) -> list[Run]:
    assert found.folder is not None
    return [Run.load(path.parent) for path in sorted(found.folder.glob("runs/*/result.json"))]


def stored(found: Comparison) -> dict[str, Any]:
    assert found.folder is not None
    return tomllib.loads((found.folder / "plan.toml").read_text(encoding="utf-8"))


def test_label_noise_is_in_training_labels_alone(tmp_path: Path) -> None:
    clean, noisy = run(tmp_path), run(tmp_path, label_noise="pairwise:0.3")
    assert clean.folder != noisy.folder
    dataset = data.load(tmp_path / "steps.csv")
    for each in runs_of(noisy):
        assert each.config.label_noise == "pairwise:0.3"
        torch.testing.assert_close(each.scores["validation_y"], dataset.validation.y)
        torch.testing.assert_close(each.scores["test_y"], dataset.test.y)
        changed = training_labels(Job(each.config, dataset, None)) != dataset.train.y
        assert float(changed.double().mean()) == pytest.approx(0.3, abs=0.02)
    assert {each.config.key() for each in runs_of(clean)}.isdisjoint(each.config.key() for each in runs_of(noisy))
    assert noisy.content["label_noise"] == stored(noisy)["label_noise"] == "pairwise:0.3"
    assert "label noise pairwise:0.3" in noisy.table()
    page = noisy.save_html().read_text(encoding="utf-8")
    assert "pairwise:0.3, in training labels only" in page
    assert "label noise" not in clean.table()


def test_noise_of_the_labels_reaches_what_is_taken_from_them(tmp_path: Path) -> None:
    """Discriminants of clean labels beside noisy training labels would tell the method what was hidden from it."""
    options: dict[str, Any] = {"methods": ["semantic", "mixed"], "space": "lda", "seeds": [5, 6]}
    strengths = {"semantic": [0.2], "mixed": [0.2]}
    found = run(tmp_path, label_noise="symmetric:0.4", strengths=strengths, **options)
    assert found.folder is not None
    dataset = data.load(tmp_path / "steps.csv")
    first = next(each.config for each in runs_of(found) if each.config.seed == 5)
    labels = training_labels(Job(first, dataset, None))
    expected = lda(dataset.normalize(dataset.train.x), labels, names=dataset.names)
    clean = lda(dataset.normalize(dataset.train.x), dataset.train.y, names=dataset.names)
    for name in ("semantic", "mixed"):
        used = LabelSpace.load(found.folder / "spaces" / f"{name}.safetensors")
        torch.testing.assert_close(used.matrix, expected.matrix)
        assert not torch.allclose(used.matrix, clean.matrix)


def test_seeds_that_were_chosen(tmp_path: Path) -> None:
    found = run(tmp_path, seeds=[12, 3, 123])
    assert found.content["seeds"] == stored(found)["seeds"] == [12, 3, 123]
    for row in found.content["rows"]:
        assert [int(name.rpartition("seed")[2]) for name in row["runs"]] == [12, 3, 123]
        tuned = row["strength"] is not None
        assert all(trial["run"].endswith("-seed1000" if tuned else "-seed12") for trial in row["trials"])
    assert {each.config.seed for each in runs_of(found)} == {12, 3, 123, 1000, 1001, 1002}
    assert "3 seeds: 12, 3, 123" in " ".join(found.table().split())
    again = run(tmp_path, seeds=[12, 3, 123])
    assert again.folder == found.folder
    other = run(tmp_path, seeds=[1000, 12])  # a seed that is judged chooses nothing
    assert other.folder != found.folder
    assert other.content["rows"][1]["trials"][0]["run"].endswith("-seed1001")


def test_counted_seeds_are_the_first_ones(tmp_path: Path) -> None:
    counted, chosen = run(tmp_path), run(tmp_path, seeds=[0, 1])
    assert counted.content["rows"] == chosen.content["rows"]


def test_options_of_a_method(tmp_path: Path) -> None:
    options: dict[str, Any] = {"methods": ["lls", "lwal"], "strengths": {"lls": [0.1, 0.3], "lwal": [0.0, 3.0]}}
    plain = run(tmp_path, **options)
    found = run(tmp_path, **options, method_options={"lls": {"terms": ["H(t,p)"]}, "lwal": {"dim": 40}})
    assert plain.folder != found.folder
    for each in runs_of(found):
        given = {name: value for name, value in each.config.method_options.items() if name in ("terms", "dim")}
        assert given == {"lls": {"terms": ["H(t,p)"]}, "lwal": {"dim": 40}, "onehot": {}}[each.config.method]
        assert each.space.matrix.shape == ((4, 40) if each.config.method == "lwal" else (4, 4))
    assert stored(found)["method_options"] == {"lls": {"terms": ["H(t,p)"]}, "lwal": {"dim": 40}}
    rows = {row["label"]: row for row in found.content["rows"]}
    assert rows["LLS"]["options"] == {"terms": ["H(t,p)"]}
    assert plain.content["rows"][0] == found.content["rows"][0]
    assert plain.content["rows"][1]["runs"] != rows["LLS"]["runs"]
    assert 'LLS: lls with terms=["H(t,p)"]' in found.table()
    assert "Options of LLS" in found.save_html().read_text(encoding="utf-8")
    assert found.folder is not None
    repeated = compare(plan=found.folder / "plan.toml", out=tmp_path / "again", executor=InProcess())
    assert repeated.content["rows"] == found.content["rows"]


def test_forms_of_one_method_beside_each_other(tmp_path: Path) -> None:
    """The forward cross-entropy alone is label smoothing whose rows are learned; two terms more are its divergence."""
    found = run(
        tmp_path,
        methods="lls,ce=lls,low-rank=lls",
        strengths={"onehot": [0.0], "lls": [0.1], "ce": [0.1, 0.3], "low-rank": [0.2]},
        method_options={"ce": {"terms": ["H(t,p)"]}, "low-rank": {"rank": 2}},
    )
    rows = {row["label"]: row for row in single(found)}
    assert list(rows) == ["one-hot", "LLS", "ce", "low-rank"]
    assert [row["method"] for row in rows.values()] == ["onehot", "lls", "lls", "lls"]
    assert [len(row["trials"]) for row in rows.values()] == [1, 1, 2, 1]
    assert stored(found)["methods"] == ["onehot", "lls", "ce=lls", "low-rank=lls"]
    assert len({name for row in rows.values() for name in row["runs"]}) == 8
    found.save_html()


def test_one_hot_in_another_form(tmp_path: Path) -> None:
    weight = torch.tensor([1.0, 2.0, 2.0, 1.0])
    found = run(tmp_path, methods=["weighted=onehot"], strengths={}, method_options={"weighted": {"weight": weight}})
    assert [(row["label"], row["role"]) for row in single(found)] == [
        ("one-hot", "reference"),
        ("weighted", "method"),
    ]
    assert found.content["rows"][1]["options"] == {"weight": [1.0, 2.0, 2.0, 1.0]}


def test_a_strength_that_was_chosen_is_not_tuned(tmp_path: Path) -> None:
    found = run(tmp_path, strengths={}, method_options={"uniform": {"smoothing": 0.25}})
    row = found.content["rows"][1]
    assert [trial["value"] for trial in row["trials"]] == [0.25]
    assert (row["strength"]["value"], row["options"]) == (0.25, {})
    assert stored(found)["strengths"] == {"uniform": [0.25]}


def test_a_pretrained_embedding_by_its_file(tmp_path: Path) -> None:
    rows = torch.softmax(torch.randn(4, 4, generator=torch.Generator().manual_seed(0)), dim=1)
    file = LabelSpace(NAMES, rows, "relations").save(tmp_path / "learned.safetensors")
    options: dict[str, Any] = {"methods": ["labelemb"], "strengths": {}}
    found = run(tmp_path, **options, method_options={"labelemb": {"pretrained": str(file)}})
    used = [each for each in runs_of(found) if each.config.method == "labelemb"]
    for each in used:
        torch.testing.assert_close(each.learner().criterion.fixed, rows)
    # the second head is gone, and with it what its temperature could change: there is nothing to tune
    row = found.content["rows"][1]
    assert (len(used), [trial["value"] for trial in row["trials"]], row["strength"]) == (2, [None], None)
    assert run(tmp_path, **options, method_options={"labelemb": {"pretrained": file}}).folder == found.folder
    with pytest.raises(FileNotFoundError, match="There is no label file at"):
        run(tmp_path, **options, method_options={"labelemb": {"pretrained": "not-there.safetensors"}})
    with pytest.raises(ValueError, match="strengths.*for methods that have a strength"):
        run(
            tmp_path,
            methods=["labelemb"],
            strengths={"labelemb": [2.0]},
            method_options={"labelemb": {"pretrained": file}},
        )


def test_a_schedule_in_place_of_a_strength(tmp_path: Path) -> None:
    found = run(tmp_path, methods=["focal"], strengths={}, method_options={"focal": {"gamma": "flsd53"}})
    row = found.content["rows"][1]
    assert (row["options"], row["strength"], len(row["runs"])) == ({"gamma": "flsd53"}, None, 2)
    with pytest.raises(TypeError, match="`method_options.focal.gamma` of compare must be a number"):
        run(tmp_path, methods=["focal"], strengths={}, method_options={"focal": {"gamma": "flsd"}})


def test_a_matrix_leaves_no_strength_to_tune() -> None:
    options = {"infogain": {"matrix": torch.eye(4).tolist()}}
    plain, given = (make_entries(("onehot", "infogain"), ordinal(NAMES), None, {}, each)[1] for each in ({}, options))
    assert (len(plain.trials()), given.trials()) == (5, [options["infogain"]])


def test_a_method_that_looks_at_the_space_where_asked_to() -> None:
    space = ordinal(NAMES)
    plain = make_entries(("onehot", "lls"), space, None, {})
    near = make_entries(("onehot", "lls"), space, None, {}, {"lls": {"top": 2}})
    assert [entry.space for entry in plain] == [None, None]
    assert [entry.label for entry in near] == ["one-hot", "LLS"]
    assert near[1].space is space
    assert [dict(entry.options) for entry in near[1:]] == [{"top": 2}]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method_options": {"unifrom": {}}}, "`method_options` of compare must be one of .*Did you mean 'uniform'"),
        ({"method_options": {"uniform": {"smoothin": 1}}}, "Got 'smoothin'. Did you mean 'smoothing'"),
        ({"method_options": {"uniform": {"reduction": "men"}}}, "Got 'men'"),
        ({"strengths": {}, "method_options": {"uniform": {"smoothing": "a"}}}, "`method_options.uniform.smoothing`"),
        ({"method_options": {"uniform": {"smoothing": 0.2}}}, "both a strength and 'smoothing' for 'uniform'"),
        ({"method_options": {"lwal": {"dim": 3}}}, "`method_options` of compare must be one of 'onehot', 'uniform'"),
        ({"label_noise": "pairwise:2"}, "rate"),
        ({"label_noise": "pairwis:0.2"}, "Did you mean 'pairwise'"),
        ({"schedule": "step"}, "`milestones` of compare must be given"),
        ({"seeds": [0, 0]}, "`seeds` of compare must be different seeds"),
        ({"methods": ["a=unifrom"]}, "Did you mean 'uniform'"),
        ({"methods": ["a=uniform", "a=lls"], "strengths": {}}, "of different names. Got 'a' twice"),
        ({"methods": ["lls=uniform"], "strengths": {}}, "a name of letters.*that no method has. Got 'lls=uniform'"),
        ({"methods": ["a/b=uniform"], "strengths": {}}, "a name of letters, digits"),
        ({"methods": ["=uniform"], "strengths": {}}, "a name of letters, digits"),
        ({"methods": ["one-hot=uniform"], "strengths": {}}, "names that no other row is shown by. Got 'one-hot'"),
        ({"methods": ["lls", "lLs=uniform"], "strengths": {}}, "names that no other row is shown by. Got 'lLs'"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_trained(
    options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        run(tmp_path, **options)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob("out/*"))


def announced_and_made(folder: Path, **options: Any) -> tuple[Comparison, int]:
    """A comparison of one seed, and how many runs it announced, which are those that it made."""
    told: dict[str, Any] = {}
    found = run(folder, **options, seeds=1, report=lambda event, facts: told.setdefault(event, facts))
    assert found.folder is not None
    assert len(list(found.folder.glob("runs/*/result.json"))) == told["plan"]["runs"]
    return found, told["plan"]["runs"]


def test_strengths_that_options_rule_out_are_not_tried(tmp_path: Path) -> None:
    """Mixtures whose entries are learned stay at or below (1 − margin)/2; one ε per class may begin at ½."""
    learned = {"mixed": {"learn": "entry"}, "each": {"learn": "class"}}
    strengths = {"onehot": [0.0], "mixed": [0.2, 0.5], "each": [0.2, 0.5]}
    options = {"methods": ["mixed", "each=mixed"], "method_options": learned, "strengths": strengths}
    found, count = announced_and_made(tmp_path, **options)
    # the reference; of one strength three seeds that choose and one that is judged; of the other method one more pair
    assert count == 1 + (3 + 1) + (3 + 3 + 1)
    (said,) = [each for each in found.content["warnings"] if "not tried" in each]
    assert said.startswith("mixed was not tried with ε = 0.5: `smoothing` of MixedCrossEntropy must be at most")
    tried = {row["label"]: [each["value"] for each in row["trials"]] for row in found.content["rows"]}
    assert (tried["mixed"], tried["each"]) == ([0.2], [0.2, 0.5])


def test_a_matrix_in_place_of_a_space_has_no_strength(tmp_path: Path) -> None:
    """A strength says how much of a space is mixed in; trying several with a matrix would train the same thing."""
    matrix = torch.eye(len(NAMES)).tolist()
    options = {"methods": ["infogain"], "method_options": {"infogain": {"matrix": matrix}}, "strengths": {}}
    found, count = announced_and_made(tmp_path, **options)
    assert count == 2
    assert {row["label"]: row["strength"] for row in found.content["rows"]} == {"one-hot": None, "infogain": None}
    table = make_entries(("onehot", "infogain"), ordinal(NAMES), None, {})
    assert [entry.option for entry in table if entry.method == "infogain"] == ["smoothing"]


def test_a_shuffled_form_and_a_name_do_not_meet() -> None:
    methods = check_methods("semantic,semantic-shuffled-1=semantic")
    entries = make_entries(methods, ordinal(5), None, {}, {}, 2)
    files = [entry.file for entry in (*entries, *shuffled_entries(entries[1]), *shuffled_entries(entries[2]))]
    assert len(set(files)) == len(files) == 7


@pytest.mark.parametrize("text", ["lls", "forward=lls", " a = lls "])
def test_names_are_read_as_they_are_written(text: str) -> None:
    found = Named.read(text)
    assert found.method == "lls"
    assert check_methods([text])[1] == (found.name if found.name == "lls" else f"{found.name}=lls")


@pytest.mark.parametrize(
    "options",
    [
        {"optimizer": "sgd", "momentum": 0.0, "schedule": "constant"},
        {"schedule": "step", "milestones": [1], "gamma": 0.5},
        {"schedule": "exponential", "gamma": 0.9},
        {"best_by": "error", "head_l2": 0.01},
        {"warmup_epochs": 1, "clip": 0.5},
        {"precision": "float64"},
        {"patience": 1},
    ],
)
def test_every_way_to_train(options: dict[str, Any], tmp_path: Path) -> None:
    found = run(tmp_path, **options)
    for each in runs_of(found):
        kept = each.config.model_dump(mode="json")
        assert {name: kept[name] for name in options} == options
    assert {name: stored(found)[name] for name in options} == options
    told = found.content["training"]
    for name, value in options.items():
        if name in ("milestones", "gamma", "warmup_epochs", "clip", "patience"):
            assert f"{name.replace('_', ' ')} {value}" in told
    assert told in found.save_html().read_text(encoding="utf-8").replace("&#34;", '"')
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json")}
    assert run(tmp_path, **options).content["rows"] == found.content["rows"]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json") if "best" not in path.parts} == {
        path: moment for path, moment in before.items() if "best" not in path.parts
    }


def test_the_level_of_a_plan(tmp_path: Path) -> None:
    found = run(tmp_path, level=0.8)
    assert found.verdict.level == 0.8
    assert "80 % interval" in found.table()
    page = found.save_html().read_text(encoding="utf-8")
    assert re.search(r"80 % <[^>]*>intervals</[^>]*>: seeds × test samples", page)
    assert found.content["rows"][1]["change"]["level"] == 0.8


@pytest.mark.parametrize(
    ("beside", "named"),
    [
        ({"methods": ["lls"]}, "methods"),
        ({"seeds": 6}, "seeds"),
        ({"model": "auto"}, "model"),
        ({"budget": "2m"}, "budget"),
        ({"data": "digits"}, "data"),
        ({"space": "ordinal", "cost": "squared"}, "space, cost"),
        ({"epochs": 50, "anything": 3}, "epochs, anything"),
        ({"methods": ["lls"], "epochs": 50}, "methods, epochs"),
    ],
)
def test_nothing_is_given_beside_a_plan(beside: dict[str, Any], named: str, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('data = "digits"\nmethods = ["uniform"]\nmodel = "linear"\nepochs = 2\n')
    words = f"`plan` of compare must be given without what it decides. Got it with {named}. Edit a copy"
    with pytest.raises(ValueError, match=words):
        compare(plan=tmp_path / "plan.toml", out=tmp_path / "out", executor=InProcess(), **beside)
    assert not (tmp_path / "out").exists()


def test_a_plan_for_data_in_memory_is_given_them_again(tmp_path: Path) -> None:
    pair = (torch.randn(90, 3, generator=torch.Generator().manual_seed(0)), torch.arange(90) % 3)
    options: dict[str, Any] = {"executor": InProcess(), "out": tmp_path / "out"}
    found = compare(pair, **TINY, **options)
    assert found.folder is not None
    plan = found.folder / "plan.toml"
    again = compare(pair, plan=plan, out=tmp_path / "again", executor=InProcess())
    assert again.content["rows"] == found.content["rows"]
    for beside in (None, "digits"):
        with pytest.raises(ValueError, match=r"`data` of compare must be given in memory.*compare\(\(x, y\), plan=…\)"):
            compare(beside, plan=plan, **options)
    with pytest.raises(ValueError, match="given without what it decides. Got it with epochs"):
        compare(pair, plan=plan, epochs=3, **options)


def test_targets_that_were_learned_are_not_undone(tmp_path: Path) -> None:
    """An inversion undoes ``(1−ε)·I + ε·A``; of a mixture that was learned, ε is only where it began."""
    given = torch.eye(len(NAMES)).tolist()
    options: dict[str, Any] = {
        "methods": ["mixed", "learned=mixed", "infogain", "given=infogain"],
        "method_options": {"learned": {"learn": "class"}, "given": {"matrix": given}},
        "strengths": {"mixed": [0.2], "learned": [0.2], "infogain": [0.2]},
    }
    found = run(tmp_path, **options, probabilities="inverted")
    rows = {row["label"]: row["inverted"] for row in single(found)}
    assert rows == {"one-hot": False, "mixed": True, "learned": False, "infogain": True, "given": False}
