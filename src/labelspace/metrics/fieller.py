"""A test of the ratio of two means over seeds and samples, and the interval of all ratios that it does not reject.

E. C. Fieller's interval: unlike one from a standard error of the ratio it holds where the mean below is uncertain too,
and has no end where that mean might be 0.
"""

from labelspace.metrics.crossed import Array, Spread, added, combined, ends

WIDEST = 40  # doublings of the first guess after which an interval has no end
HALVINGS = 60


class RatioTest:
    """The test of whether ``Σ above = θ·Σ below`` but for chance, for any θ; tables are (seeds, units).

    Variances of ``above − θ·below`` are quadratic in θ: of each source three numbers are kept, and no table.

    Args:
        above: what each seed and unit adds to the mean above.
        below: what it adds to the mean below, whose sum is positive.
        refits: the two means after each of R parts of other data, on which something was fitted, was left out, in
            units of the mean below: the jackknife's variance of these data is added. None where nothing was fitted.
    """

    def __init__(self, above: Array, below: Array, refits: tuple[Array, Array] | None = None) -> None:
        """Keep means, and products of what each source adds."""
        self.shape = above.shape
        # in units of the mean of what is below
        self.means = float(above.mean() / below.mean()), 1.0
        parts = [_sources(table / below.mean()) for table in (above, below)]
        seeds, units = self.shape
        scales = seeds * (seeds - 1), units * max(units - 1, 1), seeds * units * (seeds - 1) * max(units - 1, 1)
        # of each source the products above·above, above·below and below·below
        pairs = [(0, 0), (0, 1), (1, 1)]
        self.products = [
            [float((parts[i][source] * parts[j][source]).sum()) / scale for i, j in pairs]
            for source, scale in enumerate(scales)
        ]
        self.parts = 0 if refits is None else len(refits[0])
        apart = [] if refits is None else [each - each.mean() for each in refits]
        share = (self.parts - 1) / max(self.parts, 1)
        self.refitted = [share * float((apart[i] * apart[j]).sum()) for i, j in pairs] if apart else []

    def mean(self, theta: float) -> float:
        """Return the mean of ``above − θ·below``."""
        return self.means[0] - theta * self.means[1]

    def spread(self, theta: float) -> Spread:
        """Return its variance, each source of chance counted once."""
        of = [_at(theta, *each) for each in self.products]
        found = combined(of[0], of[1], of[2], *self.shape)
        return added(found, Spread(_at(theta, *self.refitted), self.parts - 1.0)) if self.refitted else found

    def accepts(self, theta: float, level: float) -> bool:
        """Return whether θ is not rejected."""
        low, high = ends(self.mean(theta), self.spread(theta), level)
        return low <= 0 <= high

    def accepted(self, ratio: float, null: float, level: float, least: float | None) -> tuple[float, float] | None:
        """Return the ends of what is not rejected around the estimate; None where there is no end.

        Args:
            ratio: the estimate.
            null: where the p-value is computed: it is inside if, and only if, it is not rejected.
            level: of the interval.
            least: the least that is possible.
        """
        low, high = ends(ratio, self.spread(ratio), level)
        found = []
        for guess, sign in ((low, -1), (high, +1)):
            inside, width = ratio, abs(guess - ratio)
            beyond = sign * (null - ratio) > 0
            if beyond and self.accepts(null, level):
                inside = null
            end = self._end(inside, null if beyond and inside != null else None, sign * width, level, least)
            if end is None:
                return None
            found.append(end)
        return found[0], found[1]

    def _end(
        self, inside: float, outside: float | None, step: float, level: float, least: float | None
    ) -> float | None:
        """Return where rejection begins on the way from what is accepted outward."""
        if step == 0:
            return inside
        if least is not None and step < 0 and self.accepts(least, level):
            return least
        for _ in range(WIDEST):
            if outside is not None:
                break
            if self.accepts(inside + step, level):
                inside, step = inside + step, 2 * step
            else:
                outside = inside + step
        if outside is None:
            return None
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if self.accepts(middle, level) else (inside, middle)
        return inside


def _at(theta: float, first: float, mixed: float, last: float) -> float:
    """Return the variance of ``above − θ·below`` from the three products of a source."""
    return max(first - 2 * theta * mixed + theta**2 * last, 0.0)


def _sources(table: Array) -> tuple[Array, Array, Array]:
    """Return what seeds, what units, and what neither of them add to the values of a table."""
    mean, rows, columns = table.mean(), table.mean(axis=1), table.mean(axis=0)
    return rows - mean, columns - mean, table - rows[:, None] - columns + mean
