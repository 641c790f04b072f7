"""Pairs of texts from end to end: other tokens, other networks, and workers that train them."""

from pathlib import Path
from typing import Any

import pytest

from labelspace import data
from labelspace._checks import InputError
from labelspace.sweeps.executors import Processes
from labelspace.sweeps.grid import grid, sweep
from labelspace.training.run import Run, train
from models.test_translation import working_transformers
from small_corpus import SMALL, write_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.mark.parametrize("tokens", ["subword", "character"])
def test_other_tokens_train_and_translate(corpus: Path, tmp_path: Path, tokens: str) -> None:
    if tokens == "subword":
        pytest.importorskip("tokenizers")
    options = {"kind": "sequences", "tokens": tokens, "vocabulary": [24, 20]}
    run = train(corpus, out=tmp_path, method="uniform", **{**SMALL, "data_options": options})
    loaded, dataset = Run.load(run.folder or ""), data.load(corpus, **options)
    assert dataset.test.text is not None
    assert loaded.preprocessing["vocabularies"]["target"]["form"] == tokens
    assert 4 < len(loaded.space) == len(dataset.names) <= 20
    assert loaded.translate(list(dataset.test.text)) == list(run.translations["test"])
    assert run.epochs[1]["train_loss"] < run.epochs[0]["train_loss"]


@pytest.mark.slow
def test_workers_train_what_this_process_trains(corpus: Path, tmp_path: Path) -> None:
    configs = grid(
        {"data": str(corpus), "method_options": {"smoothing": 0.1}, **SMALL}, method=["uniform"], seed=[0, 1]
    )
    first, second = sweep(configs, tmp_path, executor=Processes(workers=2))
    assert (first.config.seed, second.config.seed) == (0, 1)
    assert first.translations != second.translations
    alone = train(corpus, out=tmp_path / "alone", method="uniform", smoothing=0.1, **SMALL)
    assert alone.folder is not None
    for path in alone.folder.glob("*.safetensors"):
        assert (tmp_path / first.config.run_name() / path.name).read_bytes() == path.read_bytes(), path.name
    assert first.translations == alone.translations
    assert first.result == alone.result


BART: dict[str, Any] = {
    **{f"{side}_{what}": size for side in ("encoder", "decoder") for what, size in (("layers", 1), ("ffn_dim", 16))},
    **{"encoder_attention_heads": 2, "decoder_attention_heads": 2, "d_model": 16, "vocab_size": 20},
}


def test_an_encoder_decoder_of_transformers_trains_and_translates(corpus: Path, tmp_path: Path) -> None:
    """Also one with few positions: what is longer is refused before anything is written, or cut where that is asked."""
    working_transformers()
    asked = {**SMALL, "model": "hf:bart", "epochs": 1, "model_options": {**BART, "max_position_embeddings": 7}}
    with pytest.raises(InputError, match=r"`model` of train must be such that .* Got 8 tokens for 7 positions\. Cut"):
        train(corpus, out=tmp_path / "no", **asked)
    assert not (tmp_path / "no").exists()
    with pytest.raises(InputError, match="every token of a target"):
        train(corpus, **{**asked, "data_options": {"kind": "sequences", "longest": [7, 9], "cut": "source"}})
    cut = train(corpus, **{**asked, "data_options": {"kind": "sequences", "longest": 7, "cut": True}})
    assert cut.preprocessing["limits"]["source"] == {"longest": 7, "cut": True}
    asked["model_options"]["max_position_embeddings"] = 30
    run = train(corpus, out=tmp_path, **asked)
    loaded = Run.load(run.folder or "")
    assert loaded.translate(["one two.", "three."]) == run.translate(["one two.", "three."])
    assert list(run.translations["test"]) == loaded.translate(list(data.load(corpus, kind="sequences").test.text or ()))
    with pytest.raises(InputError, match=r"at most 30 tokens each, .* up to 41 in text 1"):
        loaded.translate(["one " * 40])  # within the data's limit of 256
