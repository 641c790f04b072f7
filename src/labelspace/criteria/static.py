"""Static labels: regress to one fixed vector per class, predict the nearest."""

from collections.abc import MutableMapping
from typing import Literal, Unpack, final

import torch
from torch import Tensor, nn

from labelspace import _checks
from labelspace.criteria import divergences, targets
from labelspace.criteria.base import Common, Criterion, Example, Term
from labelspace.space import LabelSpace

TYPICAL = 0.5  # root mean square of an entry under scale="auto"; BERT's vectors, length 15 in 768 dimensions, have 0.54


@final
class StaticLabels(Criterion):
    """Regression to the rows of a label space: ``mean_d huber(z_d − V[y]_d)``, predicting the nearest row.

    V is ``scale`` times the rows given. Scores are ``−‖z − V_c‖``. The other losses are ``"mse"``,
    ``mean_d (z_d − V[y]_d)²``, and ``"cosine"``, ``1 − cos(z, V[y])``, whose scores compare directions only.
    Probabilities in ``y`` mix rows: the target is ``y @ V``. The output has as many numbers as a row, not one per
    class: see ``output_dim``.

    Paper says: Huber loss, nearest label. Code does: smooth L1 with its corner at 1, the mean over dimensions; the
    nearest label by squared distance; rows as they are, which were BERT's. We do: the same on scaled rows. Where all
    errors stay below 1, as with unit vectors, the Huber loss is half the ``"mse"``.

    Why scaled: an output of mlp-128 starts with entries of about 0.2. Rows of length 1 in 384 dimensions have entries
    of 0.05, so what is to be learned is lost in where it starts; entries far above 1 are many small steps away. Test
    accuracy on digits (mlp-128, Adam, 10 epochs, mean of 3 seeds; one-hot 0.903) as given, and with entries of this
    root mean square:

    ================================  =====  =====  =====  =====  =====  =====
    rows                              given  0.25   0.5    1      2      4
    ================================  =====  =====  =====  =====  =====  =====
    10 random unit vectors, D = 2     0.482  0.487  0.487  0.462  0.403  0.335
    10 random unit vectors, D = 10    0.875  0.878  0.859  0.815  0.719  0.577
    10 random unit vectors, D = 50    0.912  0.922  0.913  0.885  0.794  0.697
    10 random unit vectors, D = 384   0.673  0.915  0.915  0.902  0.857  0.802
    text vectors of names, D = 384    0.314  0.867  0.877  0.837  0.659  0.397
    the identity, D = 10              0.934  0.931  0.935  0.903  0.881  0.881
    relations of an order, D = 10     0.829  0.868  0.869  0.792  0.549  0.335
    ================================  =====  =====  =====  =====  =====  =====

    SGD at a rate of 0.1 likes larger entries (random vectors, D = 384: 0.117 as given, 0.409, 0.677, 0.695, 0.590,
    0.444), and gets nowhere with the text vectors at any scale: the mean over 384 dimensions makes steps small.

    Args:
        labels: a LabelSpace. Vectors and relations are regressed to row by row; a cost becomes relations first.
        loss: ``"huber"`` (default), ``"mse"`` or ``"cosine"``.
        scale: what the rows are multiplied by; ``"auto"`` (default) gives their entries a root mean square of ½ over
            all classes, 1 takes them as given, as both presets do. It is saved with the weights that were trained on
            it; ``label_space()`` returns the rows as given.
        weight, ignore_index, reduction, class_dim, preset, global_mean, process_group, validate, classes: as in
            ``Criterion``.

    Shape:
        output ``(N, D)`` or ``(N, D, d…)``; y class indices ``(N, d…)`` or probabilities ``(N, K, d…)``.

    Example:
        >>> space = LabelSpace(("cat", "dog"), torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), "vectors")
        >>> criterion = StaticLabels(space, scale=1.0)
        >>> output = torch.tensor([[0.2, 0.0, 3.0]])
        >>> criterion(output, torch.tensor([0]))  # (0.2²/2 + 0 + (2 − ½)) / 3
        tensor(0.5067)
        >>> criterion.predict(output)
        tensor([0])

    Reference:
        Chen et al. 2021, "Beyond categorical label representations for image classification"; "StaticLabel" in
        Yu and Verma, "Improving model training via self-learned label representations".
    """

    name = "static"
    requires_space = True
    scope = "sample"
    piecewise = True
    class_axes = {"label_matrix": (0,)}
    presets = {"paper": {"scale": 1.0}, "reference": {"scale": 1.0}}
    label_matrix: Tensor
    scale: Tensor

    def __init__(
        self,
        labels: LabelSpace,
        *,
        loss: str | None = None,
        scale: float | Literal["auto"] | None = None,
        **common: Unpack[Common],
    ) -> None:
        """Keep the rows as a buffer."""
        space = self.needs_space(labels)
        space = space.relations() if space.kind == "cost" else space
        super().__init__(
            space,
            **common,
            width=space.matrix.shape[1],
        )
        chosen = self.resolved(common.get("preset"), {"loss": "huber", "scale": "auto"}, {"loss": loss, "scale": scale})
        self.loss = str(self.choose("loss", chosen["loss"], ["huber", "mse", "cosine"]))
        self.kind = space.kind
        self.source, self.hops = space.source, space.hops
        self.constant("label_matrix", _distinct(space).clone())
        self.option("scale", _factor(chosen["scale"], space.matrix), low=0, open_low=True)
        # unlike other options it is saved: weights trained on one scale predict nonsense on another
        self.register_buffer("scale", self.scale)
        self.register_load_state_dict_pre_hook(_as_given_before)  # type: ignore[no-untyped-call]

    def terms(self, output: Tensor, y: Tensor) -> list[Term]:
        """Return the regression loss, per dimension on average."""
        target = self.scale * targets.rows(self.label_matrix.to(output.dtype), y)
        if self.loss == "cosine":
            return [Term(1 - (_unit(output) * _unit(target)).sum(dim=-1))]
        if self.loss == "mse":
            return [Term((output - target).square().mean(dim=-1))]
        return [Term(_huber(output - target).mean(dim=-1))]

    def row_scores(self, output: Tensor) -> Tensor:
        """Return minus the distance to every row."""
        matrix = self.scale * self.label_matrix.to(output.dtype)
        if self.loss == "cosine":
            # distance between unit vectors falls as their cosine grows: ‖u − v‖² = 2 − 2·cos
            return -divergences.euclidean(_unit(output), _unit(matrix))
        return -divergences.euclidean(output, matrix)

    def label_space(self) -> LabelSpace:
        """Return the rows as given, fit to build this criterion again; vectors are compared as they predict."""
        compared = {"metric": "cosine" if self.loss == "cosine" else "euclidean"} if self.kind == "vectors" else {}
        return LabelSpace(self.names, self.label_matrix.cpu(), self.kind, {**self.source, **compared}, self.hops)

    def target_matrix(self) -> Tensor:
        """Return the rows it regresses to, ``(K, D)``, in their scale."""
        return self.scale.cpu() * self.label_matrix.cpu().double()

    @classmethod
    def example(cls) -> Example:
        """Return a criterion of four classes in five dimensions and six samples, with errors on both sides of 1."""
        generator = torch.Generator().manual_seed(0)
        space = LabelSpace(("a", "b", "c", "d"), torch.randn(4, 5, generator=generator), "vectors")
        output = torch.randn(6, 5, generator=generator)
        return Example(cls(space), output, torch.tensor([0, 1, 2, 3, 1, 2]), {})


