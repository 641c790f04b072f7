"""A finished run as a teacher: scores of the same classes, for batches as the student reads them."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from labelspace import _checks
from labelspace.data.dataset import Dataset
from labelspace.data.normalise import Normalise

if TYPE_CHECKING:
    from labelspace.training.run import Run

STATISTICS = ("mean", "std", "own_mean", "own_std")


class Teacher(nn.Module):
    """The model of a finished run, given batches that were normalised for a student.

    Args:
        run: the teacher's run.
        dataset: the student's data.
    """

    def __init__(self, run: "Run", dataset: Dataset) -> None:
        """Check that the two speak of the same things."""
        super().__init__()
        facts = run.preprocessing
        mine = {"names": list(dataset.names), "kind": dataset.kind, "input_shape": list(dataset.input_shape)}
        for name, value in mine.items():
            if facts[name] != value:
                expected = f"a run whose {name} are those of the data ({value})"
                raise _checks.fail("train", "teacher", expected, facts[name])
        spoilt = next((name for name, value in run.weights.items() if not bool(value.isfinite().all())), None)
        if spoilt is not None:
            got = f"{run.folder or 'a run given in Python'} with others in {spoilt!r}"
            raise _checks.fail("train", "teacher", "a run whose weights are finite numbers", got, "Train it again.")
        self.learner = run.learner().requires_grad_(False)
        self.in_float64 = run.config.precision == "float64"
        student, own = dataset.normalise, Normalise.stored(facts)
        self.alike = torch.equal(student.mean, own.mean) and torch.equal(student.std, own.std)
        # buffers, so that they move to the student's device once
        for name, tensor in zip(STATISTICS, (student.mean, student.std, own.mean, own.std), strict=True):
            self.register_buffer(name, tensor, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the teacher's scores per class."""
        dtype = x.dtype
        if x.is_floating_point():
            x = self._as_taught(x).to(torch.float64 if self.in_float64 else torch.float32)
        scores: Tensor = self.learner(x)
        return scores.to(dtype) if dtype.is_floating_point else scores

    def _as_taught(self, x: Tensor) -> Tensor:
        """Undo the student's normalisation and apply the teacher's."""
        if self.alike:
            return x
        shape = (1, -1) + (1,) * (x.ndim - 2)
        mean, std, own_mean, own_std = (self.get_buffer(name).to(x).reshape(shape) for name in STATISTICS)
        return (x * std + mean - own_mean) / own_std
