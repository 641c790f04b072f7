"""Training together: the same runs as one after the other, whatever differs between members."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from labelspace import data, ordinal, permuted
from labelspace.comparison.entries import takes_space
from labelspace.sweeps.executors import InProcess, Processes
from labelspace.sweeps.grid import SweepError, grid, sweep
from labelspace.sweeps.members import eligible, faster, groups, partition, train_together
from labelspace.sweeps.stacked import recorded
from labelspace.training.build import Job, prepare
from labelspace.training.config import Config, make_config
from labelspace.training.loop import TrainingError
from labelspace.training.run import Run, train_job

pytestmark = pytest.mark.slow  # two minutes of small trainings

SHORT: dict[str, Any] = {"model": "mlp-16-2", "epochs": 3, "limit": 200, "batch_size": 64, "learning_rate": 0.01}
METHODS: dict[str, list[dict[str, Any]]] = {
    "onehot": [{}],
    "uniform": [{"smoothing": 0.0}, {"smoothing": 0.3}],
    "semantic": [{"smoothing": 0.1}, {"smoothing": 1}],
    "lls": [{"smoothing": 0.1}, {"smoothing": 0.4}, {}],
    "focal": [{"gamma": 0.0}, {"gamma": 2.5}],
    "maxent": [{"strength": 0.1}, {"strength": 0.5}],
    "mixed": [{"learn": "class", "smoothing": 0.1}, {"learn": "class", "smoothing": 0.3}],
    "infogain": [{"smoothing": 0.1}, {"smoothing": 0.5}],
    "labelemb": [{"cap": 0.5, "temperature": 1.5}, {"cap": 0.9, "temperature": 3.0}, {"beta": 0.3}],
    "tfkd": [{"strength": 0.1}, {"strength": 0.6, "temperature": 5.0}],
    "zipf": [{"strength": 0.1}, {"strength": 1.0}],
    "static": [{}, {"scale": 2.0}],
    "ols": [{"smoothing": 0.1}, {"smoothing": 0.7}],
    "lwal": [{"repel": 0.0}, {"repel": 3.0}],
}


def make_jobs(method: str, seeds: range = range(2), **options: Any) -> list[Job]:
    digits = data.load("digits")
    space = "ordinal" if takes_space(method) else None
    shared = {**SHORT, "method": method, "space": space, **options}
    choices = shared.pop("choices", METHODS[method])
    configs = [make_config(**shared, method_options=each, seed=seed) for each in choices for seed in seeds]
    return [prepare(config, digits) for config in configs]


def trained(jobs: list[Job], out: Path | None = None) -> list[Run]:
    runs = train_together(jobs, out)
    for run in runs:
        assert isinstance(run, Run), run
    return [run for run in runs if isinstance(run, Run)]


def check_same(jobs: list[Job], tolerance: float = 1e-4) -> None:
    """Compare scores, weights, epoch lines and label spaces with those of separate runs."""
    close = {"rtol": tolerance, "atol": tolerance}
    for job, run in zip(jobs, trained(jobs), strict=True):
        alone = train_job(job)
        torch.testing.assert_close(run.scores, alone.scores, **close)
        torch.testing.assert_close(run.weights, alone.weights, **close)
        torch.testing.assert_close(run.space.matrix, alone.space.matrix, **close)
        assert [sorted(line) for line in run.epochs] == [sorted(line) for line in alone.epochs]
        for line, other in zip(run.epochs, alone.epochs, strict=True):
            assert all(math.isclose(line[name], other[name], rel_tol=1e-3, abs_tol=1e-6) for name in line)
        assert {**run.result, "key": ""}.keys() == {**alone.result, "key": ""}.keys()
        assert run.preprocessing == alone.preprocessing


@pytest.mark.parametrize("method", list(METHODS))
def test_members_are_what_separate_runs_are(method: str) -> None:
    jobs = make_jobs(method)
    assert groups([job.config for job in jobs]) == [list(range(len(jobs)))]
    if method == "lwal":
        # a shift of all outputs shifts its labels too: the gradient of the last bias is nothing but rounding, of which
        # Adam makes whole steps
        jobs = make_jobs(method, precision="float64", optimizer="sgd", learning_rate=0.1)
    check_same(jobs, tolerance=1e-9 if method == "lwal" else 1e-4)


def test_relations_by_rule_are_not_stacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of many classes are: each member has its own, and no tensor of them."""
    monkeypatch.setattr("labelspace.compressed.rows.LIMIT", 4 * 9 * 9)
    digits = data.load("digits")
    shared = {**SHORT, "method": "semantic", "method_options": {"smoothing": 0.5}}
    spaces = [ordinal(digits.names, power) for power in (0.5, 3.0)]
    jobs = [prepare(make_config(**shared), digits, space) for space in spaces]
    for job, run in zip(jobs, trained(jobs), strict=True):
        assert job.space is not None
        assert job.space.rule is not None
        torch.testing.assert_close(run.scores, train_job(job).scores, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("method", ["semantic", "lls", "labelemb"])
def test_in_double_precision_the_difference_is_rounding(method: str) -> None:
    check_same(make_jobs(method, precision="float64", epochs=8), tolerance=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"optimizer": "sgd", "learning_rate": 0.1, "weight_decay": 0.01},
        {"optimizer": "adamw", "weight_decay": 0.1, "schedule": "linear"},
        {"schedule": "step", "milestones": (1,), "warmup_epochs": 2, "weight_decay": 0.1},
        {"optimizer": "sgd", "momentum": 0, "learning_rate": 0.1, "schedule": "exponential", "gamma": 0.8},
        {"label_noise": "symmetric:0.3"},
        {"batch_size": 199},  # one sample is left over and joins the batch before it
        {"batch_size": 1000, "model": "linear"},
        {"model": "mlp-8", "label_noise": "pairwise:0.2", "optimizer": "sgd"},
    ],
)
def test_every_way_to_train(options: dict[str, Any]) -> None:
    """With a learned label matrix, so that weight decay has something to leave alone."""
    check_same(make_jobs("lls", **options))


