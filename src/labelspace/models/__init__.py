"""Networks by name; each call returns ``(output, features)``."""

from labelspace.models.backbones import Backbone, backbone
from labelspace.models.network import Network, count_parameters
from labelspace.models.registry import build, names

__all__ = ["Backbone", "Network", "backbone", "build", "count_parameters", "names"]
