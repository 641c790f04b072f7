"""Imports of optional packages: what is missing or broken is explained, with the remedy."""

import importlib
from typing import Any


def optional(owner: str, module: str, extra: str) -> Any:
    """Return an imported module, or explain which extra to install or what is broken.

    Args:
        owner: what needs it, for the message.
        module: its import name.
        extra: the extra of labelspace that installs it.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except Exception as error:  # a broken torchvision raises RuntimeError, and what wraps it all sorts
        if any("torchvision::" in str(link) for link in _chain(error)):
            raise ImportError(
                f"{owner} needs the package {package!r}, which fails to import: the installed torchvision does not "
                f"match the installed torch ({_first_line(error)}). Install the matching pair (same release, same "
                "CPU or GPU build), or remove torchvision if nothing else needs it; `labelspace doctor` shows both."
            ) from error
        if isinstance(error, ModuleNotFoundError) and error.name:
            missing = error.name.partition(".")[0]
            raise ImportError(
                f"{owner} needs the package {missing!r}, which is not installed. "
                f'Install it with: pip install "labelspace[{extra}]"'
            ) from error
        raise


def _chain(error: BaseException) -> list[BaseException]:
    """Return an error and what it was raised from: transformers wraps the one that matters."""
    found: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in found:
        found.append(link)
        link = link.__cause__ or link.__context__
    return found


def _first_line(error: BaseException) -> str:
    return next(str(link) for link in _chain(error) if "torchvision::" in str(link)).splitlines()[0]
