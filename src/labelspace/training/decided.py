"""How a finished run decides: the decision that lies beside it, or one that is given."""

import math
from collections.abc import Sequence
from pathlib import Path

from labelspace import _checks, _files
from labelspace.decisions.decision import Decision
from labelspace.decisions.decision import stored as stored_decision
from labelspace.records import CONFIG, RunFolder

FILE = "decision.json"
MEMBERS, FOLDER = "members.json", "members"  # of several models that are one
BEST = "best"  # of a comparison: the model to take home


def home(folder: str | Path) -> Path:
    """Return the folder of a run: the one that is named, or ``best`` of a comparison."""
    place = Path(folder)
    inside = not (place / CONFIG).is_file() and (place / BEST / CONFIG).is_file()
    return place / BEST if inside else place


def beside(stored: RunFolder, names: Sequence[str]) -> Decision | None:
    """Return the decision that a run was taken home with, None where there is none.

    Args:
        stored: the folder of the run.
        names: its classes.
    """
    if not stored.has(FILE):
        return None
    decision, of = stored_decision(stored.path / FILE, stored.allow_damaged)
    if of not in (None, stored.seal()):
        stored.damaged(FILE, "it was written for another run than the one beside it")
    return about(decision, names)


def members(stored: RunFolder) -> tuple[list[RunFolder], list[float]]:
    """Return the folders of the members of a run that is several and what each counts; none of other runs.

    Args:
        stored: the folder of the run.
    """
    if (stored.path / FOLDER).is_dir() and not (stored.path / MEMBERS).is_file():  # one would be taken for all
        raise stored.unsound(MEMBERS, f"it is missing, and without it nothing says what {FOLDER}/ are")
    if not stored.has(MEMBERS):
        return [], []
    said, shares = _members_said(stored.path / MEMBERS)
    if said is None or len(shares) != len(said):
        raise stored.unsound(MEMBERS, "its content is not what was written")
    found = []
    for number, seal in enumerate(said):
        member = RunFolder(stored.path / FOLDER / str(number), stored.allow_damaged)
        if not (member.path / CONFIG).is_file():
            raise stored.unsound(f"{FOLDER}/{number}", "one of several models that are one is missing")
        if member.seal() != seal:
            stored.damaged(f"{FOLDER}/{number}", "it is another run than the one that was taken home")
        found.append(member)
    return found, shares


def _members_said(path: Path) -> tuple[list[object] | None, list[float]]:
    """Return the seals of members and what each counts; None where the file does not say."""
    try:
        said = _files.parsed(_files.read_bytes(path))
    except ValueError:
        return None, []
    if not isinstance(said, dict) or not _files.holds(said) or not isinstance(said.get("seals"), list):
        return None, []
    count = len(said["seals"])
    shares = said.get("shares", [1 / max(count, 1)] * count)  # alike where nothing is said: as it was before they were
    if not isinstance(shares, list) or not all(isinstance(share, float) and share > 0 for share in shares):
        return None, []
    return (said["seals"], shares) if math.isclose(sum(shares), 1) else (None, [])


def write_members(path: Path, seals: Sequence[str], shares: Sequence[float]) -> None:
    """Write which runs are one, by what names each among all others, and what each counts.

    Args:
        path: of the folder of the run that they are.
        seals: of its members, in their order.
        shares: of each.
    """
    _files.write_json(path / MEMBERS, _files.sealed({"seals": list(seals), "shares": list(shares)}))


def given(decision: Decision | str | Path, names: Sequence[str]) -> Decision:
    """Return a decision about these classes.

    Args:
        decision: one, its file, or the folder of a run or a comparison that has one.
        names: the classes.
    """
    if isinstance(decision, Decision):
        return about(decision, names)
    path = home(decision) / FILE if Path(decision).is_dir() else Path(decision)
    if not path.is_file():
        expected = "a Decision, its file, or a folder that has one"
        raise _checks.fail("Run.decide", "decision", expected, repr(str(decision)), f"There is no file {path}.")
    return about(Decision.load(path), names)


def about(decision: Decision, names: Sequence[str]) -> Decision:
    """Return a decision, after checking that it is about these classes."""
    if list(decision.names) != list(names):
        got = f"{list(decision.names)[:5]} where the run has {list(names)[:5]}"
        raise _checks.fail("Decision", "names", "the classes of the run, in its order", got)
    return decision
