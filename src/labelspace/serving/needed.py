"""What raw samples need before an ONNX graph takes them: written into its metadata, and said on the screen."""

from typing import NamedTuple

from labelspace.data.text import PADDING, UNKNOWN, WORD
from labelspace.models.backbones import MINILM
from labelspace.training.preprocessed import Preprocessing

VOCABULARY, ENCODING = "preprocessing.vocabulary", "preprocessing.input.encoding"  # places in the metadata


class Needed(NamedTuple):
    """What is needed, as JSON data and in one sentence."""

    facts: dict[str, object]
    words: str


def needed(facts: Preprocessing, backbone: str | None = None, key: str | None = None) -> Needed:
    """Return what turns raw samples into what a graph takes.

    Args:
        facts: what a run recorded of its samples.
        backbone: the frozen network whose features it was trained on.
        key: of that network's weights.
    """
    if backbone == "minilm":
        size = facts["input_shape"][0]
        frozen = {"name": backbone, "package": MINILM, "key": key, "inside": False}
        words = (
            f"x is what {backbone} (package {MINILM}) makes of a text, {size} numbers of length 1: the graph does not"
            " hold that network, its metadata name it under input"
        )
        return Needed({"takes": "features", "features": size, "backbone": frozen}, words)
    if backbone is not None:
        frozen = {"name": backbone, "key": key, "inside": True}
        words = f"x are pictures as they are: {backbone} is in the graph"
        return Needed({"takes": "images", "backbone": frozen}, words)
    if facts["kind"] == "text":
        length = facts["input_shape"][0]
        rule = {"lower": True, "pattern": WORD.pattern, "padding": PADDING, "unknown": UNKNOWN, "length": length}
        words = (
            f"x are ids of words, {length} for each text: how a text is cut into them is in the metadata under input,"
            f" the {facts['tokens']:,} words are under {VOCABULARY}"
        )
        return Needed({"takes": "text", "tokeniser": rule, "vocabulary": VOCABULARY}, words)
    if facts["kind"] == "table" and facts.get("input", {}).get("encoding"):
        words = f"x are encoded columns: which ones and how is in the metadata under {ENCODING}"
        return Needed({"takes": "table", "encoding": ENCODING}, words)
    return Needed({"takes": facts["kind"]}, "")
