"""Networks by name; each call returns ``(output, features)``."""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)
from labelspace.models.backbones import Backbone, backbone
from labelspace.models.given import GivenNetwork
from labelspace.models.network import Network, count_parameters
from labelspace.models.registry import WITH_MAP, WRITERS, Built, build, names, rebuild, register_model
from labelspace.models.sentences import Longest, Sentences
from labelspace.models.seq2seq import Seq2Seq
from labelspace.models.translation import Translation

__all__ = [
    "WITH_MAP",
    "WRITERS",
    "Backbone",
    "Built",
    "GivenNetwork",
    "Longest",
    "Network",
    "Sentences",
    "Seq2Seq",
    "Translation",
    "backbone",
    "build",
    "count_parameters",
    "names",
    "rebuild",
    "register_model",
]
