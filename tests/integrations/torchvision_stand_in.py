"""The few names of torchvision that timm imports, where the real one is not installed or does not load."""

import importlib.machinery
import sys
from types import ModuleType

PARTS = ("", ".ops", ".ops.misc", ".models", ".models.feature_extraction", ".datasets", ".transforms", ".utils")
DEEPER = (".transforms.functional",)


class _Named(type):
    """A class with whatever is asked of it: transforms and datasets that nothing here calls."""

    def __getattr__(cls, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return f"{cls.__name__}.{name}"


class _Module(ModuleType):
    __path__: list[str] = []

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Named(name, (), {})


def stand_in() -> None:
    """Let timm be imported: with the real torchvision where it loads, else with this."""
    try:
        import torchvision  # noqa: F401
    except Exception:
        for part in PARTS + DEEPER:
            name = f"torchvision{part}"
            sys.modules[name] = module = _Module(name)
            module.__spec__ = importlib.machinery.ModuleSpec(name, None)
            above, _, last = name.rpartition(".")
            if above:
                setattr(sys.modules[above], last, module)
