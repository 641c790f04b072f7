"""Relations of many vectors."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import torch
from torch import Tensor

from labelspace import _checks
from labelspace.compressed.rows import Rows


@final
@dataclass(frozen=True, eq=False)
class CosineRows(Rows):
    """Relations of vectors: ``s = 1/(1 + exp(d/τ))`` with ``d = 1 − cos``, each row scaled to sum to 1.

    Args:
        vectors: ``(K, D)``, one point per class.
        temperature: τ > 0.

    Example:
        >>> CosineRows(torch.tensor([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0]])).rows(torch.tensor([0]))
        tensor([[0.0000, 0.6929, 0.3071]], dtype=torch.float64)
    """

    vectors: Tensor
    temperature: float = field(default=1.0, kw_only=True)
    form: ClassVar[str] = "cosine-rows"

    def __post_init__(self) -> None:
        """Check and keep the vectors."""
        vectors = _checks.matrix("CosineRows", "vectors", self.vectors)
        tau = _checks.number("CosineRows", "temperature", self.temperature, low=0, open_low=True)
        object.__setattr__(self, "vectors", vectors.float())
        object.__setattr__(self, "temperature", tau)

    def __len__(self) -> int:
        """Return K."""
        return len(self.vectors)

    def rows(self, places: Tensor) -> Tensor:
        """Return the similarities of some classes to all others."""
        unit = _unit_rows(self.vectors.double())
        distances = 1 - (unit[places] @ unit.T).clamp(-1, 1)
        # 1/(1 + exp(x)) is a sigmoid of −x; its logarithm keeps small temperatures from underflowing
        weights = torch.nn.functional.logsigmoid(-distances / self.temperature)
        if len(self) == 1:
            return torch.ones_like(weights)
        return torch.softmax(weights.scatter(1, places[:, None], -torch.inf), dim=1)

    def subset(self, places: Tensor) -> "CosineRows":
        """Return the vectors of some classes."""
        return CosineRows(self.vectors[places], temperature=self.temperature)

    def tensors(self) -> dict[str, Tensor]:
        """Return the vectors."""
        return {"vectors": self.vectors}

    def facts(self) -> dict[str, Any]:
        """Return the temperature."""
        return {"temperature": self.temperature}


def _unit_rows(rows: Tensor) -> Tensor:
    """Return rows of length 1; a row of zeros has no direction and stays."""
    norms = rows.norm(dim=1, keepdim=True)
    return rows / torch.where(norms > 0, norms, 1)
