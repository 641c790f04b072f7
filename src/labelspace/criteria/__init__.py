"""The methods: one file each, found by their file."""

from labelspace.criteria.base import Criterion, Example, Term
from labelspace.criteria.registry import criterion_class, make_criterion, methods

__all__ = ["Criterion", "Example", "Term", "criterion_class", "make_criterion", "methods"]
