"""Networks by name; each call returns ``(output, features)``."""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)
from labelspace.models.backbones import Backbone, backbone
from labelspace.models.fitted import fit_inputs
from labelspace.models.given import GivenNetwork
from labelspace.models.network import Network, count_parameters
from labelspace.models.registry import WITH_MAP, WRITERS, Built, build, names, rebuild, register_model
from labelspace.models.sentences import Sentences
from labelspace.models.seq2seq import Seq2Seq
from labelspace.models.translation import Translation

__all__ = [
    "WITH_MAP",
    "WRITERS",
    "Backbone",
    "Built",
    "GivenNetwork",
    "Network",
    "Sentences",
    "Seq2Seq",
    "Translation",
    "backbone",
    "build",
    "count_parameters",
    "fit_inputs",
    "names",
    "rebuild",
    "register_model",
]
