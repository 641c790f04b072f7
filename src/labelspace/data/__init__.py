"""Readers: from a name, a file, a folder or arrays to three parts of labelled samples."""

from labelspace.data.dataset import Dataset, Split
from labelspace.data.inspection import DataReport, check
from labelspace.data.loading import load, names
from labelspace.data.normalise import Normalise

__all__ = ["DataReport", "Dataset", "Normalise", "Split", "check", "load", "names"]
