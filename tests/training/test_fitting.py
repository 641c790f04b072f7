"""A fit in the place of training: an ordinary run, in an ordinary folder."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import skops.io
import torch
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from labelspace import InputError, Run, data, train
from labelspace.models import FitError
from labelspace.models.registry import PLUGINS
from labelspace.serving.card import card
from labelspace.serving.onnx import export_onnx
from labelspace.training.config import stream_seed

LOGISTIC = "sklearn:StandardScaler+LogisticRegression"


def test_scores_are_those_of_scikit_learn(tmp_path: Path) -> None:
    run = train("digits", model="sklearn:ExtraTreesClassifier", model_options={"n_estimators": 10}, limit=200)
    dataset = data.load("digits").limit(200)
    x, new = (dataset.normalize(part.x).flatten(1).numpy() for part in (dataset.train, dataset.test))
    own = ExtraTreesClassifier(10, random_state=stream_seed(0, "model") % 2**32).fit(x, dataset.train.y.numpy())
    expected = own.predict_proba(new).clip(1e-12, 1)
    np.testing.assert_allclose(run.scores["test_scores"].numpy(), np.log(expected), rtol=1e-6)
    accuracy = (expected.argmax(axis=1) == dataset.test.y.numpy()).mean()
    assert run.result["test"]["accuracy"] == pytest.approx(accuracy)
    assert train("digits", model="sklearn:ExtraTreesClassifier", limit=200, seed=1).result != run.result


def test_a_run_is_kept_read_and_asked_again(tmp_path: Path) -> None:
    run = train("digits", model=LOGISTIC, limit=100, out=tmp_path, epochs=3)
    told: list[str] = []
    again = train(
        "digits", model=LOGISTIC, limit=100, out=tmp_path, epochs=9, report=lambda event, _: told.append(event)
    )
    assert told == ["finished"]  # epochs mean nothing to a fit
    assert again.folder == run.folder
    loaded = Run.load(run.folder)
    x = data.load("digits").test.x
    torch.testing.assert_close(loaded.scores_of(x), run.scores["test_scores"], rtol=0, atol=0)
    torch.testing.assert_close(loaded.predict_proba(x[:1]), loaded.predict_proba(x)[:1])
    assert loaded.times[0]["train_seconds"] > 0
    assert loaded.result["epochs"] == 1
    with pytest.raises(InputError, match="An estimator has no layers"):
        loaded.features(x)
    with pytest.raises(InputError, match="of a network"):
        export_onnx(loaded, loaded.deciding, tmp_path / "x.onnx")


def test_a_killed_fit_starts_again(tmp_path: Path) -> None:
    run = train("digits", model=LOGISTIC, limit=100, out=tmp_path)
    assert run.folder is not None
    before = {path.name: path.read_bytes() for path in run.folder.iterdir() if path.name != "environment.json"}
    (run.folder / "result.json").unlink()
    train("digits", model=LOGISTIC, limit=100, out=tmp_path)
    after = {path.name: path.read_bytes() for path in run.folder.iterdir() if path.name != "environment.json"}
    assert {name for name in before if before[name] != after[name]} <= {"times.jsonl"}


def test_objects_and_pipelines() -> None:
    given = make_pipeline(StandardScaler(), LogisticRegression())
    named = train("digits", model=LOGISTIC, limit=100)
    run = train("digits", model=given, limit=100)
    torch.testing.assert_close(run.scores["test_scores"], named.scores["test_scores"], rtol=0, atol=0)
    assert not hasattr(given[-1], "classes_")


def test_an_object_is_read_where_nobody_gave_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = train("digits", model=make_pipeline(StandardScaler(), LogisticRegression(C=0.5)), limit=100, out=tmp_path)
    monkeypatch.setattr(PLUGINS, "registered", {})  # as in another process
    loaded, x = Run.load(run.folder), data.load("digits").test.x
    torch.testing.assert_close(loaded.scores_of(x), run.scores["test_scores"], rtol=0, atol=0)
    assert "onnx" not in card(loaded, loaded.deciding).lower()


def test_tables_and_texts_as_people_have_them(tmp_path: Path) -> None:
    lines = [f"{n % 30 + 40 * (n // 30)}.5,{n % 7},{('low', 'tall')[n // 30 ^ (n % 9 == 8)]}" for n in range(60)]
    (tmp_path / "sizes.csv").write_text("\n".join(["size,shade,label", *lines, *(f"{n}.7,8,low" for n in range(3))]))
    data_file, boosting = tmp_path / "sizes.csv", "sklearn:HistGradientBoostingClassifier"
    table = train(data_file, label="label", model=boosting, out=tmp_path)
    assert Run.load(table.folder).predict([{"size": 3, "shade": 1}], names=True) == ["low"]
    texts = [f"film {n} is {('good', 'bad')[n % 2]},{('up', 'down')[n % 2]}" for n in range(80)]
    (tmp_path / "films.csv").write_text("\n".join(["text,label", *texts]))
    words = train(tmp_path / "films.csv", label="label", model="sklearn:LogisticRegression", out=tmp_path)
    assert Run.load(words.folder).predict(["so good", "so bad"], names=True) == ["up", "down"]


def test_soft_targets_are_weights() -> None:
    run = train("digits", model="sklearn:LogisticRegression", method="uniform", smoothing=0.2, limit=60)
    dataset = data.load("digits").limit(60)
    x, new = (dataset.normalize(part.x).flatten(1).numpy() for part in (dataset.train, dataset.test))
    weight = np.full((60, 10), 0.02) + 0.8 * np.eye(10)[dataset.train.y.numpy()]
    own = LogisticRegression().fit(np.repeat(x, 10, axis=0), np.tile(np.arange(10), 60), sample_weight=weight.ravel())
    np.testing.assert_allclose(run.scores["test_scores"].numpy(), own.predict_log_proba(new), rtol=1e-2, atol=1e-2)


def test_a_run_with_code_in_it_is_refused() -> None:
    hostile = torch.frombuffer(bytearray(skops.io.dumps(FunctionTransformer(os.system))), dtype=torch.uint8)
    run = train("digits", model=LOGISTIC, limit=60)
    forged = replace(run, read_weights=lambda: {"model._extra_state": hostile})
    with pytest.raises(InputError, match="system, which is not known to be harmless.*Nothing in it was executed"):
        forged.predict(data.load("digits").test.x[:2])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "lls"}, "one whose targets are fixed, for an estimator: .*onehot.*Got 'lls'"),
        ({"augment": ("flip",)}, "`augment` of train must be left out for an estimator"),
    ],
)
def test_what_a_fit_cannot_do_is_refused(tmp_path: Path, options: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        train("digits", model=LOGISTIC, limit=100, out=tmp_path, **options)
    assert not list(tmp_path.iterdir())


def test_a_fit_that_fails_says_why(tmp_path: Path) -> None:
    options = {"model": "sklearn:LogisticRegression", "model_options": {"C": -1.0}, "limit": 50}
    with pytest.raises(FitError, match="^sklearn:LogisticRegression could not be fitted: .*C.* must be") as caught:
        train("digits", out=tmp_path, **options)
    assert "\n" not in str(caught.value)
