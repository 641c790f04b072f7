"""Features of a frozen network are part of a comparison: how far they are is told, and the budget pays for them."""

import time

from labelspace.comparison.training import Report


class Reading:
    """Tells how many samples a frozen network has read, and knows how long that took: nothing where they were there.

    Args:
        tell: told of every step.
    """

    def __init__(self, tell: Report) -> None:
        """Begin, before the data are read."""
        self.tell, self.started = tell, time.perf_counter()
        self.seconds, self.done, self.of = 0.0, 0, 0

    def __call__(self, done: int, of: int) -> None:
        """Take note of samples that have been read."""
        self.seconds, self.done, self.of = time.perf_counter() - self.started, done, of
        self.tell("features", {"done": done, "of": of, "seconds": self.seconds})

    def end(self) -> None:
        """Say that all are read, also where the last of them had been before."""
        if self.done < self.of:
            self(self.of, self.of)
