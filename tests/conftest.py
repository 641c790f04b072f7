"""Shapes in the types of the inner functions are checked in every test (and cost users nothing)."""

import torch
from hypothesis import settings
from jaxtyping import install_import_hook

# Installed before anything imports labelspace. Only the modules behind the public boundary: there a wrong type must
# reach the library's own message, not the type checker's.
install_import_hook(["labelspace.criteria.targets", "labelspace.criteria.divergences"], "beartype.beartype")

torch.set_num_threads(1)

# a busy machine makes single examples slow; pytest's own timeout guards against hanging
settings.register_profile("labelspace", deadline=None)
settings.load_profile("labelspace")
