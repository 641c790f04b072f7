"""LabelSpace: class names, a matrix that says how they relate, and where it came from."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from labelspace import _checks, _entries, _labelfile, _nearness, compressed
from labelspace.compressed import CosineRows, Rows

Kind = Literal["relations", "vectors", "cost"]
KINDS: tuple[Kind, ...] = ("relations", "vectors", "cost")


@dataclass(frozen=True, eq=False, init=False)
class LabelSpace:
    """How the classes of a problem relate: one row of numbers per class, with its name.

    The three kinds differ in what a row says. ``relations`` rows are probabilities, the way a class spreads its
    soft mass over the others: ``targets(σ) = (1−σ)·I + σ·relations``. ``vectors`` rows are points, one per class.
    ``cost`` rows are prices, ``matrix[i, j]`` being what it costs to call a true ``i`` a ``j``.

    Args:
        names: unique class names; their order is the order of class indices.
        matrix: ``(K, D)`` numbers, kept as float32. A class that has no relatives keeps its mass (its entry is 1).
            For many classes a rule in its place: ``compressed.LowRank``, ``TopRows``, ``OrderRows`` or ``GroupRows``.
            Then ``matrix`` is built where it is small; ``rows``, ``subset``, ``save``, ``load`` and ``targets`` of some
            classes never need it, ``nearest`` only where it is small.
        kind: ``"relations"``, ``"vectors"`` or ``"cost"``.
        source: where the space came from, as plain JSON data; it travels with the file.
        hops: path lengths between classes, for a space built from a tree or an order.

    Example:
        >>> from labelspace import ordinal
        >>> space = ordinal(["low", "mid", "high"])
        >>> space.nearest("low", k=1)
        [('mid', 0.6666666865348816)]
        >>> space.targets(0.3)[0]
        tensor([0.7000, 0.2000, 0.1000])
    """

    names: tuple[str, ...]
    kind: Kind
    source: Mapping[str, object]
    hops: Tensor | None
    _held: Tensor | Rows

    def __init__(
        self,
        names: Sequence[str],
        matrix: Tensor | Rows,
        kind: Kind,
        source: Mapping[str, object] | None = None,
        hops: Tensor | None = None,
    ) -> None:
        """Check everything once, so that no later step has to."""
        names = _checks.class_names("LabelSpace", names)
        kind = _checks.choice("LabelSpace", "kind", kind, KINDS)
        if hops is not None:
            hops = _entries.checked_hops(hops, names)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "source", _labelfile.plain({} if source is None else source))
        object.__setattr__(self, "hops", hops)
        rule = _checked_rule(matrix, names, kind) if isinstance(matrix, Rows) else None
        object.__setattr__(self, "_held", rule or _entries.checked_matrix(matrix, names, kind))

    @property
    def matrix(self) -> Tensor:
        """Return the ``(K, D)`` numbers; of a compressed space only where they take at most 256 MiB."""
        return self._held.matrix() if isinstance(self._held, Rows) else self._held

    @property
    def rule(self) -> Rows | None:
        """Return the rule of a compressed space, None where there is a matrix."""
        return self._held if isinstance(self._held, Rows) else None

    @property
    def shape(self) -> tuple[int, int]:
        """Return ``(K, D)``."""
        return (len(self), len(self) if isinstance(self._held, Rows) else self._held.shape[1])

    @property
    def tensors(self) -> dict[str, Tensor]:
        """Return what it consists of: the matrix, or the parts of the rule."""
        return self._held.tensors() if isinstance(self._held, Rows) else {"matrix": self._held}

    def __len__(self) -> int:
        """Return the number of classes K."""
        return len(self.names)

    def __repr__(self) -> str:
        """Return one line: what it is, how large, and where it came from."""
        rows, columns = self.shape
        form = "" if self.rule is None else f", {self.rule.form}"
        form += ", as initialised" if self.source.get("as_initialised") else ""
        return f"LabelSpace({self.kind} {rows}×{columns} from {self.source.get('builder', 'a matrix')!r}{form})"

    def index(self, name: str) -> int:
        """Return the index of a class name."""
        if not isinstance(name, str):
            raise _checks.fail_type("LabelSpace", "name", "the name of a class", repr(name))
        if name not in self.names:
            _checks.known_names("LabelSpace", "name", [name], self.names)
        return self.names.index(name)

    def rows(self, classes: Iterable[str | int] | Tensor) -> Tensor:
        """Return the rows of some classes, ``(n, D)``, without building others.

        Args:
            classes: names or indices.

        Example:
            >>> from labelspace import ordinal
            >>> ordinal(["low", "mid", "high"]).rows(["mid"])
            tensor([[0.5000, 0.0000, 0.5000]])
        """
        places = torch.tensor(self._positions("LabelSpace.rows", classes), dtype=torch.int64)
        return self._held.rows(places).float() if isinstance(self._held, Rows) else self._held[places]

    def targets(self, smoothing: float, classes: Iterable[str | int] | Tensor | None = None) -> Tensor:
        """Return the label matrix ``T = (1−σ)·I + σ·relations`` of shape ``(K, K)``, or some of its rows.

        Vectors and costs are turned into relations first.

        Args:
            smoothing: σ.
            classes: names or indices of the rows that are wanted; a compressed space builds no others.

        Example:
            >>> from labelspace import ordinal
            >>> ordinal(["low", "mid", "high"]).targets(0.5, ["mid"])
            tensor([[0.2500, 0.5000, 0.2500]])
        """
        sigma = _checks.number("LabelSpace.targets", "smoothing", smoothing, low=0, high=1)
        relations = self.relations()
        if classes is None:
            places = torch.arange(len(self))
            rows = relations.matrix.double()
        else:
            places = torch.tensor(self._positions("LabelSpace.targets", classes), dtype=torch.int64)
            rows = relations.rows(places).double()
        rows *= sigma
        rows[torch.arange(len(places)), places] += 1 - sigma
        return rows.float()

    @property
    def metric(self) -> str | None:
        """How the points of a space of vectors are compared: what its source states, else the cosine.

        None for relations and costs, whose rows are not points.
        """
        if self.kind != "vectors":
            return None
        stated = self.source.get("metric", "cosine")
        return str(_checks.choice("LabelSpace", "source['metric']", stated, _nearness.METRICS))

    def distances(self, metric: str | None = None) -> Tensor:
        """Return how far apart the classes are: symmetric ``(K, K)``, zero on the diagonal, fit to be prices.

        A space from a tree or WordNet has its path lengths (no path: one step more than the longest), one from an order
        the steps between ranks. Other relations ``A`` have ``1 − r/2``, with ``r_ij = (A_ij/m_i + A_ji/m_j)/2`` and
        ``m_i`` the largest entry of row i but its own: ½ for classes that are each other's nearest, 1 for those that
        share nothing. (Rows are not compared: a class and its nearest relative each have their mass where the other has
        none.) A cost has its prices, the mean of both directions. Vectors are compared by ``metric``.

        Args:
            metric: compares rows, whatever the kind: ``"cosine"`` is ``1 − cos``, ``"cos2"`` the papers' ``1 − cos²``,
                ``"euclidean"`` is ``‖a − b‖``. By default what is near to the kind; for vectors what the source states
                as ``"metric"`` (adaptive and static labels predict by Euclidean distance), else ``"cosine"``.

        Example:
            >>> from labelspace import ordinal
            >>> ordinal(4).distances()[0]
            tensor([0., 1., 2., 3.])
        """
        if metric is not None:
            _checks.choice("LabelSpace.distances", "metric", metric, _nearness.METRICS)
        chosen = self.metric if metric is None else metric
        return _nearness.between(self.matrix, self.kind, chosen, self.hops).float()

    def relations(self, temperature: float | None = None) -> "LabelSpace":
        """Return this space as relations, rows that sum to 1 with a zero diagonal.

        Vectors: ``s = 1/(1 + exp(d/τ))`` with ``d = 1 − cos``; at τ = 1 a row's weights differ by at most 4.2×, a
        smaller τ sharpens them. Cost: ``s = exp(−c/(τ·c̄))``, ``c̄`` the mean price of a mistake, so that units
        do not matter. Relations come back unchanged. Those of more than 8,192 vectors are compressed.

        Args:
            temperature: τ; by default the one the space was built with, else 1.
        """
        if self.kind == "relations":
            return self
        chosen = self.source.get("temperature", 1.0) if temperature is None else temperature
        tau = _checks.number("LabelSpace.relations", "temperature", chosen, low=0, open_low=True)
        source = {"builder": "relations", "temperature": tau, "of": dict(self.source), "of_kind": self.kind}
        if self.kind == "vectors" and not compressed.fits(len(self)):
            return LabelSpace(self.names, CosineRows(self.matrix, temperature=tau), "relations", source, self.hops)
        rows = self.matrix.double()
        if self.kind == "vectors":
            # 1/(1 + exp(x)) is a sigmoid of −x; its logarithm keeps small temperatures from underflowing
            log_weights = torch.nn.functional.logsigmoid(-(1 - _nearness.cosines(rows)) / tau)
        else:
            mistakes = rows[~torch.eye(len(self), dtype=torch.bool)]
            scale = mistakes.mean() if bool((mistakes > 0).any()) else torch.ones((), dtype=torch.float64)
            log_weights = -rows / (tau * scale)
        weights = log_weights.fill_diagonal_(-math.inf)
        weights = torch.softmax(weights, dim=1) if len(self) > 1 else torch.ones(1, 1, dtype=torch.float64)
        return LabelSpace(self.names, weights, "relations", source, self.hops)

    def nearest(self, name: str, k: int = 5) -> list[tuple[str, float]]:
        """Return the ``k`` classes closest to ``name`` by ``distances()``, closest first, with their weights.

        The weight is the mass that ``name`` gives, minus the cost of calling it so, the cosine of vectors or, where
        they are compared so, minus their Euclidean distance. Distances look both ways: where two classes see each other
        differently, weights need not fall along the list. In a compressed space of more than 8,192 classes its own row
        decides: what all others give to it would take all rows.
        """
        _checks.whole("LabelSpace.nearest", "k", k, low=1)
        row = self.index(name)
        if self.rule is not None and not compressed.fits(len(self)):
            weights = self.rows([row])[0]
            order = torch.argsort(weights, descending=True, stable=True)[: k + 1]
        else:
            ranked, found = _nearness.ordered(self.matrix, self.kind, self.metric, self.hops, torch.tensor([row]))
            order, weights = ranked[0, : k + 1], found[0]
        return [(self.names[j], float(weights[j])) for j in order.tolist() if j != row][:k]

    def subset(self, classes: Sequence[str | int]) -> "LabelSpace":
        """Return the space of some of its classes, in the order given; relations are renormalised.

        Args:
            classes: names or indices.
        """
        indices = self._positions("LabelSpace.subset", classes)
        names = _checks.class_names("LabelSpace.subset", [self.names[i] for i in indices])
        hops = None if self.hops is None else self.hops[indices][:, indices]
        if isinstance(self._held, Rows):
            part = self._held.subset(torch.tensor(indices, dtype=torch.int64))
            held = sum(tensor.numel() for tensor in part.tensors().values())
            small = compressed.fits(len(names)) and (part.written_out or len(names) ** 2 <= held)
            if not small:
                return LabelSpace(names, part, self.kind, self.source, hops)
            return LabelSpace(names, part.matrix(), self.kind, self.source, part.hops())
        matrix = self.matrix[indices] if self.kind == "vectors" else self.matrix[indices][:, indices]
        if self.kind == "relations" and len(names) < len(self):  # another order alone leaves every row as it is
            matrix = kept_mass(matrix.double())
        return LabelSpace(names, matrix, self.kind, self.source, hops)

    def align(self, classes: int | Sequence[str]) -> "LabelSpace":
        """Return the same space with its classes in another order, such as that in which a dataset numbers them.

        Args:
            classes: all names, in the order wanted: ``dataset.classes``. Missing and surplus ones are refused.

        Example:
            >>> from labelspace import ordinal
            >>> space = ordinal(["low", "mid", "high"]).align(["high", "low", "mid"])
            >>> space.names, space.nearest("low", k=1)[0][0]
            (('high', 'low', 'mid'), 'mid')
        """
        names = _checks.class_names("LabelSpace.align", classes)
        _checks.same_names("LabelSpace.align", "classes", names, self.names, "space.subset(classes) leaves some out.")
        return self if names == self.names else self.subset(names)

    def _positions(self, owner: str, classes: Iterable[str | int] | Tensor) -> list[int]:
        given = classes.tolist() if isinstance(classes, Tensor) else list(classes)
        # one dictionary for all names: looking each up in the tuple would take K² steps
        named = any(isinstance(item, str) for item in given)
        places = {name: place for place, name in enumerate(self.names)} if named else {}
        for item in given:
            if isinstance(item, str):
                if item not in places:
                    _checks.known_names(owner, "classes", [item], self.names)
            elif isinstance(item, bool) or not isinstance(item, Integral) or not 0 <= int(item) < len(self):
                expected = f"names or indices from 0 to {len(self) - 1}"
                raise _checks.fail(owner, "classes", expected, repr(item))
        return [places[item] if isinstance(item, str) else int(item) for item in given]

    def save(self, path: str | Path) -> Path:
        """Write one safetensors file, whole or not at all, and return its path."""
        tensors = self.tensors | ({} if self.hops is None else {"hops": self.hops})
        header: _labelfile.Header = {"names": list(self.names), "kind": self.kind, "source": dict(self.source)}
        if self.rule is not None:
            header |= {"form": self.rule.form, "facts": self.rule.facts()}
        return _labelfile.write(Path(path), tensors, header)

    @classmethod
    def from_frame(
        cls, frame: object, kind: Kind = "relations", source: Mapping[str, object] | None = None
    ) -> "LabelSpace":
        """Return the space that a DataFrame describes: its index names the classes, and so do columns that are classes.

        Args:
            frame: of pandas; columns of relations and prices may be in another order than the rows.
            kind: as in ``LabelSpace``.
            source: as in ``LabelSpace``.

        Example:
            >>> import pandas
            >>> prices = pandas.DataFrame([[0, 1], [5, 0]], ["healthy", "ill"], ["healthy", "ill"])
            >>> LabelSpace.from_frame(prices, "cost").nearest("ill")
            [('healthy', -5.0)]
        """
        names = _entries.frame_names("LabelSpace.from_frame", frame)
        return cls(names, frame, kind, {"builder": "from_frame"} if source is None else source)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: str | Path, *, allow_damaged: bool = False) -> "LabelSpace":
        """Read a file written by ``save``; nothing in it is ever executed.

        Args:
            path: of the file.
            allow_damaged: read also what no longer has the digest it was written with, as far as it goes, and warn.
        """
        return cls._made(Path(path), *_labelfile.read(Path(path), allow_damaged))

    @classmethod
    def from_bytes(cls, content: bytes, path: str | Path) -> "LabelSpace":
        """Return what the content of a label file says, for those who have read and checked it.

        Args:
            content: of the file.
            path: of the file, for messages.
        """
        return cls._made(Path(path), *_labelfile.parse(Path(path), content))

    @classmethod
    def _made(cls, path: Path, tensors: dict[str, Tensor], header: _labelfile.Header) -> "LabelSpace":
        try:
            names, source = _labelfile.names_and_source(header)
            hops = tensors.pop("hops", None)
            held = compressed.from_file(header, tensors) if "form" in header else tensors["matrix"]
            kind = _checks.choice("LabelSpace", "kind", header["kind"], KINDS)
            return cls(names, held, kind, source, hops)
        except (KeyError, TypeError, ValueError) as error:
            raise _checks.LabelFileError(path, str(error)) from error


def kept_mass(weights: Tensor, first: int = 0) -> Tensor:
    """Return rows scaled to sum to 1; a class whose row is empty keeps its mass (its own entry is 1).

    Args:
        weights: not negative.
        first: the class of the first row, where these are some of them.
    """
    total = weights.sum(dim=1, keepdim=True)
    empty = ~(total > 0)
    scaled = weights / total.masked_fill(empty, 1)
    scaled.diagonal(first).masked_fill_(empty[:, 0], 1)
    return scaled


def _checked_rule(rule: Rows, names: tuple[str, ...], kind: Kind) -> Rows:
    if kind != "relations":
        raise _checks.fail("LabelSpace", "kind", "'relations' with a rule in place of a matrix", repr(kind))
    if len(rule) != len(names):
        raise _checks.fail("LabelSpace", "matrix", f"a rule of {len(names)} classes", f"one of {len(rule)}")
    return rule
