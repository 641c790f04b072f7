"""What comparisons on several splits of the same data found together: written as ``splits.json``, and read again."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from labelspace import _checks, _files
from labelspace.results.many import LeftOut, Place
from labelspace.results.parts import Change, Listed, Options, Part, Role, Verdict

NAME = "splits.json"
EXPECTED = "the folder of a comparison over splits"
REMEDY = "The same compare command with --splits writes it again."


class Line(Part):
    """One row over all splits.

    Args:
        label: how it is shown.
        role: of the row; None for what may be another row in every split.
        costs: on test data, one per split.
        cost: their mean.
        change: of that mean against the reference's, with an interval that is corrected for the training samples that
            splits share; None for the reference itself, and where the reference costs nothing.
        recommended: in how many splits it was the one to take home.
    """

    label: str
    role: Role | None = None
    costs: Listed[float]
    cost: float
    change: Change | None = None
    recommended: int = 0


class Splits(Part):
    """What comparisons on several splits of the same data found together.

    Args:
        format: of the file.
        folder: where it was written.
        data: the name of the data.
        title: of the first comparison.
        reference: what every row is compared with.
        prices: what mistakes cost, in words.
        level: of the intervals.
        margin: relative changes within ± this do not matter.
        test_share: test samples per sample that is trained or chosen with, which the correction is made of.
        places: one for each split.
        rows: those that all splits have, the reference first; ensembles are of the reference, the winner or the best
            rival, whichever these are in a split.
        winner: the method that was chosen on validation data of each split.
        recommendation: what was recommended in each split; None where a split recommends nothing.
        regret: by how much the recommendation's mean cost is above that of each split's cheapest row on test data.
        left_out: of the other rows, the splits where they are missing.
        verdict: the answer over splits, about the winner.
        warnings: what a reader should know before believing it.
        command: how it was asked for.
    """

    format: Literal[1] = 1
    folder: str
    data: str
    title: str
    reference: str
    prices: str
    level: float
    margin: float
    test_share: float
    places: Annotated[Listed[Place], Field(min_length=2)]
    rows: Listed[Line]
    winner: Line
    recommendation: Line | None = None
    regret: Change | None = None
    left_out: Listed[LeftOut] = ()
    verdict: Verdict
    warnings: Listed[str] = ()
    command: str | None = None

    def plain(self) -> Options:
        """Return it as JSON data."""
        return self.model_dump(mode="json")

    def write(self) -> Path:
        """Write it into its folder, whole or not at all, and return the file."""
        path = Path(self.folder) / NAME
        path.parent.mkdir(parents=True, exist_ok=True)
        return _files.write_json(path, _files.sealed(self.plain()))

    @classmethod
    def load(cls, folder: str | Path, *, allow_damaged: bool = False) -> "Splits":
        """Read it again.

        Args:
            folder: where it is.
            allow_damaged: read also what is not what was written, and warn.

        Example:
            >>> Splits.load("nowhere")
            Traceback (most recent call last):
            ...
            labelspace._checks.InputError: `folder` of Splits.load must be the folder of a comparison over splits. Got \
nowhere, which has no splits.json. The same compare command with --splits writes it again.
        """
        owner, path = "Splits.load", Path(folder) / NAME
        if not path.is_file():
            raise _checks.fail(owner, "folder", EXPECTED, f"{folder}, which has no {NAME}", REMEDY)
        try:
            facts = _files.read_json(path)
            found = cls.model_validate(facts)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            got = f"{path} whose {place!r} is wrong ({first['msg']})"
            raise _checks.fail(owner, "folder", EXPECTED, got, REMEDY) from error
        except (ValueError, RecursionError) as error:
            raise _checks.fail(owner, "folder", EXPECTED, f"a damaged {path} ({error})", REMEDY) from error
        if not _files.holds(facts):
            what = "its content is not what was written"
            _checks.damaged(owner, "folder", EXPECTED, path, what, REMEDY, allow_damaged)
        return found
