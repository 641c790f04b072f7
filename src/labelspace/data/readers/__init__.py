"""One file per kind of data: each finds samples, labels and ready parts, and leaves the rest to ``data.found``."""
