"""Batches of which all scores would be large: last linear layer and loss in one, a few samples at a time."""

from collections.abc import Mapping

from torch import Tensor, nn
from torch.nn.modules.module import _has_any_global_hook

from labelspace import _distributed
from labelspace.criteria import Criterion
from labelspace.learner import Learner
from labelspace.linear import linear_loss, takes
from labelspace.models import Network, Seq2Seq, Translation
from labelspace.training.config import Config
from labelspace.training.feed import HALF

# scores of a batch, 64 MiB in single precision, from which on they are never all made: a loss holds several times as
# much of them, ``linear_loss`` 16 MiB whatever there are. With 50,000 classes that is 336 samples, where plain losses
# take the same time either way; of 128 samples all scores are quicker
LARGE = 2**24


def serve(learner: Learner, config: Config, count: int) -> bool:
    """Return whether the loss of a batch is to be computed in chunks: by sizes and the configuration alone.

    Args:
        learner: in training.
        config: of the run.
        count: how many rows of scores there would be.
    """
    model, criterion, scores = learner.model, learner.criterion, count * learner.criterion.output_dim
    if scores < LARGE or not isinstance(model, Network | Seq2Seq | Translation) or type(model.head) is not nn.Linear:
        return False
    # ranks must call what DistributedDataParallel wraps; autocast would make scores of half the size; a device would
    # be waited for with every step, and nothing was measured there
    if _distributed.world_size() > 1 or config.precision in HALF or not model.head.weight.is_cpu:
        return False
    plain = criterion.class_dim in (1, -1) and not criterion.dense_features and takes(criterion)
    return plain and _is_small(criterion, scores) and not _is_watched(learner, model, model.head, criterion)


def loss(learner: Learner, x: object, y: Tensor, extras: Mapping[str, Tensor]) -> Tensor:
    """Return what ``learner(x, y, **extras)`` returns, but for rounding."""
    model, criterion = learner.model, learner.criterion
    assert isinstance(model, Network | Seq2Seq | Translation)
    features = model.features(x)  # type: ignore[arg-type]
    given = {name: value for name, value in extras.items() if name in (*criterion.needs, "sample_weight")}
    return linear_loss(criterion, features, model.head.weight, model.head.bias, y, **given)


def _is_small(criterion: Criterion, scores: int) -> bool:
    """Return whether what a method learns is small beside the scores: its gradient is made for every few samples.

    With 50,000 classes a loss whose own numbers were half as many took 1.2 to 1.3 times as long for 0.5 of the memory
    or less, one whose numbers were twice as many 1.9 times for more. A full label matrix never is small: with 4,096
    classes and samples it was 2.7 times for 0.65.
    """
    own = [parameter for parameter in criterion.parameters() if parameter.requires_grad]
    full = (len(criterion.names),) * 2
    return 2 * sum(each.numel() for each in own) <= scores and all(each.shape != full for each in own)


def _is_watched(*modules: nn.Module) -> bool:
    """Return whether somebody wants to see calls of these modules, which are not made in chunks."""
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    everywhere = bool(_has_any_global_hook())  # type: ignore[no-untyped-call]
    return everywhere or any(getattr(module, name) for module in modules for name in hooks)