def test_class_weights_and_a_linear_model_with_features() -> None:
    weight = [1.0, 2.0] * 5
    check_same(make_jobs("uniform", choices=[{"smoothing": s, "weight": weight} for s in (0.1, 0.2)]))
    check_same(make_jobs("labelemb", model="linear"))


def test_a_member_does_not_depend_on_its_company() -> None:
    jobs = make_jobs("semantic", range(3))
    alone, company = trained(jobs[4:5])[0], trained(jobs)[4]
    torch.testing.assert_close(alone.weights, company.weights, rtol=0, atol=1e-6)


def test_members_may_have_relations_of_their_own(tmp_path: Path) -> None:
    digits, files = data.load("digits"), []
    for seed in range(3):
        files.append(str(tmp_path / f"{seed}.safetensors"))
        permuted(ordinal(digits.names), seed).save(tmp_path / f"{seed}.safetensors")
    configs = [
        make_config(**SHORT, method="semantic", method_options={"smoothing": 0.5}, space=space, seed=seed)
        for seed, space in enumerate([*files, "ordinal"])
    ]
    assert groups(configs) == [[0, 1, 2, 3]]
    jobs = [prepare(config, digits) for config in configs]
    check_same(jobs)
    # a sweep gives each run its own too, and knows it again
    for _ in range(2):
        runs = sweep(configs, tmp_path / "runs", executor=InProcess())
        for run, job in zip(runs, jobs, strict=True):
            assert job.space is not None
            torch.testing.assert_close(run.space.matrix, job.space.relations().matrix)
            assert run.config.space_key == job.config.space_key


def test_groups_hold_what_differs_in_seed_and_numbers_only() -> None:
    base = make_config(model="mlp-16", method="focal", method_options={"gamma": 2.0})
    same = [base, base.model_copy(update={"seed": 3}), base.model_copy(update={"method_options": {"gamma": 1}})]
    others = [
        base.model_copy(update=update)
        for update in (
            {"method_options": {"gamma": "flsd53"}},
            {"learning_rate": 0.1},
            {"model": "mlp-32"},
            {"method": "onehot", "method_options": {}},
            {"label_noise": "symmetric:0.1"},
        )
    ]
    assert groups([same[0], *others, *same[1:]]) == [[0, 6, 7], [1], [2], [3], [4], [5]]
    noisy = [make_config(model="linear", method="mixed", space="lda", seed=seed) for seed in (0, 1)]
    assert groups(noisy) == [[0, 1]]
    assert groups([each.model_copy(update={"label_noise": "symmetric:0.1"}) for each in noisy]) == [[0], [1]]


