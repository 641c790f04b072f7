"""A plan on disk says exactly what it said in memory, and a wrong one is refused in one sentence."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelspace.comparison.plan import TRAINING, Plan, make_plan
from labelspace.training.config import FILLED_IN, Config, make_config

LEAST: dict[str, Any] = {"data": "digits", "methods": ["onehot", "uniform"], "model": "linear", "epochs": 3}


def round_trip(folder: Path, **values: Any) -> tuple[Plan, Plan]:
    plan = make_plan(**{**LEAST, **values})
    plan.save(folder / "plan.toml")
    return plan, Plan.load(folder / "plan.toml")


def test_every_field_survives(tmp_path: Path) -> None:
    plan, again = round_trip(
        tmp_path,
        data="/a folder/of mine.csv",
        data_options={"label": "stars", "ignore": ["a", "b"], "test": 0.25, "colour": True, "nested": {"depth": 2}},
        limit=700,
        space="low<mid<high",
        cost="under=5,over=1",
        actions=["low", "send to a person"],
        capacity={"send to a person": 0.05},
        model_options={"dropout": 0.1},
        backbone="minilm",
        rivals=["auto", "sklearn:GaussianNB"],
        batch_size=17,
        learning_rate=1e-5,
        optimizer="sgd",
        schedule="constant",
        weight_decay=1e-12,
        augment=["crop", "mixup:0.2"],
        seeds=[12, 3],
        tuning=2,
        shuffles=38,
        strengths={"uniform": [0.1, 0.30000000000000004], "semantic": [0.5]},
        method_options={"ce": {"terms": ["H(t,p)"], "rank": 2, "halve": False}},
        probabilities="inverted",
        calibration="vector",
        margin=0.1,
        level=0.9,
        rehearse=True,
        rehearsal=[{"learning_rate": 1e-5, "weight_decay": 0.0, "epochs": 3, "nll": 0.1 + 0.2}],
        trained_as="digits-0a1b2c3d",
    )
    assert set(Plan.model_fields) == plan.model_fields_set
    assert again == plan
    assert again.chosen_seeds == (12, 3)
    assert again.tuning_seeds == (1000, 1001)


# one value for every field of a configuration that all runs share, none of them the usual one
UNUSUAL: dict[str, Any] = {
    "beam": 3,
    "data": "elsewhere",
    "data_options": {"label": "y"},
    "limit": 7,
    "model": "lenet",
    "model_options": {"dropout": 0.1},
    "backbone": "minilm",
    "epochs": 11,
    "batch_size": 17,
    "optimizer": "sgd",
    "learning_rate": 0.5,
    "momentum": 0.0,
    "weight_decay": 0.1,
    "schedule": "step",
    "milestones": [4, 8],
    "gamma": 0.3,
    "warmup_epochs": 2,
    "clip": 1.5,
    "augment": ["flip"],
    "label_noise": "pairwise:0.2",
    "precision": "float64",
    "channels_last": True,
    "patience": 3,
    "head_l2": 0.1,
    "best_by": "error",
    "record": ["test-curve"],
    "threads": 2,
    "device": "cuda",
}


@pytest.mark.parametrize("name", TRAINING)
def test_every_choice_of_training_is_one_of_a_plan(name: str, tmp_path: Path) -> None:
    """Whatever ``train`` can be told, and every run of a comparison alike, a plan can say, write and read."""
    both = {"schedule": {"milestones": [4, 8]}, "patience": {}}.get(name, {})
    plan, again = round_trip(tmp_path, **{name: UNUSUAL[name], **both})
    usual = make_plan(**LEAST)
    assert plan == again
    assert plan.training()[name] == UNUSUAL[name] != usual.training()[name]
    assert tomllib.loads((tmp_path / "plan.toml").read_text(encoding="utf-8"))[name] == UNUSUAL[name]
    # in the configuration of every run
    config = make_config(**again.training(), method="lls", seed=3)
    assert config.model_dump(mode="json")[name] == UNUSUAL[name]
    assert config.key() != make_config(**usual.training(), method="lls", seed=3).key()


def test_nothing_of_a_configuration_is_left_out() -> None:
    """A field is a plan's, or a run's own; a new one is a plan's without further ado."""
    own = {"method", "method_options", "space", "teacher", "seed", *FILLED_IN}
    assert set(TRAINING) == set(Config.model_fields) - own
    assert set(TRAINING).isdisjoint(Plan.model_fields)


def test_a_plan_of_an_earlier_release(tmp_path: Path) -> None:
    """As comparisons wrote it before a plan could say all that a configuration can."""
    old = """data = "digits"
data_options = {}
methods = ["onehot", "uniform"]
model = "linear"
model_options = {}
epochs = 2
batch_size = 32
learning_rate = 0.01
optimizer = "adam"
schedule = "linear"
weight_decay = 0.0
augment = []
seeds = 2
strengths = {uniform = [0.1, 0.3]}
probabilities = "as is"
margin = 0.05
level = 0.95
"""
    plan = Plan.load(write(tmp_path / "plan.toml", old.encode()))
    assert (plan.config.batch_size, plan.config.learning_rate, plan.chosen_seeds) == (32, 0.01, (0, 1))
    assert plan.method_options == {}


