"""The datasets known by name."""

import inspect

from labelspace.data.known import KNOWN


def test_every_entry_says_what_belongs_where():
    for name, known in KNOWN.items():
        assert known.about
        assert bool(known.folders) == bool(known.contents) == (name != "digits")
        inspect.signature(known.read)