def _huber(error: Tensor) -> Tensor:
    size = error.abs()
    return torch.where(size < 1, 0.5 * error.square(), size - 0.5)


def _unit(rows: Tensor) -> Tensor:
    """Return rows of length 1; a row of zeros stays as it is, with a gradient of 1 instead of none at all."""
    squared = rows.square().sum(dim=-1, keepdim=True)
    return rows / torch.where(squared > 0, squared, 1).sqrt()


def _factor(scale: object, matrix: Tensor) -> object:
    """Return the number that the rows are multiplied by."""
    if not isinstance(scale, str):
        return scale
    if scale != "auto":
        raise _checks.fail("StaticLabels", "scale", "'auto' or a number above 0", repr(scale))
    size = matrix.double().square().mean().sqrt().item()
    return TYPICAL / size if size > 0 else 1.0


def _as_given_before(module: nn.Module, state: MutableMapping[str, Tensor], prefix: str, *_: object) -> None:
    """Read a state saved before rows were scaled: it was trained on the rows as given."""
    if f"{prefix}label_matrix" in state:
        state.setdefault(f"{prefix}scale", torch.ones((), dtype=torch.float64))


def _distinct(space: LabelSpace) -> Tensor:
    """Return the matrix of a space in which no two classes share a row: nothing could tell them apart."""
    owners: dict[tuple[float, ...], str] = {}
    for name, row in zip(space.names, space.matrix.tolist(), strict=True):
        other = owners.setdefault(tuple(row), name)
        if other != name:
            got = f"the same row for {other!r} and {name!r}"
            raise _checks.fail("StaticLabels", "labels", "a LabelSpace whose rows differ", got, "Merge the classes.")
    return space.matrix
