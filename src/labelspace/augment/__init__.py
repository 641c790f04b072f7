"""Augmentation of whole batches: each random number from a given generator, so that a seed repeats it exactly."""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)
