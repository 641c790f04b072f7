"""How what was found is printed: one comparison, several together, or how they were made."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from labelspace._checks import InputError
from labelspace.cli.screen import console, print_file, print_json
from labelspace.report.many import summary_markdown, summary_text, write_summary_html
from labelspace.report.splits import splits_markdown, splits_text, write_splits_html
from labelspace.report.table import text_table
from labelspace.report.words import size

if TYPE_CHECKING:
    from labelspace.comparison import Comparison
    from labelspace.results import Result
    from labelspace.results.splits import Splits

FORMS = JSON, MARKDOWN, METHODS_TEXT = ("--json", "--markdown", "--methods-text")


def form_of(as_json: bool, as_markdown: bool, methods_text: bool) -> str:
    """Return in which form results are printed, as its flag; empty for the table.

    Args:
        as_json: whether JSON was asked for.
        as_markdown: whether Markdown was.
        methods_text: whether a text for a paper was.

    Example:
        >>> form_of(False, True, False)
        '--markdown'
    """
    given = [flag for flag, typed in zip(FORMS, (as_json, as_markdown, methods_text), strict=True) if typed]
    if len(given) > 1:
        raise InputError("", given[0], f"given without {given[1]}", "both")
    return given[0] if given else ""


def print_found(found: "Comparison", form: str, page: Path | None = None) -> None:
    """Print one comparison.

    Args:
        found: the comparison.
        form: from ``form_of``.
        page: where its report is.
    """
    if form == METHODS_TEXT:
        print_methods([found.result])
    elif form == JSON:
        where = {"folder": found.folder, "report": page}
        print_json({**{name: None if place is None else str(place) for name, place in where.items()}, **found.content})
    elif form == MARKDOWN:
        console.print(found.markdown(), soft_wrap=True)
    else:
        places = {} if page is None else {"Report": f"{page} ({size(page.stat().st_size)})"}
        console.print(text_table(found.result, console.width, places), soft_wrap=True)


def print_all(found: Sequence["Comparison"], form: str, level: float | None = None) -> None:
    """Print what several comparisons say together, or how each was made.

    Args:
        found: the comparisons.
        form: from ``form_of``.
        level: of the intervals over datasets, 0.95 if left out.
    """
    if form == METHODS_TEXT:
        print_methods([each.result for each in found])
        return
    folders = [each.folder for each in found if each.folder is not None]
    print_summary(folders, as_json=form == JSON, as_markdown=form == MARKDOWN, level=level)


def print_summary(
    folders: Sequence[Path],
    output: Path | None = None,
    *,
    as_json: bool = False,
    as_markdown: bool = False,
    allow_damaged: bool = False,
    level: float | None = None,
) -> None:
    """Write the page of several comparisons and print what they say together.

    Args:
        folders: of finished comparisons.
        output: the page; beside the first folder by default.
        as_json: print everything as JSON.
        as_markdown: print the tables as Markdown.
        allow_damaged: read also what is not what was written, and warn.
        level: of the intervals over datasets, 0.95 if left out.
    """
    from labelspace.comparison.many import summarize

    summary = summarize(folders, level=0.95 if level is None else level, allow_damaged=allow_damaged)
    page = write_summary_html(summary, output or page_of(folders))
    if as_json:
        print_json({"report": str(page), **summary.model_dump(mode="json")})
    elif as_markdown:
        console.print(summary_markdown(summary), soft_wrap=True)
    else:
        places = {"Report": f"{page} ({size(page.stat().st_size)})"}
        console.print(summary_text(summary, console.width, places), soft_wrap=True)


def print_splits(found: "Splits", form: str, examples: int = 0) -> None:
    """Write the pages of a comparison over splits, and of each split, and print what they say together.

    Args:
        found: what they say together.
        form: from ``form_of``.
        examples: how many pictures of costly mistakes the pages of the splits show.
    """
    from labelspace.comparison import Comparison

    each = [Comparison.load(place.folder) for place in found.places]
    for one in each:
        one.save_html(examples=examples)
    page = write_splits_html(found, Path(found.folder) / "report.html")
    if form == METHODS_TEXT:
        print_methods([one.result for one in each])
    elif form == JSON:
        print_json({"report": str(page), **found.plain()})
    elif form == MARKDOWN:
        console.print(splits_markdown(found), soft_wrap=True)
    else:
        places = {"Report": f"{page} ({size(page.stat().st_size)})"}
        console.print(splits_text(found, console.width, places), soft_wrap=True)


def page_of(folders: Sequence[Path]) -> Path:
    """Return where the page of several comparisons is: beside the first, its name a digest of which they are.

    Args:
        folders: of comparisons.

    Example:
        >>> print(page_of([Path("runs/digits-1a2b"), Path("runs/stones-3c4d")]).as_posix())
        runs/summary-3178c961.html
    """
    names = "\n".join(sorted(folder.name for folder in folders))
    return folders[0].parent / f"summary-{hashlib.blake2b(names.encode(), digest_size=4).hexdigest()}.html"


def print_methods(found: Sequence["Result"]) -> None:
    """Print how comparisons were made, as LaTeX.

    Args:
        found: what each found.
    """
    from labelspace.report.methods_text import methods_text

    print_file("\n\n".join(methods_text(each) for each in found) + "\n")
