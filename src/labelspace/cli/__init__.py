"""The command line."""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)
