"""Every option of every reader with an example of it, for those who look at data."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from labelspace import _checks
from labelspace.data.source import Source
from labelspace.data.splits import Say


class Example(NamedTuple):
    """An option as it is written, and what it does."""

    written: str
    about: str


class _Usual(NamedTuple):
    value: object
    about: str


# where the columns of a table are known, they take the place of these
USUAL: Mapping[str, _Usual] = {
    "label": _Usual("label", "the column of labels"),
    "text": _Usual("text", "learn from the texts of one column"),
    "group_by": _Usual("patient", "keep what belongs together in one part"),
    "cost_column": _Usual("amount", "multiply the prices of each row by a column"),
    "numeric": _Usual(["size"], "a column of numbers, whatever it looks like"),
    "categorical": _Usual(["code"], "a column of categories, whatever it looks like"),
    "ignore": _Usual(["id"], "leave a column out"),
    "missing": _Usual("indicator", "indicator fills gaps and marks them, median fills, drop leaves rows out"),
    "names": _Usual(["low", "high"], "the classes in their order"),
    "delimiter": _Usual(";", "what separates the cells"),
    "vocabulary": _Usual(20_000, "how many words are kept, of texts"),
    "max_length": _Usual(256, "how many words of each text are kept"),
    "resize": _Usual(64, "one size for all pictures"),
    "colour": _Usual(False, "grey pictures, or coloured ones"),
    "skip_unreadable": _Usual(True, "leave out pictures that cannot be read"),
    "coarse": _Usual(True, "the 20 groups of classes"),
    "source": _Usual("en", "the language or column to read"),
    "target": _Usual("de", "the language or column to write"),
    "columns": _Usual(["en", "de"], "the columns of the two texts"),
    "test_set": _Usual("tst2013", "which part is the test part"),
    "unescape": _Usual(True, "turn &amp; and the like into letters"),
    "tokens": _Usual("subword", "words, subwords or characters"),
    "lowercase": _Usual(True, "small letters only"),
    "longest": _Usual(50, "how long texts may be, in tokens"),
    "cut": _Usual(True, "cut longer texts"),
    "groups": _Usual([0, 0, 1, 1], "what belongs together, a number per sample"),
    "cost_factors": _Usual([1.0, 20.0], "multiply the prices of each sample by a number"),
    "measure": _Usual("ROUGE-1", "what tells how good texts are"),
    "human_label": _Usual(3, "the least score of pairs"),
}
SHOWN = 5  # classes
OF_TEXT = ("vocabulary", "max_length")
OF_COLUMNS = ("numeric", "categorical")


def examples(options: Sequence[str], source: Source, names: Sequence[str], say: Say) -> list[Example]:
    """Return an example of each option of a reader.

    Args:
        options: their names.
        source: of the dataset that was read.
        names: of its classes.
        say: how a setting is written.

    Example:
        >>> examples(["label"], {"reader": "table", "options": {"label": "species"}}, ["a", "b"], str)[0].written
        "label='species'"
    """
    own = _own(source, names)
    found = [
        Example(say(_checks.Setting(option, own.get(option, USUAL[option].value))), USUAL[option].about)
        for option in options
        if option not in _left_out(source)
    ]
    shares = (
        ("validation", 0.1, "how much to choose on"),
        ("test", 0.3, "how much to measure on, where no part is given"),
    )
    common = [Example(say(_checks.Setting(name, value)), about) for name, value, about in shares]
    if "vocabularies" in source:  # pairs of texts, whose classes are tokens
        return [*found, *common]
    some = ... if any("," in name for name in names[:2]) else ",".join(names[:2])
    return [*found, *common, Example(say(_checks.Setting("classes", some)), "only these classes, in this order")]


def _left_out(source: Source) -> tuple[str, ...]:
    """Return options that mean nothing for these data."""
    if source.get("reader") != "table":
        return ()
    return OF_TEXT if source["options"].get("text") is None else OF_COLUMNS


def _own(source: Source, names: Sequence[str]) -> dict[str, object]:
    """Return the values that fit these data."""
    own: dict[str, object] = {"names": list(names) if len(names) <= SHOWN else ...}
    if source.get("longest"):
        own["longest"] = 1 + max(one["tokens"] for one in source["longest"].values())
    if source.get("reader") != "table":
        return own
    own |= {"label": source["options"]["label"], "text": source["options"].get("text")}
    columns = source.get("encoding", [])
    names_rows = source.get("identifiers", [])
    numbers = [each["name"] for each in columns if "categories" not in each and each["name"] not in names_rows]
    others = [each["name"] for each in columns if "categories" in each]
    away = [*names_rows, *(name for names in source.get("giving away", []) for name in names)]
    if source["options"].get("text") is not None:
        return {
            **own,
            "missing": "drop",
            "ignore": source.get("unused", [])[:1] or ...,
            "group_by": ...,
            "cost_column": ...,
        }
    own |= {"numeric": numbers[:1] or ..., "categorical": (others or numbers)[:1] or ...}
    own |= {"text": ..., "group_by": others[0] if others else ..., "cost_column": ...}
    own |= {"ignore": (away or others or numbers)[-1:] or ...}
    return own
