"""Training one model: configuration, data and network, loop, checkpoints, and the run that comes out."""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)
