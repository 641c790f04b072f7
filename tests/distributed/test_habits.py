"""What people do on several ranks: sums of their own, groups, saving on one, uneven batches, wrapping the model alone.

Of three ranks 0 and 2 train together; 1, outside of their group, never waits for them.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from contract.harness import METHODS, Inputs, plain
from labelspace.criteria import criterion_class

IN_STEP = {"disturb", "lwal"}  # methods that commit in every step
Found = dict[str, Any]


def start(rank: int, folder: Path) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("habits_worker.py")
    arguments = ["worker", str(rank), str(folder / "rendezvous"), str(folder / f"{rank}.pt")]
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; sys.argv = {arguments!r}; import runpy;"
        f"runpy.run_path({str(script)!r}, run_name='__main__')"
    )
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> list[Found]:
    folder = tmp_path_factory.mktemp("ranks")
    running = [start(rank, folder) for rank in range(3)]
    try:
        for process in running:
            _, errors = process.communicate(timeout=120)
            assert process.returncode == 0, errors[-3000:]
    finally:
        for process in running:
            process.kill()
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(3)]


def share(inputs: Inputs, rank: int) -> Inputs:
    return inputs.rows(slice(0, 3) if rank == 0 else slice(3, None))


@pytest.mark.parametrize("method", METHODS)
def test_ranks_meet_where_they_must(method: str, ranks: list[Found]) -> None:
    kept = method in IN_STEP
    of_batch = criterion_class(method).scope == "batch"
    for reduction in ("mean", "sum", "none"):
        forward = (reduction == "mean") + kept + of_batch
        for rank in (0, 2):
            assert ranks[rank]["losses"][f"{method}/{reduction}"]["met"] == [forward, int(of_batch), 0]


@pytest.mark.parametrize("method", sorted(set(METHODS) - IN_STEP))
def test_a_sum_is_of_this_rank(method: str, ranks: list[Found]) -> None:
    for rank in (0, 2):
        alone = share(plain(method), rank)
        output = alone.output.detach().requires_grad_()
        alone.criterion.reduction = "sum"
        expected = alone.loss(output=output)
        expected.backward()
        found = ranks[rank]["losses"][f"{method}/sum"]
        torch.testing.assert_close(found["loss"], expected.detach())
        torch.testing.assert_close(found["gradient"], output.grad)


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"disturb"}))  # whose draws are by equal parts
def test_a_group_trains_as_one_process(method: str, ranks: list[Found]) -> None:
    whole = plain(method)
    output = whole.output.detach().requires_grad_()
    loss = whole.loss(output=output)
    loss.backward()
    pair = [ranks[rank]["losses"][f"{method}/mean"] for rank in (0, 2)]
    torch.testing.assert_close((pair[0]["loss"] + pair[1]["loss"]) / 2, loss.detach())
    torch.testing.assert_close(torch.cat([one["gradient"] for one in pair]) / 2, output.grad)


def test_a_rank_outside_of_the_group_waits_for_nobody(ranks: list[Found]) -> None:
    torch.testing.assert_close(ranks[1]["last stage"], torch.tensor(3.0).log() / 2)  # S starts at zero
    torch.testing.assert_close(ranks[1]["stranger"], torch.tensor(2.0).log())
    assert ranks[1]["delayed"] == 2


def test_copies_share_the_group_and_pickles_say_that_they_have_none(ranks: list[Found]) -> None:
    for rank in (0, 2):
        assert ranks[rank]["copies"]["same group"]
        assert "`process_group` of a criterion must be given again" in ranks[rank]["copies"]["refused"]


def test_a_checkpoint_in_mid_epoch_is_of_all_ranks_or_says_that_it_is_not(ranks: list[Found]) -> None:
    first, second = ranks[0]["checkpoint"], ranks[2]["checkpoint"]
    assert len(first["said"]) == 1
    assert "learner.gather()" in first["said"][0]
    assert not [*second["said"], *first["said together"], *second["said together"]]
    whole = plain("ols")
    whole.loss(output=whole.output.clone().requires_grad_())
    for found in (first, second):
        torch.testing.assert_close(found["together"], whole.criterion.statistics.sums["mass"])
    assert not torch.equal(first["observed"], first["together"])
    whole.loss(output=whole.output.clone().requires_grad_())
    whole.criterion.end_epoch()
    for found in (first, second):
        torch.testing.assert_close(found["committed"], whole.criterion.label_matrix)


def test_labels_that_part_are_noticed_once(ranks: list[Found]) -> None:
    for rank in (0, 2):
        (said,) = ranks[rank]["outside"]["said"]
        assert "LearnableSmoothing has other labels on this rank" in said
        assert "Learner(model, criterion)" in said
        assert ranks[rank]["inside"]["said"] == []
    assert not torch.equal(ranks[0]["outside"]["labels"], ranks[2]["outside"]["labels"])
    torch.testing.assert_close(ranks[0]["inside"]["labels"], ranks[2]["inside"]["labels"], rtol=0, atol=0)


def test_constants_that_differ_are_noticed_once(ranks: list[Found]) -> None:
    for rank in (0, 2):
        (said,) = ranks[rank]["other relations"]
        assert "build it of the same ones on every rank" in said
        assert ranks[rank]["same relations"] == []


def test_uneven_batches_are_refused_in_words_or_trained_apart(ranks: list[Found]) -> None:
    for rank in (0, 2):
        refused, apart = ranks[rank]["joined"]
        assert "`global_mean` of a criterion must be False under torch's Join" in refused
        assert not apart


def test_who_waits_says_what_for(ranks: list[Found]) -> None:
    assert any("waits for the other ranks" in said for said in ranks[0]["waiting"])
    assert ranks[2]["waiting"] == []
    assert "global_mean=False" in ranks[0]["left"]