def test_what_is_not_known_is_left_out_of_the_file(tmp_path: Path) -> None:
    plan, again = round_trip(tmp_path)
    stored = tomllib.loads((tmp_path / "plan.toml").read_text(encoding="utf-8"))
    assert {"limit", "space", "cost", "backbone"}.isdisjoint(stored)
    assert again == plan
    assert again.space is None


@pytest.mark.parametrize(
    "text",
    [
        'say "no"',
        "back\\slash",
        "two\nlines\r\n",
        "tab\t",
        "Größe ☃ 😀",
        "# no comment",
        "<script>",
        "\x00\x1f\x7f\x85",
        "",
    ],
)
def test_odd_texts(text: str, tmp_path: Path) -> None:
    plan, again = round_trip(tmp_path, data=text, data_options={"label": text, "ignore": [text]}, space=text)
    assert again == plan


@pytest.mark.parametrize("key", ["two words", "", "a.b", 'quo"te', "[table]", "ü", "=", "\x7f", "bare-key_1"])
def test_odd_keys(key: str, tmp_path: Path) -> None:
    plan, again = round_trip(tmp_path, data_options={key: {key: 1}}, strengths={key: [0.5]})
    assert again == plan


values = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=40)
@given(options=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), values, max_size=4))
def test_any_options(options: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    plan, again = round_trip(tmp_path_factory.mktemp("plan"), data_options=options)
    assert again == plan


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epoch": 3}, r"`option name` of compare must be one of .*Got 'epoch'. Did you mean 'epochs'\?"),
        ({"batch_size": "many"}, "`batch_size` of compare must be a valid integer.* Got 'many'"),
        ({"seeds": 0}, "`seeds` of compare must be greater than or equal to 1. Got 0."),
        ({"seeds": []}, r"`seeds` of compare must be different seeds, each 0 or more. Got \[\]."),
        ({"seeds": [1, 1]}, r"`seeds` of compare must be different seeds, each 0 or more. Got \[1, 1\]."),
        ({"seeds": [1, -1]}, "`seeds` of compare must be different seeds, each 0 or more"),
        ({"seeds": 2.5}, "`seeds` of compare must be a number of seeds, or a list of them. Got 2.5."),
        ({"seeds": True}, "`seeds` of compare must be a number of seeds, or a list of them. Got True."),
        ({"seeds": ["a"]}, "`seeds` of compare must be a number of seeds, or a list of them"),
        ({"schedule": "cosin"}, "`schedule` of compare must be 'constant', 'linear'.* Got 'cosin'."),
        ({"schedule": "step"}, "`milestones` of compare must be given for schedule='step'"),
        ({"momentum": 1.0}, "`momentum` of compare must be less than 1. Got 1.0."),
        ({"method": "lls"}, "Did you mean 'methods'"),
        ({"seed": 3}, "Did you mean 'seeds'"),
        ({"teacher": "x"}, "`option name` of compare must be one of"),
        ({"data_key": "x"}, "`option name` of compare must be one of"),
        ({"method_options": {"lls": 3}}, "`method_options.lls` of compare must be options by their names"),
        ({"method_options": {"lls": {"a": object()}}}, "`method_options.a` of compare must be plain data"),
        ({"optimizer": "adm"}, "`optimizer` of compare must be 'sgd', 'adam' or 'adamw'. Got 'adm'."),
        ({"strengths": {"uniform": 0.1}}, "`strengths.uniform` of compare must be .* Got 0.1."),
        ({"level": 1.5}, "`level` of compare must be less than 1. Got 1.5."),
        ({"margin": float("nan")}, "`margin` of compare must be .* Got nan."),
    ],
)
def test_a_wrong_value_is_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        make_plan(**{**LEAST, **changes})
    assert "\n" not in str(caught.value)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ValueError, match=r"`methods` of compare must be given. Got nothing."):
        make_plan(data="digits", model="linear", epochs=1)


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'data = "digits', "`plan` of compare must be a TOML file"),
        (b"\xff\xfe\x00", "`plan` of compare must be a TOML file"),
        (b'data = "digits"\nmethods = ["onehot"]\nmodel = "linear"\nepochs = "few"\n', "`epochs` of compare"),
        (b'data = "digits"\n[trainin]\nepochs = 3\n', "Got 'trainin'"),
        (b"", "`data` of compare must be given"),
    ],
)
def test_a_wrong_file_is_one_sentence(content: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        Plan.load(write(tmp_path / "plan.toml", content))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"`plan` of compare must be a TOML file. Got '.*nowhere.toml', which is not"):
        Plan.load(tmp_path / "nowhere.toml")


def test_a_plan_cannot_be_changed_by_accident() -> None:
    with pytest.raises(ValueError, match="frozen"):
        make_plan(**LEAST).margin = 0.4
