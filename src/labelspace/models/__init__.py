"""Networks by name; each call returns ``(output, features)``."""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)
from labelspace.models.backbones import Backbone, backbone
from labelspace.models.estimator_files import Untrusted
from labelspace.models.fitted import ESTIMATOR, FitError, Fitted, as_one
from labelspace.models.given import GivenNetwork
from labelspace.models.network import Network, count_parameters
from labelspace.models.registry import WITH_MAP, WRITERS, Built, build, is_fitted, names, rebuild, register_model
from labelspace.models.seen import fit_inputs
from labelspace.models.sentences import Longest, Sentences
from labelspace.models.seq2seq import Seq2Seq
from labelspace.models.translation import Translation

__all__ = [
    "ESTIMATOR",
    "WITH_MAP",
    "WRITERS",
    "Backbone",
    "Built",
    "FitError",
    "Fitted",
    "GivenNetwork",
    "Longest",
    "Network",
    "Sentences",
    "Seq2Seq",
    "Translation",
    "Untrusted",
    "as_one",
    "backbone",
    "build",
    "count_parameters",
    "fit_inputs",
    "is_fitted",
    "names",
    "rebuild",
    "register_model",
]
