"""How a comparison was made, for a paper: every number is the result's, and names are escaped."""

import re

import pytest

from labelspace.report.methods_text import methods_text
from report.test_latex import NAMES, check, named
from small_results import of_texts, result

FACTS = {
    "model": "mlp-64",
    "epochs": 21,
    "training": "adam, learning rate 0.003, linear schedule, batches of 32",
    "seeds": [12, 123, 1234],
    "cost": {"words": "squared distance", "example": "true 0 called 9 costs 81", "priced": True},
    "space": {"words": "order: 0 < 1 < 2"},
    "label_noise": "pairwise:0.2",
    "rehearsal": [{"learning_rate": 0.003, "weight_decay": 0.0, "epochs": 21, "nll": 0.3}] * 4,
    "versions": {"torch": "2.9.1", "labelspace": "0.1.0"},
    "best": {"label": "SVC"},
    "data": {
        "input_shape": [1, 8, 8],
        "counts": {"train": 800, "validation": 300, "test": 697},
        "group_by": "a_b & c%",
        "test_groups": 17,
    },
    "verdict": {"kind": "cheaper", "subject": "uniform", "estimate": -0.2, "low": -0.3, "high": -0.1, "margin": 0.07},
}


def paragraph(text: str) -> str:
    return text.partition("\n\n")[0]


def test_every_part_is_told() -> None:
    text = paragraph(methods_text(named("one-hot", "uniform", "uniform shuffled", "SVC", **FACTS)))
    for said in (
        r"digits (2 classes, inputs of 1 $\times$ 8 $\times$ 8; 800 training, 300 validation and 697 test samples)",
        r"Samples of one a\_b \& c\% were kept in one part, 17 of them in the test part.",
        "Training labels had noise (pairwise:0.2).",
        "mlp-64, and was trained for 21 epochs (adam, learning rate 0.003, linear schedule, batches of 32)",
        "once for each of the seeds 12, 123 and 1234.",
        "chosen among 4 settings for one-hot labels",
        "squared distance (true 0 called 9 costs 81)",
        r"order: 0 \textless{} 1 \textless{} 2",
        r"The reference was one-hot; compared with it were uniform ($\sigma$ 0.30).",
        "Controls for one-hot: shuffled classes",
        r"Rivals were classifiers of scikit-learn on the same samples: SVC ($\sigma$ 0.30).",
        "the class of least expected cost (min-cost)",
        r"95\,\% intervals over seeds and groups of test samples, paired",
        r"within $\pm$7\,\% were held to be no difference",
        r"The verdict on uniform is cheaper: $-$20\,\% [$-$30, $-$10].",
        "On validation data SVC was best (0.410 per test sample).",
        "Computed with torch 2.9.1 and labelspace 0.1.0.",
    ):
        assert said in text, said


def test_every_number_is_the_results() -> None:
    made = named("one-hot", "uniform", "uniform shuffled", "SVC", **FACTS)
    known = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", made.model_dump_json())}
    shares = {round(100 * number, 6) for number in known}
    counted = {2.0, 4.0}  # classes, ways to train
    versions = {float(number) for number in ("2.9", "1", "0.1", "0")}
    text = paragraph(methods_text(made))
    assert {float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)} <= known | shares | counted | versions


@pytest.mark.parametrize("name", NAMES)
def test_names_stay_names(name: str) -> None:
    facts = {**FACTS, "model": name, "backbone": name, "data": {"name": name, "names": [name], "group_by": name}}
    check(methods_text(named(name, f"{name} 2", f"{name} 3", f"{name} 4", **facts)))


def test_strengths_that_were_tuned() -> None:
    made = named("one-hot", "uniform")
    rows = [row.model_copy(update={"trials": ({"value": 0.1}, {"value": 0.3})}) for row in made.rows]
    tuned = type(made).model_validate(
        {**made.plain(), "rows": [row.model_dump(mode="json", warnings=False) for row in rows]}
    )
    assert "each strength the best of 2 on validation data." in methods_text(tuned)


def test_scores_from_elsewhere_and_texts() -> None:
    assert methods_text(result()).startswith("We compared models on digits (2 classes). Their scores were computed")
    text = methods_text(of_texts(model="seq2seq-256"))
    check(text)
    assert r"Texts were judged by BLEU (signature nrefs:1\textbar{}case:mixed)." in text
    assert "differences against one-hot" in text
    assert r"within $\pm$0.5 points" in text


def test_calibrators_and_actions_are_told() -> None:
    made = named("one-hot", "uniform", **FACTS)
    plain = made.plain()
    for row in plain["rows"]:
        row |= {"temperatures": [1.0, 1.2], "calibrations": [None, {"kind": "vector"}]}
    plain["decided"] = [{"name": "ask", "share": 0.0, "argmax": 0.0}]
    text = " ".join(methods_text(type(made).model_validate(plain)).split())
    assert "after a temperature, and for 2 of 4 models after vector calibration, fitted on validation data" in text
    assert "the action of least expected cost (min-cost)" in text
