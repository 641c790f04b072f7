"""Readers: from a name, a file, a folder or arrays to three parts of labelled samples."""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)
from labelspace.data.dataset import Dataset, Split
from labelspace.data.inspection import check
from labelspace.data.loading import load, names
from labelspace.data.normalize import Normalize
from labelspace.data.report import DataReport

__all__ = ["DataReport", "Dataset", "Normalize", "Split", "check", "load", "names"]
