"""Tables of all pairs of classes are refused before memory is taken for them."""

import pytest

from labelspace import AdaptiveLabels, InputError, LabelEmbedding, LearnableSmoothing, OnlineSmoothing, _room


@pytest.mark.parametrize(
    "build",
    [
        lambda: LearnableSmoothing(15_000),
        lambda: LearnableSmoothing(15_000, top=3, prune_after=1),
        lambda: OnlineSmoothing(15_000),
        lambda: LabelEmbedding(15_000, in_features=2),
        lambda: AdaptiveLabels(10_500),
    ],
)
def test_large_tables_are_refused_in_words(build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELSPACE_FREE_MEMORY", str(2**31))
    with pytest.raises(
        InputError, match=r"at most half of the free memory. Got 1\.\d GiB of 2\.0 GiB. .*rank= and top="
    ):
        build()


def test_small_and_compressed_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELSPACE_FREE_MEMORY", "1")
    LearnableSmoothing(100)
    OnlineSmoothing(100)
    AdaptiveLabels(100)
    AdaptiveLabels(100_000, dim=2)
    LearnableSmoothing(20_000, rank=2)
    LabelEmbedding(20_000, in_features=2, rank=2)


def test_free_memory_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELSPACE_FREE_MEMORY", "12")
    assert _room.free_memory() == 12
    monkeypatch.delenv("LABELSPACE_FREE_MEMORY")
    assert _room.free_memory() >= 0
    _room.check_state("X", 10)
