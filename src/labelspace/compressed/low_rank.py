"""Relations from two thin factors."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.compressed.rows import Rows


@final
@dataclass(frozen=True, eq=False)
class LowRank(Rows):
    """Rows ``softmax(left_i · right)``, or with ``relu`` ``softmax(ReLU(left_i · right))``.

    Args:
        left: ``(K, h)``, kept as float32.
        right: ``(h, K)``.
        relu: whether negative products count as 0, as in compressed label embeddings.

    Example:
        >>> rule = LowRank(torch.tensor([[0.0], [1.0]]), torch.tensor([[1.0, 2.0]]))
        >>> rule.rows(torch.tensor([1]))  # 1/(1 + e) and e/(1 + e)
        tensor([[0.2689, 0.7311]], dtype=torch.float64)
    """

    left: Tensor
    right: Tensor
    relu: bool = field(default=False, kw_only=True)
    form: ClassVar[str] = "low-rank"

    def __post_init__(self) -> None:
        """Check that the factors fit each other."""
        left = _checks.matrix("LowRank", "left", self.left)
        right = _checks.matrix("LowRank", "right", self.right)
        if right.shape != left.T.shape or not len(left):
            got = f"shapes {tuple(left.shape)} and {tuple(right.shape)}"
            raise _checks.fail("LowRank", "left and right", "of shapes (K, h) and (h, K)", got)
        largest = float(left.abs().max()) * float(right.abs().max()) * left.shape[1]
        if largest > torch.finfo(torch.float32).max:
            raise _checks.fail("LowRank", "left and right", "so small that products are finite", f"{largest:g}")
        if not isinstance(self.relu, bool):
            raise _checks.fail_type("LowRank", "relu", "true or false", repr(self.relu))
        object.__setattr__(self, "left", left.float())
        object.__setattr__(self, "right", right.float())

    def __len__(self) -> int:
        """Return K."""
        return len(self.left)

    def rows(self, places: Tensor) -> Tensor:
        """Return the softmax of the products."""
        # float32 as in the loss: the second factor in float64 would be copied for every row that is asked for
        logits = (self.left[places] @ self.right).double()
        return torch.softmax(logits.relu() if self.relu else logits, dim=1)

    def subset(self, places: Tensor) -> "LowRank":
        """Return the factors of some classes: a softmax over fewer classes is the softmax, scaled to sum to 1."""
        return LowRank(self.left[places], self.right[:, places], relu=self.relu)

    def tensors(self) -> dict[str, Tensor]:
        """Return both factors."""
        return {"left": self.left, "right": self.right}

    def facts(self) -> dict[str, Any]:
        """Return whether products are cut at 0."""
        return {"relu": self.relu}
