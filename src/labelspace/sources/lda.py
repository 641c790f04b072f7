"""Relations from the data itself: where linear discriminant analysis puts the classes.

Letters: N samples, F features, K classes, λ discriminants. The data are not decomposed: the F×F scatter of the
samples around their class means is added up, some samples at a time, and everything else is done on that matrix
(or on the N×N one, when there are fewer samples than features).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from labelspace import _checks
from labelspace._inputs import Numbers
from labelspace.compressed.rows import chunks
from labelspace.space import LabelSpace

# singular values below this are directions the data do not have; the same number as scikit-learn's
RANK_TOLERANCE = 1e-4
# float32 products err by some 1e-7 of the largest eigenvalue: those under this share of it are measured again
NARROW = 1e-5
# numbers turned into float64 at once (2 MB, which stay in the cache), and the fewest rows worth a product
PART = 2**18
ROWS = 256

Samples = Tensor | NDArray[Any]


def lda(
    x: Numbers,
    y: Numbers,
    components: int | None = None,
    temperature: float = 1.0,
    names: Sequence[str] | None = None,
) -> LabelSpace:
    """Return relations from labelled samples: classes are related whose means are close on the discriminants.

    With v_k the mean of class k on the first λ discriminants, measured from the mean of all samples:
    ``d = 1 − cos(v_i, v_j)``, ``s = 1/(1 + exp(d/τ))``, zero diagonal, rows scaled to sum to 1. At τ = 1 the
    weights of a row differ by at most 4.2×; ``source["row_entropy"]`` says how flat each row is, in nats
    (``log(K−1)`` is quite flat).

    Args:
        x: samples, one per row; images are flattened. Whole numbers or floats, tensor or array.
        y: class index of each sample, from 0 to K−1; every class needs at least one sample.
        components: λ, from 1 to ``min(K−1, F)``, which is the default.
        temperature: τ; the paper's is 1, a smaller one sharpens the rows.
        names: class names in the order of the indices; numbers if left out.

    Shape:
        ``x (N, F)`` or ``(N, C, H, W)``, ``y (N,)``; the matrix is ``(K, K)``.

    Example:
        >>> x = [[0.0, 0.1], [0.1, 0.0], [1.0, 0.2], [1.1, 0.0], [9.0, 9.2], [9.1, 9.0]]
        >>> space = lda(x, [0, 0, 1, 1, 2, 2], names=["cat", "dog", "car"], temperature=0.1)
        >>> space.nearest("cat", k=1)[0][0]
        'dog'

    Reference:
        Mixed cross-entropy with a similarity prior, the prior built by linear discriminant analysis.
    """
    tau = _checks.number("lda", "temperature", temperature, low=0, open_low=True)
    samples = _samples(x)
    indices = _indices(y, len(samples))
    classes = _checks.class_names("lda", max(int(indices.max()) + 1, 1) if names is None else names)
    means = discriminant_means(samples, indices, classes, components)
    near = LabelSpace(classes, means, "vectors").relations(tau)
    parts = (near.rows(places).double() for places in chunks(len(near)))
    source = {
        "builder": "lda",
        "components": means.shape[1],
        "temperature": tau,
        "samples_per_class": torch.bincount(indices, minlength=len(classes)).tolist(),
        "row_entropy": torch.cat([torch.special.entr(rows).sum(dim=1) for rows in parts]).tolist(),
    }
    return LabelSpace(classes, near.matrix if near.rule is None else near.rule, "relations", source)


def discriminant_means(
    x: Numbers, y: Numbers, classes: int | Sequence[str], components: int | None = None
) -> Float[Tensor, "k c"]:
    """Return the class means on the first discriminants, measured from the mean of all samples, in float64.

    The same numbers, up to the sign of a column, as the class means of what scikit-learn's
    ``LinearDiscriminantAnalysis(solver="svd")`` makes of ``x``: features scaled by their standard deviation
    within classes, directions of singular value under 1e-4 left out, classes weighted by their frequency. A
    discriminant the data do not have (class means on one line, say) is a column of zeros.

    Args:
        x: samples as in ``lda``.
        y: class indices as in ``lda``.
        classes: K or the class names.
        components: λ; by default ``min(K−1, F)``.

    Example:
        >>> discriminant_means([[0.0], [2.0], [4.0], [6.0]], [0, 0, 1, 1], 2).abs()
        tensor([[2.],
                [2.]], dtype=torch.float64)
    """
    samples = _samples(x)
    names = _checks.class_names("lda", classes)
    indices = _indices(y, len(samples))
    counts = _counts(indices, names)
    wanted = _components(components, len(names), samples.shape[1])
    if isinstance(samples, Tensor):
        indices, counts = indices.to(samples.device), counts.to(samples.device)
    means = _class_means(samples, indices, counts)
    within = _Within(samples, indices, means, _inverse_spread(samples, indices, means))
    centres = (means - counts @ means / len(samples)) * within.inverse
    whiten = _whiten_by_samples if len(samples) < samples.shape[1] else _whiten_by_features
    return _discriminants(whiten(within, centres), counts, wanted).cpu()


def _samples(x: Numbers) -> Samples:
    """Return ``x`` as an (N, F) view, not yet as floats: that happens a part at a time."""
    if not isinstance(x, Tensor | np.ndarray):
        try:
            x = np.asarray(x)
        except (TypeError, ValueError) as error:
            raise _checks.fail_type("lda", "x", "an array of numbers", type(x).__name__) from error
    numeric = not x.is_complex() if isinstance(x, Tensor) else x.dtype.kind in "biuf"
    if not numeric:
        raise _checks.fail_type("lda", "x", "whole numbers or floats", f"dtype {x.dtype}")
    if x.ndim < 2 or 0 in x.shape:
        remedy = "A single feature is an (N, 1) array: x.reshape(-1, 1)." if x.ndim == 1 else ""
        raise _checks.fail("lda", "x", "samples × features", f"shape {tuple(x.shape)}", remedy)
    flat: Samples = _shared(x).reshape(len(x), -1)
    return flat


def _shared(x: Samples) -> Samples:
    """Return an array as a tensor on the same memory where it can be: torch converts faster than numpy."""
    if isinstance(x, Tensor):
        return x.detach()
    try:
        # torch warns about memory that cannot be written to, although nothing here writes
        return torch.from_numpy(x) if x.flags.writeable else x
    except (TypeError, ValueError):  # a byte order, stride or precision that torch has not
        return x


def _indices(y: Numbers, samples: int) -> Int[Tensor, " n"]:
    array = y.detach().cpu().numpy() if isinstance(y, Tensor) else np.asarray(y)
    if array.dtype.kind not in "iu":
        remedy = "numpy.unique(y, return_inverse=True) turns labels of any kind into names and indices."
        raise _checks.fail_type("lda", "y", "class indices (whole numbers)", f"dtype {array.dtype}", remedy)
    if array.shape != (samples,):
        raise _checks.fail("lda", "y", f"of shape ({samples},), one per row of `x`", f"shape {array.shape}")
    # a copy, so that arrays that cannot be written to do as well
    return torch.from_numpy(array.astype(np.int64))


def _counts(indices: Int[Tensor, " n"], names: Sequence[str]) -> Float[Tensor, " k"]:
    """Return the number of samples of each class, after checking that there are classes to tell apart."""
    classes = len(names)
    outside = indices[(indices < 0) | (indices >= classes)]
    if len(outside):
        remedy = "Give one name per class in `names`."
        raise _checks.fail("lda", "y", f"class indices from 0 to {classes - 1}", int(outside[0]), remedy)
    if classes < 2:
        raise _checks.fail("lda", "y", "indices of at least 2 classes", f"{classes} class")
    counts = torch.bincount(indices, minlength=classes)
    if bool((counts == 0).any()):
        empty = int((counts == 0).nonzero()[0])
        remedy = "Add samples of it, or leave the class out and number the others without a gap."
        got = f"no sample of class {empty} ({names[empty]!r})"
        raise _checks.fail("lda", "y", "at least one sample of every class", got, remedy)
    return counts.double()


def _components(components: int | None, classes: int, features: int) -> int:
    most = min(classes - 1, features)
    wanted = most if components is None else _checks.whole("lda", "components", components, low=1)
    if wanted > most:
        raise _checks.fail("lda", "components", f"from 1 to min(classes − 1, features) = {most}", wanted)
    return wanted


def _slices(length: int, width: int) -> Iterator[slice]:
    """Yield slices that cover ``length`` rows of ``width`` numbers each, one part at a time."""
    step = max(ROWS, PART // width)
    return (slice(start, start + step) for start in range(0, length, step))


def _part(samples: Samples, rows: slice, columns: slice = slice(None)) -> Float[Tensor, "n f"]:
    """Return some of the samples in float64, as a copy that may be written to."""
    if isinstance(samples, Tensor):
        return samples[rows, columns].to(torch.float64, copy=True)
    return torch.from_numpy(samples[rows, columns].astype(np.float64))


def _class_means(samples: Samples, indices: Int[Tensor, " n"], counts: Float[Tensor, " k"]) -> Float[Tensor, "k f"]:
    # Sums are taken of what remains after the first sample of the class: a feature that is constant within a
    # class then has exactly its value as mean; a plain sum would leave rounding that looks like variation.
    order = torch.arange(len(indices), device=indices.device)
    first = torch.full_like(counts, len(indices), dtype=torch.int64).scatter_reduce_(0, indices, order, "amin")
    origin = torch.cat([_part(samples, slice(row, row + 1)) for row in first.tolist()])
    sums = torch.zeros_like(origin)
    for rows in _slices(*samples.shape):
        chosen = indices[rows]
        sums.index_add_(0, chosen, _part(samples, rows).sub_(origin[chosen]))
    if not bool(torch.isfinite(sums).all()):
        raise _not_finite(samples)
    return origin + sums / counts[:, None]


def _not_finite(samples: Samples) -> ValueError:
    """Return the error that says where the first number is that is not one."""
    for rows in _slices(*samples.shape):
        part = _part(samples, rows)
        bad = (~torch.isfinite(part)).nonzero()
        if len(bad):
            row, column = bad[0].tolist()
            got = f"{part[row, column].item()} in sample {rows.start + row}, feature {column}"
            return _checks.fail("lda", "x", "finite", got, "Fill in or drop such samples first.")
    return _checks.fail("lda", "x", "small enough to add up in float64", "sums that overflow", "Rescale `x`.")


def _inverse_spread(samples: Samples, indices: Int[Tensor, " n"], means: Float[Tensor, "k f"]) -> Float[Tensor, " f"]:
    """Return 1/standard deviation within classes of each feature; 0 for a feature that never varies there."""
    squares = torch.zeros_like(means[0])
    for rows in _slices(*samples.shape):
        squares += _part(samples, rows).sub_(means[indices[rows]]).square_().sum(dim=0)
    if not bool((squares > 0).any()):
        remedy = "Give more than one sample per class, and features that vary."
        raise _checks.fail("lda", "x", "varying within classes", "features that are all constant there", remedy)
    return torch.where(squares > 0, (squares / len(samples)).rsqrt(), 0)


@dataclass(frozen=True)
class _Within:
    """Z: the samples around their class mean, in standard deviations; read in parts, never held whole."""

    samples: Samples
    indices: Int[Tensor, " n"]
    means: Float[Tensor, "k f"]
    inverse: Float[Tensor, " f"]

    def rows(self) -> Iterator[Float[Tensor, "n f"]]:
        for rows in _slices(*self.samples.shape):
            yield _part(self.samples, rows).sub_(self.means[self.indices[rows]]).mul_(self.inverse)

    def scatter(self, dtype: torch.dtype) -> Float[Tensor, "f f"]:
        """Return ``ZᵀZ/N``: products in ``dtype``, sums over parts in float64."""
        features = len(self.inverse)
        total = self.inverse.new_zeros(features, features)
        width = max(64, -(-features // 3))
        for part in self.rows():
            numbers = part.to(dtype)
            # only blocks on and above the diagonal: two thirds of the work, the rest is their mirror image
            for start in range(0, features, width):
                block = slice(start, start + width)
                total[block, start:] += numbers[:, block].T @ numbers[:, start:]
        total = (total.triu() + total.triu(1).T) / len(self.samples)
        # A constant feature has variance 0 and centres 0. Variance 1 instead changes nothing in the result, and
        # keeps it from the narrow directions, which cost time.
        total.diagonal()[self.inverse == 0] = 1
        return total

    def scatter_times(self, directions: Float[Tensor, "f b"]) -> Float[Tensor, "f b"]:
        """Return ``ZᵀZ/N · directions`` in float64."""
        total = torch.zeros_like(directions)
        for part in self.rows():
            total.addmm_(part.T, part @ directions)
        return total / len(self.samples)


def _whiten_by_features(within: _Within, centres: Float[Tensor, "k f"]) -> Float[Tensor, "k r"]:
    """Return the centres in the directions of the scatter within classes, each scaled to unit variance."""
    single = str(within.samples.dtype).removeprefix("torch.") in ("float32", "float16", "bfloat16")
    values, vectors = torch.linalg.eigh(within.scatter(torch.float32 if single else torch.float64))
    narrow = int((values < NARROW * values[-1]).sum())
    if single and narrow * 4 > len(values):
        values, vectors = torch.linalg.eigh(within.scatter(torch.float64))
    elif single and narrow > 0:
        values, vectors = _measured_again(values, vectors, within.scatter_times(vectors[:, :narrow]))
    kept = values > RANK_TOLERANCE**2
    return torch.div(centres @ vectors[:, kept], values[kept].sqrt())


def _measured_again(
    values: Float[Tensor, " f"], vectors: Float[Tensor, "f f"], products: Float[Tensor, "f b"]
) -> tuple[Float[Tensor, " f"], Float[Tensor, "f f"]]:
    """Return variances and directions of the scatter with the b narrowest taken from float64 products.

    In the basis of the float32 eigenvectors Q the scatter is ``diag(values)`` up to float32 errors. They would
    swamp the narrow directions (collinear features, pixels lit once), whose rows and columns are replaced by
    ``Qᵀ · scatter · Q_narrow`` in float64; in the other directions they are far below the values themselves.
    What is left of ``diag(values)`` beside these rows is removed by elimination, so that the directions returned
    are uncorrelated, which is all that whitening needs; they are orthogonal only up to float32 errors.
    """
    narrow = products.shape[1]
    replaced = vectors.T @ products
    shares = replaced[narrow:] / values[narrow:, None]
    remaining = replaced[:narrow] - replaced[narrow:].T @ shares
    variances, rotation = torch.linalg.eigh((remaining + remaining.T) / 2)
    directions = (vectors[:, :narrow] - vectors[:, narrow:] @ shares) @ rotation
    return torch.cat([variances, values[narrow:]]), torch.cat([directions, vectors[:, narrow:]], dim=1)


def _whiten_by_samples(within: _Within, centres: Float[Tensor, "k f"]) -> Float[Tensor, "k r"]:
    """Return what ``_whiten_by_features`` returns, from the N×N products of samples.

    With ``Z/√N = U S Vᵀ`` the wanted ``C V S⁻¹`` equals ``(C Zᵀ/√N) U S⁻²``, and S², U come from ``Z Zᵀ/N``.
    """
    number, features = within.samples.shape
    products, crossed = centres.new_zeros(number, number), centres.new_zeros(len(centres), number)
    for columns in _slices(features, number):
        part = _part(within.samples, slice(None), columns)
        part.sub_(within.means[:, columns][within.indices]).mul_(within.inverse[columns])
        products.addmm_(part, part.T)
        crossed.addmm_(centres[:, columns], part.T)
    values, vectors = torch.linalg.eigh(products / number)
    kept = values > RANK_TOLERANCE**2
    return torch.div(crossed @ vectors[:, kept], values[kept] * number**0.5)


def _discriminants(
    whitened: Float[Tensor, "k r"], counts: Float[Tensor, " k"], components: int
) -> Float[Tensor, "k c"]:
    """Return the centres on the directions in which the classes, weighted by size, lie furthest apart."""
    weights = (counts / (len(counts) - 1)).sqrt()
    _, strengths, directions = torch.linalg.svd(weights[:, None] * whitened, full_matrices=False)
    found = strengths[:components] > RANK_TOLERANCE * strengths[0]
    projected = (whitened @ directions[:components].T) * found
    return torch.nn.functional.pad(projected, (0, components - projected.shape[1]))
