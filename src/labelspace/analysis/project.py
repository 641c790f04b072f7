"""Features on a plane, to look at."""

import torch
from jaxtyping import Float
from torch import Tensor

from labelspace import _checks, _inputs
from labelspace._inputs import Numbers
from labelspace._packages import optional

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
