"""What a budget bought before: measured anew it would buy something else, and no finished run would be of use."""

import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from labelspace import _checks, _files
from labelspace.comparison import budget as budgets
from labelspace.comparison.folder import others
from labelspace.comparison.plan import Plan
from labelspace.results import Listed, Options, Rehearsed
from labelspace.training.config import make_config

NAME = "bought.json"
PLACES = ("data", "data_options")  # which the key of the data stands for


class Bought(BaseModel):
    """What was asked of a budget, and what it bought; the file in a comparison's folder holds it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    data: str = Field(description="the key of the data")
    budget: float = Field(description="in seconds")
    asked: Options = Field(description="how to train, before anything was chosen")
    chosen: Options = Field(description="epochs, and whatever else differs from what was asked")
    trials: int = Field(ge=1, description="of each method")
    tuning: int = Field(default=1, ge=1, description="seeds of them")
    shuffles: int = Field(default=0, ge=0, description="forms of a structured winner's space")
    rehearsal: Listed[Rehearsed] = Field(default=(), description="what was tried for the reference")

    @classmethod
    def of(cls, draft: Plan, plan: Plan, key: str, budget: str, trials: int) -> "Bought":
        """Return it for a plan.

        Args:
            draft: before anything was chosen.
            plan: afterwards.
            key: of the data.
            budget: a span of time.
            trials: of each method.
        """
        asked, now = draft.training(), plan.training()
        chosen = {name: now[name] for name in now if name == "epochs" or now[name] != asked[name]}
        seconds = budgets.seconds(budget)
        return cls(
            data=key,
            budget=seconds,
            asked=_asked(draft),
            chosen=chosen,
            trials=trials,
            tuning=plan.tuning,
            shuffles=plan.shuffles,
            rehearsal=plan.rehearsal,
        )

    def after(self, plan: Plan) -> "Bought":
        """Return it with what was chosen since, by trying it for the reference."""
        now, names = plan.training(), self.asked | self.chosen
        chosen = {name: now[name] for name in names if name in self.chosen or now[name] != self.asked[name]}
        return self.model_copy(update={"chosen": chosen, "rehearsal": plan.rehearsal})

    def write(self, folder: Path) -> None:
        """Write it into the folder of a comparison."""
        _files.write_json(folder / NAME, _files.sealed(self.model_dump(mode="json")))


def taken_over(draft: Plan, key: str, budget: str, folder: Path) -> tuple[Plan, Bought] | None:
    """Return the plan as another comparison beside it is trained, where that was asked for the same; else None.

    The same is: the same data, model, options of training and budget. Methods, seeds, spaces and prices may differ. Of
    several the one that was written last counts.

    Args:
        draft: before anything is chosen.
        key: of the data.
        budget: a span of time.
        folder: of this comparison.
    """
    mine = (key, budgets.seconds(budget), _asked(draft))
    for name, found in _beside(folder):
        if (found.data, found.budget, found.asked) != mine:
            continue
        try:
            config = make_config(**{**draft.training(), **found.chosen})
        except _checks.InputError:  # of another version
            continue
        update = {"config": config, "trained_as": name, "rehearsal": found.rehearsal, "tuning": found.tuning}
        update["shuffles"] = found.shuffles
        return draft.model_copy(update=update), found
    return None


def _asked(draft: Plan) -> Options:
    return {name: value for name, value in draft.training().items() if name not in (*PLACES, "epochs")}


def _beside(folder: Path) -> Iterator[tuple[str, Bought]]:
    """Yield the other comparisons' names and what they bought, the last one first; what is unsound is passed over."""
    files = [path for runs in others(folder) if (path := runs.parent / NAME).is_file()]
    for path in sorted(files, key=lambda path: (-_moment(path), path)):
        with suppress(OSError, ValueError, RecursionError):
            yield path.parent.name, _read(_files.parsed(_files.read_bytes(path)))


def _moment(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # it has just gone
        return -math.inf


def _read(content: object) -> Bought:
    """Return what a file holds; refuse what is not what was written."""
    if not isinstance(content, dict) or _files.DIGEST not in content or not _files.holds(content):
        raise ValueError("not what was written")
    return Bought.model_validate({name: value for name, value in content.items() if name != _files.DIGEST})
