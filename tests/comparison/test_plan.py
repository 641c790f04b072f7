"""A plan on disk says exactly what it said in memory, and a wrong one is refused in one sentence."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelspace.comparison.plan import Plan, make_plan

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
        model_options={"dropout": 0.1},
        backbone="minilm",
        batch_size=17,
        learning_rate=1e-5,
        optimiser="sgd",
        schedule="constant",
        weight_decay=1e-12,
        augment=["crop", "mixup:0.2"],
        seeds=3,
        strengths={"uniform": [0.1, 0.30000000000000004], "semantic": [0.5]},
        probabilities="inverted",
        margin=0.1,
        level=0.9,
    )
    assert set(Plan.model_fields) == plan.model_fields_set
    assert again == plan


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
        ({"optimiser": "adm"}, "`optimiser` of compare must be 'sgd', 'adam' or 'adamw'. Got 'adm'."),
        ({"strengths": {"uniform": 0.1}}, "`strengths.uniform` of compare must be .* Got 0.1."),
        ({"level": 1.5}, "`level` of compare must be less than 1. Got 1.5."),
        ({"margin": float("nan")}, "`margin` of compare must be .* Got nan."),
    ],
)
def test_a_wrong_value_is_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
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
        make_plan(**LEAST).epochs = 4
