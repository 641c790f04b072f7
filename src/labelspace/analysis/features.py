"""What any layer of a network makes of samples: activations to be compared, averaged by class, or drawn on a plane."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float
from torch import Tensor, nn

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace._packages import optional

BATCH = 250
LISTED = 60  # names in a message


def layer_names(model: nn.Module) -> tuple[str, ...]:
    """Return the names of the layers of a network, as ``torch.nn.Module.named_modules`` gives them.

    Example:
        >>> layer_names(nn.Sequential(nn.Linear(4, 3), nn.ReLU()))
        ('0', '1')
    """
    return tuple(name for name, _ in model.named_modules() if name)


def layer_features(model: nn.Module, x: Tensor, layer: str, batch: int = BATCH) -> Float[Tensor, "n f"]:
    """Return the activations of a named layer, one flat row per sample, for NAA, centre distances and projections.

    The network is in evaluation mode meanwhile and comes back as it was. Of a layer that gives several tensors the
    first is taken; of one that is used several times in a pass, the last. For a finished run, ``run.features(x,
    layer=…)`` prepares samples as well.

    Args:
        model: any network.
        x: samples as the network takes them.
        layer: a name of ``layer_names(model)``.
        batch: samples at a time.

    Shape:
        ``x (N, …)`` to ``(N, F)``: maps and sequences are flattened.

    Example:
        >>> network = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
        >>> layer_features(network, torch.zeros(5, 4), "1").shape
        torch.Size([5, 3])

    Reference:
        The paper on semantic target smoothing compares classes in several layers.
    """
    if not isinstance(model, nn.Module):
        raise _checks.fail_type("layer_features", "model", "a torch module", type(model).__name__)
    if not isinstance(x, Tensor) or not x.ndim or not len(x):
        got = f"shape {tuple(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
        raise _checks.fail_type("layer_features", "x", "a tensor with a row per sample", got)
    size, was_training = _checks.whole("layer_features", "batch", batch, low=1), model.training
    model.eval()
    try:
        with torch.no_grad():
            return torch.cat([activations("layer_features", model, part, layer) for part in torch.split(x, size)])
    finally:
        model.train(was_training)


def activations(owner: str, model: nn.Module, x: Tensor, layer: str) -> Float[Tensor, "n f"]:
    """Return the activations of a layer for one batch, flattened."""
    with _kept(owner, model, layer) as kept:
        model(x)
    if not kept:
        remedy = "It is part of the network, but a call does not use it."
        raise _checks.fail(owner, "layer", "a layer that samples pass", repr(layer), remedy)
    found = _first(kept[-1])
    if found is None or not found.ndim or len(found) != len(x):
        got = "no tensor" if found is None else f"shape {tuple(found.shape)} for {len(x)} samples"
        raise _checks.fail(owner, "layer", "a layer with a row of activations per sample", f"{layer!r}, {got}")
    return found.flatten(1) if found.ndim > 1 else found[:, None]


@contextmanager
def _kept(owner: str, model: nn.Module, layer: str) -> Iterator[list[object]]:
    known = dict(model.named_modules())
    if not isinstance(layer, str) or not layer or layer not in known:
        raise _unknown(owner, layer, layer_names(model))
    kept: list[object] = []
    handle = known[layer].register_forward_hook(lambda module, given, output: kept.append(output))
    try:
        yield kept
    finally:
        handle.remove()


def _unknown(owner: str, layer: object, names: tuple[str, ...]) -> ValueError:
    shown = ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")
    expected = "the name of a layer" if names else "left out: this network has no named layers"
    return _checks.fail(owner, "layer", expected, repr(layer), f"The layers are: {shown}." if names else "")


def _first(output: object) -> Tensor | None:
    if isinstance(output, Tensor):
        return output
    parts = output.values() if isinstance(output, dict) else output if isinstance(output, list | tuple) else ()
    return next((part for part in parts if isinstance(part, Tensor)), None)


FIRST = 50  # t-SNE gets this many principal components at most, as the paper has it


def projection(features: Numbers, method: str = "pca", seed: int = 0, perplexity: float = 30.0) -> Float[Tensor, "n 2"]:
    """Return two coordinates per sample.

    ``"pca"`` keeps the two directions of largest variance. ``"tsne"`` keeps neighbourhoods (distances between far
    clusters mean nothing); more than 50 features are first brought to 50 by PCA. It needs scikit-learn, from
    ``pip install "labelspace[compare]"``. The same input, seed and machine give the same picture.

    Args:
        features: activations, one row per sample, or the rows of a label matrix.
        method: ``"pca"`` or ``"tsne"``.
        seed: of t-SNE.
        perplexity: of t-SNE, about the number of neighbours a sample has; lowered to ``(N − 1)/3`` for few samples.

    Shape:
        ``(N, F)`` to ``(N, 2)``, float32; N ≥ 2. A single feature leaves the second coordinate of PCA at 0.

    Example:
        >>> projection([[0.0, 0.0, 1.0], [3.0, 4.0, 1.0], [6.0, 8.0, 1.0]])[:, 0].abs()  # a line, steps of 5
        tensor([5., 0., 5.])

    Reference:
        Figure 1 of the paper on semantic target smoothing (PCA to 50, then t-SNE).
    """
    _checks.choice("projection", "method", method, ["pca", "tsne"])
    start = _inputs.seed("projection", seed)
    width = _checks.number("projection", "perplexity", perplexity, low=0, open_low=True)
    rows = _inputs.matrix("projection", "features", features)
    if len(rows) < 2 or bool((rows == rows[0]).all()):
        got = "1 sample" if len(rows) < 2 else "samples that are all the same"
        raise _checks.fail("projection", "features", "of samples that differ", got)
    if method == "pca":
        plane = _components(rows, 2)
    else:
        plane = _neighbourhoods(rows if rows.shape[1] <= FIRST else _components(rows, FIRST), start, width)
    return torch.nn.functional.pad(plane, (0, 2 - plane.shape[1])).float()


def _components(rows: Float[Tensor, "n f"], most: int) -> Float[Tensor, "n c"]:
    """Return coordinates on the directions of largest variance, each turned so that its largest entry is positive."""
    from scipy.linalg import eigh

    centred = rows - rows.mean(dim=0)
    # XᵀX or XXᵀ, whichever is smaller: their eigenvalues are the same, and the vectors of either give the coordinates
    tall = rows.shape[0] > rows.shape[1]
    products = centred.T @ centred if tall else centred @ centred.T
    last = len(products) - 1
    first = max(last + 1 - most, 0)
    values, vectors = map(torch.from_numpy, eigh(products.numpy(), subset_by_index=(first, last)))
    entries = vectors if tall else centred.T @ vectors
    turned = entries.gather(0, entries.abs().argmax(dim=0, keepdim=True)).sign()
    coordinates = centred @ vectors if tall else vectors * values.clamp(min=0).sqrt()
    return (coordinates * turned).flip(1)


def _neighbourhoods(rows: Float[Tensor, "n f"], seed: int, perplexity: float) -> Float[Tensor, "n 2"]:
    manifold = optional("projection with method='tsne'", "sklearn.manifold", "compare")
    # starting from the principal components keeps the overall layout, but there must be two of them
    start = "pca" if min(rows.shape) >= 2 else "random"
    within = min(perplexity, max((len(rows) - 1) / 3, 1e-3))
    model = manifold.TSNE(n_components=2, init=start, perplexity=within, random_state=seed)
    return torch.from_numpy(model.fit_transform(rows.numpy()))
