"""The main job: would better labels make a classifier's mistakes cheaper, and is it more than luck?"""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)
from labelspace.comparison.many import summarize
from labelspace.comparison.result import Comparison
from labelspace.comparison.run import compare
from labelspace.comparison.scored import compare_scores
from labelspace.results import Result, Verdict
from labelspace.results.many import Summary
from labelspace.results.splits import Splits

__all__ = ["Comparison", "Result", "Splits", "Summary", "Verdict", "compare", "compare_scores", "summarize"]
