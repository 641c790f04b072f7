"""Packages beyond the five that the library needs: imported where they are used, explained where they are missing."""

import importlib
import importlib.metadata
import importlib.util
import re
from types import ModuleType

# what the extra `compare` brings, by import name
APPLICATION = {
    "jinja2": "jinja2",
    "joblib": "joblib",
    "markupsafe": "markupsafe",
    "PIL": "pillow",
    "pydantic": "pydantic",
    "pydantic_core": "pydantic-core",
    "yaml": "pyyaml",
    "rich": "rich",
    "sklearn": "scikit-learn",
    "skops": "skops",
    "threadpoolctl": "threadpoolctl",
    "typer": "typer",
}


def missing() -> str:
    """Return one line on what the application lacks and how to install it; empty where nothing is missing."""
    absent = [package for module, package in APPLICATION.items() if importlib.util.find_spec(module) is None]
    if not absent:
        return ""
    return (
        f"Data, models, training, comparing and the command line need {', '.join(absent)}, not installed here: "
        'pip install "labelspace[compare]"'
    )


def optional(owner: str, module: str, extra: str) -> ModuleType:
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
            absent = error.name.partition(".")[0]
            raise ImportError(
                f"{owner} needs the package {absent!r}, which is not installed. "
                f'Install it with: pip install "labelspace[{extra}]"'
            ) from error
        raise


def extras() -> dict[str, list[str]]:
    """Return the packages of each extra of labelspace by its name, in order, without those that gather others."""
    packages: dict[str, list[str]] = {}
    for text in requirements("labelspace"):
        match = re.match(r"([A-Za-z0-9_.-]+).*extra\s*==\s*['\"]([\w-]+)['\"]", text)
        if match and match[2] not in ("all", "dev") and match[1] != "labelspace":
            packages.setdefault(match[2], []).append(match[1])
    return dict(sorted(packages.items()))


def requirements(name: str) -> list[str]:
    """Return what an installed distribution requires, as it says so; nothing if it is not there."""
    try:
        return importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return []


def version(name: str) -> str | None:
    """Return the version of an installed distribution, None if it is not there."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


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
