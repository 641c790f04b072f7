"""How much a page may hold: what comes first is kept, what no longer fits is left out and counted."""

import json
from typing import Any

LIMIT = 4_000_000


class Room:
    """Bytes that are left for matrices and pictures.

    Args:
        size: how many at the start.

    Example:
        >>> room = Room(10)
        >>> room.keeps({"a": 1}), room.keeps({"b": 2}), room.refused
        (True, False, 1)
    """

    def __init__(self, size: int) -> None:
        """Start with all of it."""
        self.size = size
        self.refused = 0

    def keeps(self, content: Any) -> bool:
        """Take the room that some content needs as JSON, if it is there."""
        needed = len(json.dumps(content, separators=(",", ":")))
        if needed > self.size:
            self.refused += 1
            return False
        self.size -= needed
        return True
