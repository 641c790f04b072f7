"""What a finished run of sequences makes of a file of texts, a piece at a time."""

from collections.abc import Iterator
from pathlib import Path

from labelspace import _checks
from labelspace.data.text_files import tree_of
from labelspace.training.predict import source_ids, translator
from labelspace.training.run import Run

AT_ONCE = 256  # texts: enough for batches of like length


def texts_of(path: str | Path) -> list[str]:
    """Return the lines of a text file, which may be gzipped.

    Args:
        path: one text on each line; empty ones too, which stay empty.
    """
    place = Path(path)
    if not place.is_file():
        raise _checks.fail("predict", "NEW", "a text file, one text on each line", f"{place}, which is none")
    found = list(tree_of(place).values())
    if len(found) != 1:
        raise _checks.fail("predict", "NEW", "one text file", f"{place.name}, which holds {len(found)}")
    return found[0].lines()


def translations(run: Run, texts: list[str], beam: int | None = None, device: str = "cpu") -> Iterator[list[str]]:
    """Yield the translations of texts in their order, some at a time; what is empty stays empty.

    Args:
        run: of sequences.
        texts: sources.
        beam: the width of the search; by default that of the run.
        device: where to compute.
    """
    translate = translator(run, beam, device)
    try:
        ids = source_ids(run, texts, "line")  # all of them first: what is refused leaves nothing half-written
    except _checks.InputError as error:
        raise error if error.argument == "run" else error.about(owner="predict", argument="NEW") from error
    for start in range(0, len(texts), AT_ONCE):
        yield translate(ids[start : start + AT_ONCE])