@pytest.mark.parametrize(
    "update",
    [
        {"model": "lenet"},
        {"model": "auto"},
        {"method": "lwr"},
        {"method": "disturb"},
        {"method": "kd", "teacher": "somewhere"},
        {"method_options": {"ignore_index": 3}},
        {"method": "lls", "method_options": {"top": 2, "prune_after": 1}},
        {"clip": 1.0},
        {"patience": 2},
        {"record": ("test-curve",)},
        {"augment": ("crop:1",)},
        {"augment": ("flip", "mixup:0.2")},
        {"augment": ("mixup:0.2",), "method": "zipf"},
        {"precision": "bfloat16"},
        {"channels_last": True},
        {"world": 2},
    ],
)
def test_what_cannot_train_together_stays_alone(update: dict[str, Any]) -> None:
    configs = [make_config(**{"model": "mlp-16", **update, "seed": seed}) for seed in range(5)]
    assert not eligible(configs[0])
    assert partition(configs) == [[0], [1], [2], [3], [4]]


def test_how_much_is_mixed_is_each_member_s_own() -> None:
    configs = [make_config(model="mlp-16", augment=mixed) for mixed in ([], ["mixup:0.1"], ["mixup:0.4"], ["mixup"])]
    assert groups(configs) == [[0], [1, 2, 3]]


def test_groups_that_gain_nothing_are_taken_apart() -> None:
    def configs(count: int, model: str) -> list[Config]:
        return [make_config(model=model, seed=seed) for seed in range(count)]

    assert partition(configs(3, "mlp-16")) == [[0], [1], [2]]
    assert partition(configs(5, "mlp-500")) == [[0], [1], [2], [3], [4]]
    assert not faster(configs(1, "mlp-500-500")[0], 45)
    assert [len(part) for part in partition(configs(100, "linear"))] == [50, 50]
    assert [len(part) for part in partition(configs(45, "linear"), workers=16)] == [5] + [4] * 10


def test_jobs_that_are_not_eligible_are_refused() -> None:
    with pytest.raises(ValueError, match="`jobs` of train_together must be eligible"):
        train_together(make_jobs("onehot", clip=1.0))


def test_a_loss_that_is_not_a_number_stops_its_member_only() -> None:
    """A strength of 3e38 overflows in the first step."""
    jobs = make_jobs("maxent", range(1), choices=[{"strength": 0.1}, {"strength": 3e38}, {"strength": 0.2}])
    first, second, third = train_together(jobs)
    assert isinstance(second, TrainingError)
    assert str(second).startswith("The loss became ")
    assert "(method 'maxent', epoch 0, learning rate 0.01). Lower learning_rate" in str(second)
    for job, run in ((jobs[0], first), (jobs[2], third)):
        assert isinstance(run, Run)
        torch.testing.assert_close(run.weights, train_job(job).weights, rtol=1e-4, atol=1e-4)


def test_when_all_members_fail_training_ends() -> None:
    outcomes = train_together(make_jobs("onehot", learning_rate=1e30, optimizer="sgd", epochs=1000))
    assert all(isinstance(outcome, TrainingError) for outcome in outcomes)


def test_an_option_out_of_range_is_its_members_own_failure(tmp_path: Path) -> None:
    good, bad = train_together(
        make_jobs("uniform", range(1), choices=[{"smoothing": 0.1}, {"smoothing": 3.0}]), tmp_path
    )
    assert isinstance(good, Run)
    assert isinstance(bad, ValueError)
    assert "`smoothing` of UniformSmoothing must be" in str(bad)
    assert [path.name for path in tmp_path.iterdir()] == [good.config.run_name()]


