"""A net of skorch trains what a plain loop trains, with probabilities, features and searches."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from integrations.plain import (
    CLASSES,
    DECAY,
    MAKE,
    METHODS,
    NAMES,
    RATE,
    WIDTH,
    Network,
    Shows,
    assert_same,
    batches,
    network,
    plain_loop,
    samples,
    state,
)
from labelspace import AdaptiveLabels, InputError, LabelEmbedding, OneHot, SemanticSmoothing, ordinal, permuted

pytest.importorskip("skorch")
from labelspace.integrations.skorch import LabelSpaceNet


def arrays() -> tuple[np.ndarray, np.ndarray]:
    x, y = samples()
    return x.numpy(), y.numpy()


def net(method: str, **more: object) -> LabelSpaceNet:
    built = MAKE[method]()
    options = {"smoothing": float(built.smoothing)} if hasattr(built, "smoothing") else {}
    labels = ordinal(NAMES) if method == "semantic" else NAMES
    settings = {
        "module": network(),
        "optimizer": torch.optim.AdamW,
        "optimizer__weight_decay": DECAY,
        "lr": RATE,
        "batch_size": 12,
        "max_epochs": 5,
        "iterator_train__shuffle": False,
        "train_split": None,
        "verbose": 0,
        **{f"criterion__{name}": value for name, value in options.items()},
    }
    return LabelSpaceNet(criterion=type(built), criterion__labels=labels, **{**settings, **more})


@pytest.mark.parametrize("method", METHODS)
def test_twenty_steps_are_those_of_a_plain_loop(method: str) -> None:
    fitted = net(method).fit(*arrays())
    wanted = plain_loop(network(), MAKE[method](), batches(*samples(), 12), epochs=5)
    assert_same(state(fitted.module_, fitted.criterion_), wanted)


@pytest.mark.parametrize("method", METHODS)
def test_resumed_it_ends_as_if_nothing_had_happened(method: str, tmp_path: Path) -> None:
    files = {f"f_{part}": str(tmp_path / part) for part in ("params", "optimizer", "criterion")}
    net(method, max_epochs=2).fit(*arrays()).save_params(**files)
    resumed = net(method, max_epochs=3).initialize()
    resumed.load_params(**files)
    resumed.partial_fit(*arrays())
    whole = net(method).fit(*arrays())
    assert_same(state(resumed.module_, resumed.criterion_), state(whole.module_, whole.criterion_), 1e-7)


@pytest.mark.parametrize("method", ["semantic", "lwal"])
def test_probabilities_are_those_of_the_scores(method: str) -> None:
    x, y = arrays()
    fitted = net(method).fit(x, y)
    shares = fitted.predict_proba(x)
    with torch.no_grad():
        scores = fitted.criterion_.scores(fitted.module_(torch.from_numpy(x)))
    torch.testing.assert_close(torch.from_numpy(shares), torch.softmax(scores, dim=1))
    np.testing.assert_array_equal(fitted.predict(x), scores.argmax(dim=1).numpy())
    assert fitted.score(x, y) > 0.5
    again = pickle.loads(pickle.dumps(fitted))
    torch.testing.assert_close(torch.from_numpy(again.predict_proba(x)), torch.from_numpy(shares))


def test_another_nonlinearity_comes_first() -> None:
    x, y = arrays()
    fitted = net("onehot", predict_nonlinearity=None).fit(x, y)
    with torch.no_grad():
        torch.testing.assert_close(torch.from_numpy(fitted.predict_proba(x)), fitted.module_(torch.from_numpy(x)))


def test_label_embedding_gets_features_and_its_heads_decay_as_others() -> None:
    x, y = arrays()
    fitted = LabelSpaceNet(
        Shows,
        criterion=LabelEmbedding,
        criterion__labels=NAMES,
        criterion__in_features=WIDTH,
        optimizer__weight_decay=0.1,
        max_epochs=3,
        train_split=None,
        verbose=0,
    ).fit(x, y)
    first, last = fitted.optimizer_.param_groups
    assert [id(one) for one in last["params"]] == [id(fitted.criterion_.embedding)]
    assert (first["weight_decay"], last["weight_decay"]) == (0.1, 0.0)
    assert bool((fitted.criterion_.embedding != torch.eye(CLASSES)).any())
    assert fitted.predict_proba(x).shape == (len(x), CLASSES)


def test_grid_search_over_strengths_and_spaces() -> None:
    from sklearn.model_selection import GridSearchCV

    space = ordinal(NAMES)
    grid = {"criterion__smoothing": [0.0, 0.9], "criterion__labels": [space, permuted(space, 0)], "max_epochs": [4]}
    search = GridSearchCV(net("semantic", module=Network, lr=0.05), grid, cv=2).fit(*arrays())
    assert len(search.cv_results_["params"]) == 4
    assert search.best_params_["criterion__smoothing"] == 0.0
    best = search.best_estimator_.criterion_
    assert best.names == space.names
    assert float(best.smoothing) == 0.0


def test_probabilities_as_labels() -> None:
    x, y = samples()
    soft = nn.functional.one_hot(y, CLASSES).float() * 0.9 + 0.1 / CLASSES

    class Data(torch.utils.data.Dataset[tuple[Tensor, Tensor]]):
        def __len__(self) -> int:
            return len(x)

        def __getitem__(self, place: int) -> tuple[Tensor, Tensor]:
            return x[place], soft[place]

    fitted = net("onehot", classes=list(range(CLASSES))).fit(Data(), None)
    wanted = plain_loop(network(), MAKE["onehot"](), batches(x, soft, 12), epochs=5)
    assert_same(state(fitted.module_, fitted.criterion_), wanted)


def test_what_cannot_work_is_refused() -> None:
    with pytest.raises(InputError, match="`criterion` of LabelSpaceNet must be a labelspace criterion. Got NLLLoss"):
        LabelSpaceNet(Network).initialize()
    space = ordinal(["low", "mid", "high"])
    mixed_up = LabelSpaceNet(
        Network, criterion=SemanticSmoothing, criterion__labels=space, classes=np.array(["high", "low", "mid"])
    )
    with pytest.raises(
        InputError, match=r"for classes 'high', 'low', 'mid'. Put the space .*criterion__classes=classes"
    ):
        mixed_up.initialize()
    named = space.subset(["high", "low", "mid"])
    LabelSpaceNet(
        Network, criterion=SemanticSmoothing, criterion__labels=named, classes=np.array(["high", "low", "mid"])
    ).initialize()
    LabelSpaceNet(Network, criterion=OneHot, criterion__labels=3, classes=[0, 1, 2]).initialize()
    with pytest.raises(InputError, match="'auto' for AdaptiveLabels, whose largest output does not predict. Got None"):
        LabelSpaceNet(Network, criterion=AdaptiveLabels, criterion__labels=3, predict_nonlinearity=None).initialize()


def test_a_space_comes_into_the_order_of_the_encoder() -> None:
    given = {"criterion": SemanticSmoothing, "criterion__labels": ordinal(["low", "mid", "high"])}
    classes = np.array(["high", "low", "mid"])
    made = LabelSpaceNet(Network, **given, criterion__classes=classes, classes=classes).initialize().criterion_
    assert made.names == ("high", "low", "mid")
    torch.testing.assert_close(made.relations[1], torch.tensor([1 / 3, 0, 2 / 3]))
