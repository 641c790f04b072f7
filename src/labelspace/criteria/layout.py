"""From whatever the caller has to flat, checked, cast rows, and back."""

from contextlib import AbstractContextManager
from typing import NamedTuple

import torch
from torch import Tensor, nn

from labelspace import _checks, _devices

COMPUTED = (torch.float32, torch.float64)  # what losses are computed in
ROUNDED = 0.011  # by which a row that sums to 1 may miss it: thirds, written with two digits, sum to 0.99
MANY = (
    "If several classes are true at once, that is another question: torch.nn.BCEWithLogitsLoss. If the ones are votes "
    "for one class, divide each row by its sum."
)


class Batch(NamedTuple):
    """A batch inside a criterion: flat rows in float32 or float64."""

    output: Tensor  # (n, D)
    y: Tensor  # (n,) int64 with −1, or (n, K) probabilities with zero rows, for ignored samples
    valid: Tensor | None  # (n,) bool; None where all are, as was seen
    extras: dict[str, Tensor]
    shape: torch.Size  # of the samples, before flattening
    counts: Tensor | None = None  # (n,) what each sample counts, class weights aside; None where all count 1


class Layout(NamedTuple):
    """What a criterion expects of its inputs."""

    owner: str
    classes: int
    width: int  # of the output
    class_dim: int
    ignore_index: int
    soft: bool  # whether probabilities are accepted
    validate: bool  # whether values are looked at where that stops nothing

    def batch(self, output: Tensor, y: Tensor, extras: dict[str, Tensor], sample_weight: Tensor | None = None) -> Batch:
        """Return the flattened batch; a single sample, ``(K,)``, is a batch of one."""
        if isinstance(output, Tensor) and output.ndim == 1:
            return self._alone(output, y, extras, sample_weight)
        flat = self.flatten(output)
        shape = self._sample_shape(output)
        self._check_target(output, y, shape)
        for name, value in extras.items():
            check_dense(self.owner, name, value, output)
        if y.is_floating_point():
            labels, valid, counts = self._probabilities(y, flat.dtype)
        else:
            (labels, valid), counts = self._indices(y), None
        if sample_weight is not None:
            given = self._weights(sample_weight, output, shape, flat.dtype)
            labels, valid = _left_out(labels, valid, given)
            counts = given if counts is None else counts * given
        if valid is not None:
            flat = _only(valid, flat)
        if extras:
            extras = {name: self._extra(name, value, valid, output, flat.dtype) for name, value in extras.items()}
        return Batch(flat, labels, valid, extras, shape, counts)

    def _alone(self, output: Tensor, y: Tensor, extras: dict[str, Tensor], sample_weight: Tensor | None) -> Batch:
        given = {"y": y, "sample_weight": sample_weight, **extras}
        for name, value in given.items():
            if value is not None:
                check_dense(self.owner, name, value, output)
        rows = {name: value[None] for name, value in given.items() if value is not None}
        labels, weight = rows.pop("y"), rows.pop("sample_weight", None)
        batch = self._replace(class_dim=1).batch(output[None], labels, rows, weight)
        return batch._replace(shape=torch.Size())

    def flatten(self, output: Tensor) -> Tensor:
        """Return ``(n, D)`` rows in float32, or float64 where they come so."""
        if not isinstance(output, Tensor) or not output.is_floating_point():
            remedy = "Give its .logits." if hasattr(output, "logits") else ""
            raise _checks.fail_type(self.owner, "output", "a floating point tensor", _what(output), remedy)
        check_dense(self.owner, "output", output)
        if output.ndim == 0:
            raise _checks.fail(self.owner, "output", "of one or more dimensions", f"shape {tuple(output.shape)}")
        if output.ndim == 1:
            return self._replace(class_dim=1).flatten(output[None])
        if not -output.ndim <= self.class_dim < output.ndim:
            expected = f"a dimension of `output`, which has {output.ndim}"
            raise _checks.fail(self.owner, "class_dim", expected, self.class_dim)
        if output.shape[self.class_dim] != self.width:
            got = f"shape {tuple(output.shape)}"
            expected = f"of size {self.width} along dimension {self.class_dim}"
            remedy = "Make the model's last layer that wide, pass as many labels, or set class_dim."
            raise _checks.fail(self.owner, "output", expected, got, remedy)
        flat = output if self._is_flat(output) else output.movedim(self.class_dim, -1).reshape(-1, self.width)
        return flat if flat.dtype in COMPUTED else flat.float()

    def unflatten(self, rows: Tensor, like: Tensor) -> Tensor:
        """Return ``(n, K)`` rows in the layout of ``like``."""
        if like.ndim == 1:
            return rows[0]
        return rows.reshape(*self._sample_shape(like), rows.shape[-1]).movedim(-1, self.class_dim)

    def _is_flat(self, output: Tensor) -> bool:
        """Return whether rows are samples already, as nearly always."""
        return output.ndim == 2 and self.class_dim in (1, -1)

    def _sample_shape(self, output: Tensor) -> torch.Size:
        return output.shape[:1] if self._is_flat(output) else output.movedim(self.class_dim, -1).shape[:-1]

    def _check_target(self, output: Tensor, y: Tensor, shape: torch.Size) -> None:
        if not isinstance(y, Tensor) or y.dtype == torch.bool or y.is_complex():
            remedy = f"Give y.float(). {MANY}" if isinstance(y, Tensor) and y.dtype == torch.bool else ""
            raise _checks.fail_type(self.owner, "y", "a tensor of class indices or probabilities", _what(y), remedy)
        check_dense(self.owner, "y", y, output)
        if not y.is_floating_point():
            if y.shape != shape:
                expected = f"class indices of shape {tuple(shape)}"
                rows = f"Give rows of one-hot labels as numbers, y.float(). {MANY}"
                remedy = rows if list(y.shape) == self._soft_shape(output) else ""
                raise _checks.fail(self.owner, "y", expected, f"shape {tuple(y.shape)}", remedy)
            return
        if not self.soft:
            remedy = "Leave out mixup or CutMix, or choose a method that takes soft targets."
            raise _checks.fail(self.owner, "y", "class indices: it cannot use probabilities", y.dtype, remedy)
        wanted = self._soft_shape(output)
        if list(y.shape) != wanted:
            expected = f"probabilities of shape {tuple(wanted)} or integer class indices of shape {tuple(shape)}"
            raise _checks.fail(self.owner, "y", expected, f"{y.dtype} of shape {tuple(y.shape)}")

    def _soft_shape(self, output: Tensor) -> list[int]:
        wanted = list(output.shape)
        wanted[self.class_dim] = self.classes
        return wanted

    def _indices(self, y: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return class indices with −1 for ignored samples, and which count; None if all do."""
        flat = (y if y.ndim == 1 else y.reshape(-1)).long()
        if y.dtype == torch.uint64:
            # from 2⁶³ on they would become negative, and could be taken for ignore_index
            flat = torch.where(flat < 0, torch.iinfo(torch.int64).max, flat)
        looking = flat.shape[0] > 0 and _devices.may_look_at(flat)
        if looking and self.ignore_index < 0 and all_classes(flat, self.classes if self.validate else None):
            return flat, None
        labels = torch.where(flat == self.ignore_index, -1, flat)
        if looking and self.validate:
            wrong = labels[(labels < -1) | (labels >= self.classes) | ((labels == -1) & (flat != self.ignore_index))]
            if len(wrong):
                expected = f"class indices from 0 to {self.classes - 1} (or ignore_index={self.ignore_index})"
                remedy = "Map the labels to 0…K−1 first."
                raise _checks.fail(self.owner, "y", expected, int(wrong[0]), remedy)
        # where nobody has looked a negative label is none to be looked up: its sample is ignored
        return labels.clamp_min(-1), labels >= 0

    def _probabilities(self, y: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Return rows of probabilities, zeros for ignored samples; which are valid; what each counts.

        A sample counts as much as its row sums to: 0 is an ignored one, 0.6 one that was mixed with an ignored one.
        What is 1 but for rounding is 1, and where all are seen to be so there is nothing to count.
        """
        flat = (y if self._is_flat(y) else y.movedim(self.class_dim, -1).reshape(-1, self.classes)).to(dtype)
        if self.ignore_index >= 0:
            columns = torch.arange(self.classes, device=flat.device)
            flat = torch.where(columns == self.ignore_index, 0, flat)
        looking = flat.shape[0] > 0 and _devices.may_look_at(flat)
        if looking and self.validate:
            self._check_rows(flat)
        mass = flat.sum(dim=-1, keepdim=True)
        whole = (mass - 1).abs() <= ROUNDED
        if looking and bool(whole.all()):
            return flat / mass, None, None
        rows, valid = flat / torch.where(mass > 0, mass, 1), mass.squeeze(-1) > 0
        if looking and bool((whole | (mass == 0)).all()):
            return rows, valid, None
        return rows, valid, torch.where(whole, 1, mass).squeeze(-1)

    def _check_rows(self, rows: Tensor) -> None:
        """Refuse what are no probabilities, at most 1 together."""
        worst, least = rows.sum(dim=-1).max().item(), rows.min().item()
        # a comparison that NaN fails too
        if least >= 0 and worst <= 1 + ROUNDED:
            return
        expected = "probabilities: not negative, rows summing to at most 1"
        got = f"a row summing to {worst:g}, smallest entry {least:g}"
        remedy = "Divide each row by its sum; what a sample counts is sample_weight=."
        if not least >= 0:
            remedy = "If these are logits, give their softmax."
        elif bool(((rows == 0) | (rows == 1)).all()):
            remedy = MANY
        raise _checks.fail(self.owner, "y", expected, got, remedy)

    def _weights(self, weight: Tensor, output: Tensor, shape: torch.Size, dtype: torch.dtype) -> Tensor:
        """Return the weights of samples, ``(n,)``, checked where they can be looked at."""
        check_dense(self.owner, "sample_weight", weight, output)
        if weight.is_complex():
            raise _checks.fail_type(self.owner, "sample_weight", "a tensor of real numbers", weight.dtype)
        if weight.shape != shape:
            expected = f"one factor per sample, of shape {tuple(shape)}"
            raise _checks.fail(self.owner, "sample_weight", expected, f"shape {tuple(weight.shape)}")
        flat = weight.reshape(-1).to(dtype)
        if flat.shape[0] and self.validate and _devices.may_look_at(flat):
            low, high = (bound.item() for bound in flat.detach().aminmax())
            if not 0 <= low <= high < torch.inf:
                got = low if not low >= 0 else high
                raise _checks.fail(self.owner, "sample_weight", "finite and not negative", got)
        return flat

    def _extra(self, name: str, value: Tensor, valid: Tensor | None, output: Tensor, dtype: torch.dtype) -> Tensor:
        """Return an extra with samples flattened: indices ``(n,)``, everything else ``(n, F, …)`` in float.

        Extras are in the layout of ``output``, their width where it has classes. Only beside an output of two
        dimensions may there be more, behind those: the positions of a feature map.
        """
        shape = self._sample_shape(output)
        if name == "index":
            if value.is_floating_point() or value.is_complex() or value.dtype == torch.bool:
                raise _checks.fail_type(self.owner, name, "whole numbers, one per sample", value.dtype)
            self._check_samples(name, value, value.shape, shape)
            return value.reshape(-1)
        if not value.is_floating_point():
            raise _checks.fail_type(self.owner, name, "a floating point tensor", value.dtype)
        if value.ndim < 2 or (value.ndim != output.ndim and output.ndim > 2):
            expected = f"in the layout of `output`, which has {output.ndim} dimensions"
            raise _checks.fail(self.owner, name, expected, f"shape {tuple(value.shape)}")
        moved = value.movedim(self.class_dim % output.ndim, 1 if output.ndim == 2 else -1)
        self._check_samples(name, value, moved.shape[:1] if output.ndim == 2 else moved.shape[:-1], shape)
        flat = (moved if output.ndim == 2 else moved.reshape(-1, moved.shape[-1])).to(dtype)
        return flat if valid is None else _only(valid, flat)

    def _check_samples(self, name: str, value: Tensor, found: torch.Size, shape: torch.Size) -> None:
        if found != shape:
            expected = f"for the same {shape.numel()} samples as `output`, in its layout"
            raise _checks.fail(self.owner, name, expected, f"shape {tuple(value.shape)}")


def _what(value: object) -> str:
    return str(value.dtype) if isinstance(value, Tensor) else f"{type(value).__module__}.{type(value).__qualname__}"


def _left_out(labels: Tensor, valid: Tensor | None, weight: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return labels and which are valid when samples that weigh nothing are ignored."""
    weighs = weight.detach() > 0
    if valid is None and bool(weighs.all()):  # labels were looked at
        return labels, None
    counted = weighs if valid is None else valid & weighs
    soft = labels.is_floating_point()
    return (_only(counted, labels) if soft else torch.where(counted, labels, -1)), counted


def _only(valid: Tensor, rows: Tensor) -> Tensor:
    """Return the rows with zeros for ignored ones, which may hold anything, even NaN: values and gradients are zero."""
    return torch.where(valid.reshape(-1, *[1] * (rows.ndim - 1)), rows, 0)


def likeliest(owner: str, scores: Tensor, dim: int) -> Tensor:
    """Return the class with the largest score, the first of equals.

    Scores that name none (NaN, an infinite largest, all ruled out) are refused where values can be looked at without
    stopping a device or a compiler; elsewhere the class is −1, which no metric takes for one.

    Args:
        owner: the function that was called.
        scores: of any layout; −inf rules a class out.
        dim: where classes are.
    """
    sound = torch.isfinite(scores.amax(dim=dim))  # the largest is NaN where anything is
    if _devices.may_look_at(sound) and not bool(sound.all()):
        place = (~sound).nonzero()[0].tolist()
        number = place[0] if len(place) == 1 else tuple(place)
        more = f" (and {int((~sound).sum()) - 1} more)" if int((~sound).sum()) > 1 else ""
        got = f"{scores.movedim(dim, -1)[tuple(place)].max().item():g} for sample {number}{more}"
        remedy = "Look at the sample, or at the training: weights that diverged score nothing."
        raise _checks.fail(owner, "scores", "finite to name a class", got, remedy)
    return torch.where(sound, scores.argmax(dim=dim), -1)


def is_plain(output: Tensor, y: Tensor, width: int) -> bool:
    """Return whether inputs are what they nearly always are: rows of numbers on the CPU, and whole ones for them."""
    if not isinstance(output, Tensor) or not output.is_cpu:
        return False
    if y.dtype is not torch.int64 or output.dtype not in COMPUTED or output.ndim != 2 or y.ndim != 1:
        return False
    count, classes = output.shape
    if classes != width or y.shape[0] != count or not count or torch.is_autocast_enabled("cpu"):
        return False
    return output.layout is y.layout is torch.strided and _devices.may_look_at(y)


def is_plain_beside(output: Tensor, value: Tensor) -> bool:
    """Return whether features are rows of numbers for the samples of a plain output."""
    if not isinstance(value, Tensor) or not value.is_cpu or value.layout is not torch.strided:
        return False
    return value.ndim == 2 and value.dtype is output.dtype and value.shape[0] == output.shape[0]


def all_classes(y: Tensor, classes: int | None) -> bool:
    """Return whether all indices are seen to be of classes, by one pass: nothing is masked from there on."""
    low, high = y.aminmax()
    return low.item() >= 0 and (classes is None or high.item() < classes)


def needed(owner: str, name: str, value: Tensor | None) -> Tensor:
    """Return an extra that a method cannot do without."""
    if value is None:
        remedy = f"Call it as criterion(output, y, {name}=…)."
        if name == "features":
            remedy += " A Learner passes them on where the model returns a pair (output, features)."
        raise _checks.fail(owner, name, "given with every call", None, remedy)
    return value


def check_device(owner: str, output: Tensor, module: nn.Module) -> None:
    """Refuse an output on another kind of device than what a criterion holds; numbers alone may be anywhere."""
    here, others = output.device.type, set()
    for held in (module._buffers, module._parameters):
        for tensor in held.values():
            if tensor is not None and tensor.device.type != here and tensor.ndim:
                others.add(tensor.device.type)
    for inner in module._modules.values():
        if inner is not None:
            check_device(owner, output, inner)
    if others:
        remedy = f"Move the criterion there: criterion.to({here!r})."
        expected = f"on the device of the criterion, {', '.join(sorted(others))}"
        raise _checks.fail(owner, "output", expected, here, remedy)


def check_dense(owner: str, argument: str, value: Tensor, beside: Tensor | None = None) -> None:
    """Refuse what is no dense tensor, or is on another kind of device than ``output``."""
    if not isinstance(value, Tensor):
        raise _checks.fail_type(owner, argument, "a tensor", type(value).__name__)
    if value.layout != torch.strided or value.is_nested:
        got = "a nested tensor" if value.is_nested else f"layout {value.layout}"
        raise _checks.fail_type(owner, argument, "a dense tensor", got, f"Give {argument}.to_dense().")
    if beside is not None and value.device.type != beside.device.type:
        expected = f"on the device of `output`, {beside.device.type}"
        raise _checks.fail(owner, argument, expected, f"{value.device.type}")


def no_autocast(output: Tensor) -> AbstractContextManager[object] | None:
    """Return a context in which losses are computed in the precision they are given; None where they are anyway."""
    if not isinstance(output, Tensor) or output.device.type == "meta":
        return None
    if not torch.is_autocast_enabled(output.device.type):
        return None
    return torch.autocast(output.device.type, enabled=False)
