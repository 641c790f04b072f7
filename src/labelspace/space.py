"""LabelSpace: class names, a matrix that says how they relate, and where it came from."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from labelspace import _checks, _labelfile

Kind = Literal["relations", "vectors", "cost"]
KINDS: tuple[Kind, ...] = ("relations", "vectors", "cost")


@dataclass(frozen=True, eq=False)
class LabelSpace:
    """How the classes of a problem relate: one row of numbers per class, with its name.

    The three kinds differ in what a row says. ``relations`` rows are probabilities, the way a class spreads its
    soft mass over the others: ``targets(σ) = (1−σ)·I + σ·relations``. ``vectors`` rows are points, one per class.
    ``cost`` rows are prices, ``matrix[i, j]`` being what it costs to call a true ``i`` a ``j``.

    Args:
        names: unique class names; their order is the order of class indices.
        matrix: ``(K, D)`` numbers, kept as float32. A class that has no relatives keeps its mass (its entry is 1).
        kind: ``"relations"``, ``"vectors"`` or ``"cost"``.
        source: where the space came from, as plain JSON data; it travels with the file.
        hops: path lengths between classes, for a space built from a tree.

    Example:
        >>> from labelspace import ordinal
        >>> space = ordinal(["low", "mid", "high"])
        >>> space.nearest("low", k=1)
        [('mid', 0.6666666865348816)]
        >>> space.targets(0.3)[0]
        tensor([0.7000, 0.2000, 0.1000])
    """

    names: tuple[str, ...]
    matrix: Tensor
    kind: Kind
    source: Mapping[str, Any] = field(default_factory=dict)
    hops: Tensor | None = None

    def __post_init__(self) -> None:
        """Check everything once, so that no later step has to."""
        names = _checks.class_names("LabelSpace", self.names)
        kind = _checks.choice("LabelSpace", "kind", self.kind, KINDS)
        square = kind != "vectors"
        matrix = _checks.matrix("LabelSpace", "matrix", self.matrix, rows=len(names), square=square)
        if square and bool((matrix < 0).any()):
            raise _checks.fail("LabelSpace", "matrix", f"non-negative ({kind})", f"{matrix.min().item():g}")
        if kind == "relations":
            matrix = _normalised_rows(matrix, names)
        if kind == "cost" and bool((matrix.diagonal() != 0).any()):
            index = int((matrix.diagonal() != 0).nonzero()[0])
            got = f"{matrix[index, index].item():g} for {names[index]!r}"
            raise _checks.fail("LabelSpace", "matrix", "zero on its diagonal (being right costs nothing)", got)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "matrix", matrix.to(torch.float32))
        object.__setattr__(self, "source", _labelfile.plain(self.source))
        if self.hops is not None:
            hops = _checks.matrix("LabelSpace", "hops", self.hops, rows=len(names), square=True)
            object.__setattr__(self, "hops", hops.to(torch.int64))

    def __len__(self) -> int:
        """Return the number of classes K."""
        return len(self.names)

    def __repr__(self) -> str:
        """Return one line: what it is, how large, and where it came from."""
        rows, columns = self.matrix.shape
        return f"LabelSpace({self.kind} {rows}×{columns} from {self.source.get('builder', 'a matrix')!r})"

    def index(self, name: str) -> int:
        """Return the index of a class name."""
        if not isinstance(name, str):
            raise _checks.fail_type("LabelSpace", "name", "the name of a class", repr(name))
        _checks.known_names("LabelSpace", "name", [name], self.names)
        return self.names.index(name)

    def targets(self, smoothing: float) -> Tensor:
        """Return the label matrix ``T = (1−σ)·I + σ·relations`` of shape ``(K, K)``.

        Vectors and costs are turned into relations first.
        """
        sigma = _checks.number("LabelSpace.targets", "smoothing", smoothing, low=0, high=1)
        relations = self.relations().matrix.double()
        return ((1 - sigma) * torch.eye(len(self), dtype=torch.float64) + sigma * relations).float()

    def distances(self, metric: str = "cosine") -> Tensor:
        """Return symmetric ``(K, K)`` distances between the rows, zero on the diagonal.

        Args:
            metric: ``"cosine"`` is ``1 − cos``, ``"cos2"`` the papers' ``1 − cos²``, ``"euclidean"`` is ``‖a − b‖``.
        """
        _checks.choice("LabelSpace.distances", "metric", metric, ["cosine", "cos2", "euclidean"])
        rows = self.matrix.double()
        if metric == "euclidean":
            distances = torch.cdist(rows, rows, compute_mode="donot_use_mm_for_euclid_dist")
        else:
            cosines = _cosines(rows)
            distances = 1 - (cosines if metric == "cosine" else cosines.square())
        distances = ((distances + distances.T) / 2).clamp_min(0)
        return distances.fill_diagonal_(0).float()

    def relations(self, temperature: float | None = None) -> "LabelSpace":
        """Return this space as relations, rows that sum to 1 with a zero diagonal.

        Vectors: ``s = 1/(1 + exp(d/τ))`` with ``d = 1 − cos``; at τ = 1 a row's weights differ by at most 4.2×, a
        smaller τ sharpens them. Cost: ``s = exp(−c/(τ·c̄))``, ``c̄`` the mean price of a mistake, so that units
        do not matter. Relations come back unchanged.

        Args:
            temperature: τ; by default the one the space was built with, else 1.
        """
        if self.kind == "relations":
            return self
        chosen = self.source.get("temperature", 1.0) if temperature is None else temperature
        tau = _checks.number("LabelSpace.relations", "temperature", chosen, low=0, open_low=True)
        rows = self.matrix.double()
        if self.kind == "vectors":
            # 1/(1 + exp(x)) is a sigmoid of −x; its logarithm keeps small temperatures from underflowing
            log_weights = torch.nn.functional.logsigmoid(-(1 - _cosines(rows)) / tau)
        else:
            mistakes = rows[~torch.eye(len(self), dtype=torch.bool)]
            scale = mistakes.mean() if bool((mistakes > 0).any()) else torch.ones((), dtype=torch.float64)
            log_weights = -rows / (tau * scale)
        weights = log_weights.fill_diagonal_(-math.inf)
        weights = torch.softmax(weights, dim=1) if len(self) > 1 else torch.ones(1, 1, dtype=torch.float64)
        source = {"builder": "relations", "temperature": tau, "of": dict(self.source), "of_kind": self.kind}
        return LabelSpace(self.names, weights, "relations", source, self.hops)

    def nearest(self, name: str, k: int = 5) -> list[tuple[str, float]]:
        """Return the ``k`` classes closest to ``name`` with their weights, closest first.

        The weight is the relation's mass, the cosine of vectors, or minus the cost.
        """
        _checks.whole("LabelSpace.nearest", "k", k, low=1)
        row = self.index(name)
        if self.kind == "vectors":
            weights = torch.nn.functional.cosine_similarity(self.matrix.double(), self.matrix[row].double(), dim=1)
        else:
            weights = -self.matrix[row] if self.kind == "cost" else self.matrix[row]
        order = [j for j in torch.argsort(weights, descending=True, stable=True).tolist() if j != row]
        return [(self.names[j], float(weights[j])) for j in order[:k]]

    def subset(self, classes: Sequence[str | int]) -> "LabelSpace":
        """Return the space of some of its classes, in the order given; relations are renormalised.

        Args:
            classes: names or indices.
        """
        indices = [self._position(item) for item in classes]
        names = _checks.class_names("LabelSpace.subset", [self.names[i] for i in indices])
        matrix = self.matrix[indices] if self.kind == "vectors" else self.matrix[indices][:, indices]
        if self.kind == "relations":
            matrix = kept_mass(matrix.double())
        hops = None if self.hops is None else self.hops[indices][:, indices]
        return LabelSpace(names, matrix, self.kind, self.source, hops)

    def _position(self, item: str | int) -> int:
        if isinstance(item, str):
            _checks.known_names("LabelSpace.subset", "classes", [item], self.names)
            return self.names.index(item)
        if isinstance(item, bool) or not isinstance(item, Integral) or not 0 <= item < len(self):
            expected = f"names or indices from 0 to {len(self) - 1}"
            raise _checks.fail("LabelSpace.subset", "classes", expected, repr(item))
        return int(item)

    def save(self, path: str | Path) -> Path:
        """Write one safetensors file, whole or not at all, and return its path."""
        tensors = {"matrix": self.matrix} | ({} if self.hops is None else {"hops": self.hops})
        header = {"names": list(self.names), "kind": self.kind, "source": dict(self.source)}
        return _labelfile.write(Path(path), tensors, header)

    @classmethod
    def load(cls, path: str | Path) -> "LabelSpace":
        """Read a file written by ``save``; nothing in it is ever executed."""
        tensors, header = _labelfile.read(Path(path))
        try:
            _labelfile.check_source(header)
            return cls(
                tuple(header["names"]),
                tensors["matrix"],
                header["kind"],
                header["source"],
                tensors.get("hops"),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise _checks.LabelFileError(f"{path} is not a sound label file: {error}") from error


def kept_mass(weights: Tensor) -> Tensor:
    """Return rows scaled to sum to 1; a class whose row is empty keeps its mass (its own entry is 1)."""
    total = weights.sum(dim=1, keepdim=True)
    alone = torch.eye(len(weights), dtype=weights.dtype)
    return torch.where(total > 0, weights / torch.where(total > 0, total, 1), alone)


def _normalised_rows(matrix: Tensor, names: tuple[str, ...]) -> Tensor:
    """Check that rows sum to 1 (as well as float32 can) and return them summing to 1 in float64."""
    total = matrix.sum(dim=1, keepdim=True)
    worst = int((total - 1).abs().argmax())
    if abs(total[worst].item() - 1) > 1e-4:
        got = f"{total[worst].item():.6g} for {names[worst]!r}"
        remedy = "Divide each row by its sum, or use labelspace.confusion() for counts and cost() for prices."
        raise _checks.fail("LabelSpace", "matrix", "rows that sum to 1 (relations)", got, remedy)
    # a second normalisation of rows already right would change their last bits, and a file must load as it was saved
    return torch.where((total - 1).abs() < 1e-6, matrix, matrix / total)


def _cosines(rows: Tensor) -> Tensor:
    # a zero row has no direction: its cosine with everything is 0
    norms = rows.norm(dim=1, keepdim=True)
    unit = rows / torch.where(norms > 0, norms, 1)
    return (unit @ unit.T).clamp(-1, 1)
