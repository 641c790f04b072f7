"""What is known about the classes: the label space that was given, or an order of numbers, and what mistakes cost."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.comparison.outcome import Judge
from labelspace.data.dataset import Dataset
from labelspace.decisions.choosing import Calibration
from labelspace.decisions.isotonic import CLASSES as OF_ISOTONIC
from labelspace.sources.lda import lda
from labelspace.sources.wordnet import all_nouns
from labelspace.space import LabelSpace
from labelspace.spec.actions import actions_of, capacity_of, limited
from labelspace.spec.named import SpaceSpec, named, numeric_order, order_of
from labelspace.spec.prices import NEED_ORDER, ActionSpec, CostSpec, cost_words, has_prices, implied, prices
from labelspace.spec.words import spoken_space

IMBALANCE = 2.0  # the largest class of the test data against the smallest
EACH = "each sample's factor"  # where no column has a name for it
WORDS = {"ordinal": "order", "tree": "tree", "wordnet": "tree", "groups": "groups"}


class Doing(NamedTuple):
    """What can be done about samples: actions beside those that prices name, and how many samples some may get.

    Args:
        actions: beside those that prices name.
        capacity: the largest share of samples for some of them.
        factor: what the prices of each sample are multiplied by, in words; empty for nothing.
    """

    actions: ActionSpec = None
    capacity: Mapping[str, float] | None = None
    factor: str = ""


class Spoken(NamedTuple):
    """How a label space and prices are said, and an example of a price."""

    space: str | None
    cost: str
    example: str | None


class Knowledge(NamedTuple):
    """The label space and the prices of a comparison, how both are said, and a space that could be asked for."""

    space: LabelSpace | None
    cost: LabelSpace
    spoken: Spoken
    offer: str = ""
    factor: str = ""  # what the prices of each sample are multiplied by, in words

    @property
    def word(self) -> str:
        """What the space holds, for sentences: order, tree or groups."""
        builder = None if self.space is None else self.space.source.get("builder")
        return WORDS.get(str(builder), "label space")

    @property
    def _priced(self) -> bool:
        return has_prices(self.cost) or bool(self.factor)

    def _ranks(self, names: Sequence[str]) -> Tensor | None:
        """Return the place of each class in their order; prices per step know one too, where names are numbers."""
        order: Sequence[str] | None = order_of(self.space)
        if order is None and self.cost.source.get("rule") in NEED_ORDER:
            order = numeric_order(names)
        return None if order is None else torch.tensor([list(order).index(name) for name in names])

    def judge(
        self, names: Sequence[str], y: Tensor, probabilities: str = "as is", calibration: Calibration = "auto"
    ) -> Judge:
        """Return how mistakes are judged.

        Args:
            names: of the classes.
            y: true classes of the test samples.
            probabilities: as is, or inverted.
            calibration: how scores become probabilities.
        """
        counts = torch.bincount(y, minlength=len(names)).double()
        table, priced, capacity = actions_of(self.cost), self._priced, capacity_of(self.cost)
        if capacity is not None and not priced:
            remedy = (
                "Where every mistake costs the same the likeliest class is called, however often: say --cost (cost=…)."
            )
            raise _checks.fail("compare", "capacity", "given beside prices", _checks.listed(list(capacity)), remedy)
        if calibration == "isotonic" and len(names) != OF_ISOTONIC:
            got, remedy = (
                f"'isotonic' for {len(names)}",
                "Leave it out, so that validation data choose, or say 'vector'.",
            )
            raise _checks.fail("compare", "calibration", f"another for other than {OF_ISOTONIC} classes", got, remedy)
        levels = self.space is not None and self.space.source.get("builder") in ("tree", "groups")
        return Judge(
            cost=self.cost.matrix.double() if table is None else table.prices,
            priced=priced,
            ranks=self._ranks(names),
            imbalanced=bool(counts.max() > IMBALANCE * counts.min()),
            tree=self.space if levels else None,
            inverted=probabilities == "inverted",
            names=tuple(names),
            actions=None if table is None else table.names,
            capacity=capacity,
            calibration=calibration,
        )


def gather(
    space: SpaceSpec | None, cost: CostSpec, dataset: Dataset, labels: Tensor, doing: Doing | None = None
) -> Knowledge:
    """Return what is known: a space that was given, or an order of numbers; anything else would be a guess.

    Args:
        space: a LabelSpace, what ``labelspace.spec.named`` takes, or None for the order of names that are numbers.
        cost: what ``labelspace.spec.prices`` takes, or None for what the space implies.
        dataset: its names, and training samples for ``lda``.
        labels: of the training samples, as they are trained on: with their noise, if there is any.
        doing: what can be done, where that is more than the prices say.
    """
    found, doing = _space(space, dataset, labels), doing or Doing()
    given = implied(found) if cost is None and doing.actions is None else _prices(cost, dataset, found, doing.actions)
    price = limited(prices("uniform", dataset.names) if given is None else given, doing.capacity)
    told = known(found, price, doing.factor)
    return told._replace(offer=_offer(dataset)) if found is None else told


def factor_of(dataset: Dataset) -> str:
    """Return what the prices of each sample are multiplied by, in words; empty where that is nothing."""
    if dataset.test.factors is None:
        return ""
    return dataset.source.get("options", {}).get("cost_column") or EACH


def known(space: LabelSpace | None, cost: LabelSpace, factor: str = "") -> Knowledge:
    """Return a space and prices with the words for both.

    Args:
        space: what is known about the classes.
        cost: the prices.
        factor: what those of each sample are multiplied by.
    """
    about, example = cost_words(cost)
    if not has_prices(cost):
        about = "every mistake costs 1"
    limits = capacity_of(cost) or {}
    about += "".join(f", at most {100 * share:.4g}\N{NARROW NO-BREAK SPACE}% {name}" for name, share in limits.items())
    about += f", times {factor}" if factor else ""
    spoken = Spoken(None if space is None else spoken_space(space), about, example)
    return Knowledge(space, cost, spoken, factor=factor)


def discriminants(dataset: Dataset, labels: Tensor) -> LabelSpace | None:
    """Return the label space that the training data themselves suggest; None for token ids, which have no geometry."""
    if dataset.kind in ("text", "sequences"):
        return None
    return lda(dataset.normalize(dataset.train.x).flatten(1), labels, names=dataset.names)


def _prices(cost: CostSpec, dataset: Dataset, space: LabelSpace | None, actions: ActionSpec) -> LabelSpace:
    """Return the prices of the classes of the data, or those of all classes, cut to the ones that were kept."""
    among = dataset.source.get("all_names")
    try:
        return prices(implied(space) if cost is None else cost, dataset.names, space, actions)
    except ValueError:
        # a table may have been written for all classes; a rule is wrong for some as it is for all
        if among is None or (isinstance(cost, str) and not Path(cost).expanduser().is_file()):
            raise
        return prices(cost, among, None if actions is None else space, actions).subset(list(dataset.names))


def _space(space: SpaceSpec | None, dataset: Dataset, labels: Tensor) -> LabelSpace | None:
    if isinstance(space, LabelSpace):
        _checks.known_names("compare", "classes of the data", list(dataset.names), space.names)
        return space.subset(list(dataset.names))
    if space is not None:
        x, y = (dataset.normalize(dataset.train.x).flatten(1), labels) if str(space) == "lda" else (None, None)
        return named(space, dataset.names, x, y, among=dataset.source.get("all_names"))
    if numeric_order(dataset.names) is not None:
        return named("ordinal", dataset.names)
    return None


def _offer(dataset: Dataset) -> str:
    """Return a line that offers WordNet where every class is a noun: it is never used unasked, for it may be wrong.

    Two classes have nothing to be nearer to.
    """
    if len(dataset.names) < 3 or not all_nouns(dataset.names):
        return ""
    return (
        "All class names are nouns of WordNet, which --space wordnet would use; labels show wordnet lists the senses."
    )
