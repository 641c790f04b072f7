"""What a comparison found, typed: made by ``compare``, written as ``comparison.json``, read, printed and drawn.

A fact that is added here is written and read from then on. Its default is what a file says that was written before.
"""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)
from labelspace.results.decided import Called
from labelspace.results.parts import (
    Best,
    Cause,
    Change,
    Confusion,
    Control,
    Data,
    Extra,
    Kind,
    Known,
    Likely,
    Listed,
    Numbers,
    Options,
    Prices,
    Rehearsed,
    Role,
    Rule,
    Shuffled,
    Strength,
    Trial,
    Unit,
    Verdict,
)
from labelspace.results.result import DRAWN_FROM, EXPECTED, FORMAT, NAME, PLAN, REMEDY, Result, fault, read
from labelspace.results.row import Row
from labelspace.results.texts import Measure, Neighbourhood, Neighbours, Quality, Translation

__all__ = [
    "DRAWN_FROM",
    "EXPECTED",
    "FORMAT",
    "NAME",
    "PLAN",
    "REMEDY",
    "Best",
    "Called",
    "Cause",
    "Change",
    "Confusion",
    "Control",
    "Data",
    "Extra",
    "Kind",
    "Known",
    "Likely",
    "Listed",
    "Measure",
    "Neighbourhood",
    "Neighbours",
    "Numbers",
    "Options",
    "Prices",
    "Quality",
    "Rehearsed",
    "Result",
    "Role",
    "Row",
    "Rule",
    "Shuffled",
    "Strength",
    "Translation",
    "Trial",
    "Unit",
    "Verdict",
    "fault",
    "read",
]
