"""Reports, written from what comparisons and runs left on disk; nothing here trains."""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)
from labelspace.report.html import write_html, write_runs_html
from labelspace.report.many import write_summary_html

__all__ = ["write_html", "write_runs_html", "write_summary_html"]
