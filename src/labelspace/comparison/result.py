"""Comparison: the finished answer, from Python."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from typing import Any

from labelspace import _checks
from labelspace.comparison.examples import costly_pictures
from labelspace.comparison.verdict import Verdict
from labelspace.report import stored
from labelspace.report.html import write_html
from labelspace.report.table import markdown_table, text_table
from labelspace.training.run import Run


@dataclass(frozen=True)
class Comparison:
    """What a comparison found; its folder holds everything.

    Args:
        folder: where it is; None for scores alone.
        content: all numbers, as in ``comparison.json``.
    """

    folder: Path | None
    content: dict[str, Any]

    @classmethod
    def load(cls, folder: str | Path, *, allow_damaged: bool = False) -> "Comparison":
        """Read a finished comparison.

        Args:
            folder: where it is.
            allow_damaged: read also what is not what was written, and warn.
        """
        return cls(Path(folder), stored.read("Comparison.load", Path(folder), allow_damaged)[0])

    def __repr__(self) -> str:
        """Return the verdict in one line."""
        return f"Comparison({self.verdict.kind}: {self.verdict.sentences[0]})"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.table())}</pre>"

    @property
    def verdict(self) -> Verdict:
        """The answer: kind, estimate, interval, and sentences."""
        said = self.content["verdict"]
        facts = {field.name: said[field.name] for field in fields(Verdict) if field.name in said}
        return Verdict(**{**facts, "sentences": tuple(said["sentences"])})

    @property
    def best(self) -> Run:
        """The run to take home: of the method, and of its seeds, of least validation cost."""
        if self.folder is None:
            raise _checks.fail("Comparison", "best", "asked of a trained comparison", "one of scores alone")
        return Run.load(self.folder / "best")

    @property
    def warnings(self) -> Sequence[str]:
        """What a reader should know."""
        return list(self.content["warnings"])

    def table(self, width: int = 100) -> str:
        """Return the table and the verdict as text."""
        return text_table(self.content, width)

    def markdown(self) -> str:
        """Return the table and the verdict as Markdown."""
        return markdown_table(self.content)

    def to_frame(self) -> Any:
        """Return one row per method and decision rule as a pandas DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError('to_frame() needs pandas: pip install "labelspace[pandas]".') from error
        return pandas.DataFrame(self.records())

    def records(self) -> list[dict[str, Any]]:
        """Return one dict per method and decision rule."""
        found = []
        for row in self.content["rows"]:
            strength = (row["strength"] or {}).get("value")
            shared = {"label": row["label"], "method": row.get("method", ""), "role": row["role"], "strength": strength}
            moved = row["change"] or {}
            ends = {"change": moved.get("estimate"), "low": moved.get("low"), "high": moved.get("high")}
            headline = self.content["decision"]
            for rule in ("argmax", "min_cost"):
                if row[rule] is not None:
                    compared = ends if rule == headline else dict.fromkeys(ends)
                    found.append({**shared, "decision": rule, **row[rule], "ece_after": row["ece_after"], **compared})
        return found

    def save_html(self, path: str | Path | None = None, examples: int = 0, *, allow_damaged: bool = False) -> Path:
        """Write the report as one self-contained page and return where it is.

        Args:
            path: the file, ``report.html`` in the folder by default.
            examples: how many of the costliest mistakes to show as pictures; they may be private, so none by default.
            allow_damaged: read also what is not what was written, and warn.
        """
        if self.folder is None:
            raise _checks.fail("Comparison", "save_html", "asked of a trained comparison", "one of scores alone")
        pictures = costly_pictures(self.folder, self.content, examples, allow_damaged) if examples else []
        return write_html(self.folder, path, pictures, allow_damaged=allow_damaged)
