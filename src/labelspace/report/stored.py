"""What ``comparison.json`` must hold: checked once when it is read, so that a damaged file is one sentence."""

from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from labelspace import _checks, _files

NAME, FORMAT = "comparison.json", 1
# what a report is drawn from beside it
DRAWN_FROM = ("cost.safetensors", "space.safetensors", "geometry.safetensors")
REMEDY = "The same compare command writes it again."


class _Part(BaseModel):
    """A part of the file; what is not named here is passed on as it is."""

    model_config = ConfigDict(extra="allow", strict=True, protected_namespaces=())


def _inside(name: str) -> str:
    """Refuse what is no name of a folder: a run must lie where its comparison does."""
    if (
        name in ("", ".", "..")
        or "\0" in name
        or any(kind(name).name != name for kind in (PurePosixPath, PureWindowsPath))
    ):
        raise ValueError("the name of a folder inside")
    return name


_Name = Annotated[str, AfterValidator(_inside)]


class _Strength(_Part):
    name: str
    symbol: str
    value: float


class _Trial(_Part):
    value: float | None = None
    validation_cost: float | None = None
    temperature: float | None = None
    run: _Name | None = None


class _Change(_Part):
    estimate: float
    low: float | None
    high: float | None
    level: float
    note: str | None = None


class _Numbers(_Part):
    __pydantic_extra__: dict[str, float]
    cost: float
    accuracy: float


class _Row(_Part):
    label: str
    role: str
    method: str = ""
    of: str | None
    control: str | None
    strength: _Strength | None
    trials: list[_Trial]
    runs: list[_Name] = []
    temperatures: list[float] | None = None
    validation_cost: float | None = None
    argmax: _Numbers
    min_cost: _Numbers | None
    ece: float | None = None
    ece_after: float | None
    nll_after: float | None = None
    risk_coverage: float | None = None
    change: _Change | None
    p_holm: float | None = None
    marked: bool
    winner: bool
    inverted: bool = False
    options: dict[str, Any] = {}


class _Data(_Part):
    name: str
    kind: str = ""
    names: list[str]
    counts: dict[str, int] = {}
    test_groups: int | None = None


class _Cost(_Part):
    words: str
    example: str | None = None
    priced: bool = False


class _Verdict(_Part):
    kind: str
    subject: str
    estimate: float | None
    low: float | None
    high: float | None
    margin: float
    cause: str | None
    indicative: bool
    sentences: Annotated[list[str], Field(min_length=1)]
    level: float = 0.95


class _Confusion(_Part):
    true: str
    predicted: str
    count: float
    cost: float
    share: float


class _Extra(_Part):
    key: str
    title: str


class _Space(_Part):
    words: str


class _Best(_Part):
    label: str


class _Content(_Part):
    title: str
    data: _Data
    model: str | None
    backbone: str | None = None
    epochs: int | None = None
    training: str | None = None
    label_noise: str | None = None
    seeds: list[int]
    cost: _Cost
    space: _Space | None = None
    decision: Literal["argmax", "min_cost"]
    extra: list[_Extra]
    rows: list[_Row]
    verdict: _Verdict
    warnings: list[str]
    costliest: list[_Confusion]
    best: _Best | None = None
    command: str
    versions: dict[str, str] = {}
    next: str | None = None
    files: dict[str, str] = {}


def fault(content: dict[str, Any]) -> str | None:
    """Return what is wrong with the numbers of a comparison, in a few words, or None.

    Example:
        >>> fault({"title": "digits"})
        "without 'data'"
    """
    try:
        found = _Content.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        if first["type"] == "missing":
            return f"without {place!r}"
        return (
            f"whose {place!r} is wrong ({first['msg'].removeprefix('Input should be ').removeprefix('Value error, ')})"
        )
    if not found.rows:
        return "without 'rows'"
    if found.decision == "min_cost" and any(row.min_cost is None for row in found.rows):
        return "with rows without 'min_cost'"
    return None


def read(owner: str, folder: Path, allow_damaged: bool = False) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the numbers of a finished comparison, and the digests of what its report is drawn from.

    Args:
        owner: who reads, for messages.
        folder: of the comparison.
        allow_damaged: read also what is not what was written, and warn.
    """
    path = folder / NAME
    expected = "the folder of a finished comparison"
    if not path.is_file():
        plain = any(folder.glob("*/result.json"))
        remedy = (
            "It holds plain runs: write_runs_html shows those." if plain else "The same compare command finishes it."
        )
        raise _checks.fail(owner, "folder", expected, f"{folder}, which has no {NAME}", remedy)
    try:
        facts = _files.read_json(path)
    except (ValueError, RecursionError) as error:
        raise _checks.fail(owner, "folder", expected, f"a damaged {path} ({error})", REMEDY) from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        version = facts.get("format") if isinstance(facts, dict) else None
        remedy = "Use the labelspace release that wrote it."
        raise _checks.fail(owner, "folder", f"a comparison of format {FORMAT}", f"{version!r} in {path}", remedy)
    if not _files.holds(facts):
        why = "its content is not what was written"
        _checks.damaged(owner, "folder", expected, path, why, REMEDY, allow_damaged)
    wrong = fault(facts)
    if wrong is not None:
        raise _checks.fail(owner, "folder", expected, f"{path} {wrong}", REMEDY)
    digests = facts.pop("files", {})
    facts.pop(_files.DIGEST, None)
    return facts, digests


def write(folder: Path, content: dict[str, Any]) -> None:
    """Write the numbers of a comparison, whole or not at all, with the digests of what its report is drawn from."""
    there = [name for name in DRAWN_FROM if (folder / name).is_file()]
    digests = {name: _files.digest((folder / name).read_bytes()) for name in there}
    _files.write_json(folder / NAME, _files.sealed({**content, "files": digests}))
