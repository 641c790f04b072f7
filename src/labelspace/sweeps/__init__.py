"""Many runs: which ones, where they are computed, and many small ones at once."""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)
