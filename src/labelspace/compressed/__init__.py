"""Relations of so many classes that no matrix of them is built: rules that give any rows when they are asked for.

A rule stands in the place of the matrix of a ``LabelSpace``. It knows its rows, its part for some of the classes, and
the tensors it consists of, which are what a label file holds. A further form is one file and its name below.
"""

from collections.abc import Mapping

from torch import Tensor

from labelspace import _checks
from labelspace._labelfile import Header
from labelspace.compressed.by_rule import GroupRows, OrderRows
from labelspace.compressed.rows import LIMIT, CosineRows, LowRank, Rows, chunks, fits
from labelspace.compressed.top_rows import TopRows

__all__ = ["LIMIT", "CosineRows", "GroupRows", "LowRank", "OrderRows", "Rows", "TopRows", "chunks", "fits", "from_file"]

FORMS: dict[str, type[Rows]] = {kind.form: kind for kind in (LowRank, TopRows, CosineRows, OrderRows, GroupRows)}


def from_file(header: Header, tensors: Mapping[str, Tensor]) -> Rows:
    """Return the rule that a label file describes; nothing but the parts of its form is taken."""
    form = _checks.choice("LabelSpace", "form", header["form"], FORMS)
    facts = header["facts"]
    try:
        if not isinstance(facts, dict):
            raise TypeError(f"its facts are {facts!r:.60}")
        return FORMS[form](**tensors, **facts)
    except (TypeError, RuntimeError) as error:  # a part too many or too few, or of a type without these operations
        raise _checks.fail("LabelSpace", "form", f"{form!r} with its parts", str(error)) from error
