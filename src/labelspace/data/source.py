"""Where a dataset came from, as plain JSON data: what its reader was told and did, and how its parts came about."""

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict

Kind = Literal["images", "table", "text", "features", "sequences"]


class ReaderOptions(TypedDict, total=False):
    """What a reader was told; each knows some of it, and what it was not told may be None."""

    names: list[str] | str | None  # of the classes; of Tiny-ImageNet, which kind of names
    label: str
    text: str | None
    group_by: str | None
    cost_column: str
    missing: str
    ignore: list[str]
    numeric: list[str]
    categorical: list[str]
    vocabulary: int | Sequence[int] | None  # the largest number of tokens; of sources and of targets
    max_length: int
    coarse: bool
    resize: list[int] | None  # height and width
    colour: bool | None
    source: str | None  # of pairs of texts: the languages, columns and sides
    target: str | None
    columns: list[str]
    test_set: str | None
    unescape: bool | None
    tokens: str
    lowercase: bool
    longest: int | Sequence[int] | None
    cut: bool | str
    human_label: int


class VocabularyFacts(TypedDict):
    """The tokens of one side of pairs of texts, and how a text becomes their ids."""

    form: str
    tokens: list[str]
    lowercase: bool
    merges: list[list[str]]


class LimitFacts(TypedDict):
    """How long the texts of one side may be."""

    longest: int  # tokens, the end among them
    cut: bool  # whether longer ones are cut; if not, they are refused


class LongestFacts(TypedDict):
    """The longest text of one side of pairs, before anything is cut."""

    tokens: int  # its end not among them
    file: str
    line: int


class ColumnFacts(TypedDict):
    """How one column of a table becomes features."""

    name: str
    fill: float | str  # what stands for a missing value
    categories: NotRequired[list[str]]  # not of numbers
    marked: NotRequired[bool]  # whether one more feature says where values are missing


class Skipped(TypedDict):
    """Pictures that could not be read."""

    count: int
    files: list[str]  # the first of them


class Raw(TypedDict):
    """What a frozen network read, where a dataset holds its features."""

    kind: Kind | None
    shape: list[int] | None


# facts that are said to people under these names
_Said = TypedDict(
    "_Said",
    {
        "dropped rows": int,
        "rows without a label": int,
        "unseen categories (all zeros)": dict[str, int],
        "giving away": list[list[str]],  # columns that tell the label of every row, alone or together
        "alike by chance": dict[str, float],  # how likely rows are in an earlier part by chance, by part
    },
    total=False,
)


class Source(_Said, total=False):
    """Where a dataset came from; a dataset that was not read by one of the readers may say less, or nothing."""

    reader: str
    path: str  # its last part, or what the data goes by
    options: ReaderOptions
    content: str  # a digest
    names: list[str]
    all_names: list[str]  # before some were chosen
    counts: dict[str, int]  # of samples, by part
    split: dict[str, str | int | list[str]]  # how each part came about, and the seed
    limit: dict[str, int]  # count and seed of the training samples that were kept
    index: dict[str, str]  # columns that only number or name rows and were left out, with their ends
    guessed: str  # how the column of labels was found, where nobody named it
    unused: list[str]  # columns beside a text
    identifiers: list[str]  # features whose values are all different
    leakage: dict[str, dict[str, int]]  # rows and groups that are in an earlier part too, of how many, by part
    missing: dict[str, int]  # cells without a value, by column
    skipped: Skipped
    cache: str  # what was noticed about the array cache
    columns: list[str]  # the names of features
    encoding: list[ColumnFacts]
    words: int  # of the vocabulary
    wnids: list[str]
    batches: list[str]  # names of files
    backbone: str  # the key of a frozen network whose features the samples are
    raw: Raw
    languages: list[str]  # of sources and of targets
    vocabularies: dict[str, VocabularyFacts]  # of ``source`` and ``target``
    limits: dict[str, LimitFacts]  # of ``source`` and ``target``
    longest: dict[str, LongestFacts]  # of ``source`` and ``target``
    cut: dict[str, int]  # texts that were too long, by side
    dropped: dict[str, int]  # pairs without a text, by part
    measure: str  # what tells how good texts are, where that is not BLEU