def test_folders_are_those_of_a_run_and_are_read_when_finished(tmp_path: Path) -> None:
    jobs = make_jobs("lls")
    first = trained(jobs[:2], tmp_path)
    assert first[0].folder is not None
    stamp = (first[0].folder / "result.json").stat().st_mtime_ns
    second = trained([*jobs, jobs[3]], tmp_path)  # the same job twice is one run
    assert (first[0].folder / "result.json").stat().st_mtime_ns == stamp
    alone = train_job(jobs[0], tmp_path)
    assert alone.folder is not None
    assert alone.folder != first[0].folder
    assert sorted(path.name for path in alone.folder.iterdir()) == sorted(p.name for p in first[0].folder.iterdir())
    for run in second:
        assert run.folder is not None
        loaded = Run.load(run.folder)
        assert loaded.config.path == "vectorised"
        assert loaded.config.key() == loaded.result["key"]
        assert (loaded.result, loaded.epochs) == (run.result, run.epochs)
        torch.testing.assert_close(loaded.weights, run.weights)
        predicted = loaded.predict(jobs[0].dataset.test.x)
        torch.testing.assert_close(predicted, run.scores["test_scores"].argmax(dim=1))


def test_data_too_large_to_hold_normalised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labelspace.training.feed.IN_MEMORY", 0)
    check_same(make_jobs("uniform", range(1)))


@pytest.mark.parametrize("executor", [InProcess(), Processes(workers=2)], ids=["here", "processes"])
def test_a_sweep_chooses_it_and_keeps_the_order(executor: Any, tmp_path: Path) -> None:
    options = [{"smoothing": 0.1}, {"smoothing": 0.2}]
    base = {**SHORT, "epochs": 1, "method_options": options[0]}
    configs = grid({**base, "method": "uniform"}, seed=range(4), method_options=options)
    configs.insert(3, make_config(**{**base, "method": "ols"}))
    seen: list[dict[str, Any]] = []
    runs = sweep(configs, tmp_path, executor=executor, report=lambda _, numbers: seen.append(numbers))
    assert [run.config.path for run in runs] == ["vectorised"] * 3 + ["loop"] + ["vectorised"] * 5
    assert [(run.config.seed, run.config.method_options) for run in runs] == [
        (config.seed, config.method_options) for config in configs
    ]
    assert sorted(numbers["done"] for numbers in seen) == list(range(1, 10))
    assert {path.name for path in tmp_path.iterdir()} == {run.folder.name for run in runs if run.folder}
    assert sweep(configs, tmp_path, executor=InProcess())[0].result == runs[0].result
    plain = sweep(configs[:1], tmp_path, executor=InProcess(), vectorise=False)[0]
    assert plain.config.path == "loop"
    torch.testing.assert_close(plain.weights, runs[0].weights, rtol=1e-4, atol=1e-4)


def test_a_sweep_knows_the_automatic_model_and_reports_single_failures(tmp_path: Path) -> None:
    digits = data.load("digits")
    small = replace(digits.limit(100), validation=digits.validation.take(torch.arange(20)))
    options = [{"smoothing": each} for each in (0.1, 0.2, 0.3, 0.4, 7.0)]
    configs = grid({"method": "uniform", "epochs": 1}, method_options=options)
    with pytest.raises(SweepError, match=r"1 runs failed[\s\S]*`smoothing` of UniformSmoothing") as caught:
        sweep(configs, tmp_path, dataset=small, executor=InProcess())
    assert [failure.config.method_options["smoothing"] for failure in caught.value.failures] == [7.0]
    configs = [Run.load(path.parent).config for path in tmp_path.glob("*/result.json")]
    assert [(config.model, config.path) for config in configs] == [("mlp-128", "vectorised")] * 4


def test_a_recording_sees_new_inputs_and_keeps_constants() -> None:
    factor = torch.tensor(2.0)
    played = recorded(lambda x: ((1 + factor) * x, torch.stack([x, x]).unbind(0)[1], factor), torch.zeros(3))
    torch.testing.assert_close(played(torch.ones(3)), (torch.full((3,), 3.0), torch.ones(3), factor))


def test_a_function_that_overwrites_is_called_not_played() -> None:
    def counted(x: torch.Tensor) -> tuple[torch.Tensor]:
        return (torch.zeros(3).add_(x),)

    played = recorded(counted, torch.ones(3))
    played(torch.ones(3))
    torch.testing.assert_close(played(torch.ones(3))[0], torch.ones(3))
