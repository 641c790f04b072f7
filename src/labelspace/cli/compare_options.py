"""What people type after `labelspace compare`: options of methods, seeds, and any other setting of its plan."""

from collections.abc import Collection
from typing import Any

from labelspace import _checks
from labelspace.cli.options import parsed_options

OTHER_FLAGS = {"method_options": "--option", "data_options": "--data-option", "probabilities": "--inverted"}


def of_methods(texts: list[str]) -> dict[str, dict[str, Any]]:
    """Read ``METHOD.NAME=VALUE`` texts.

    Example:
        >>> of_methods(["lwal.dim=100", "lwal.repel=10", "mixed.learn=class"])
        {'lwal': {'dim': 100, 'repel': 10}, 'mixed': {'learn': 'class'}}
    """
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        parsed = parsed_options([text], "--option", "lwal.dim=100")
        for place, value in parsed.items():
            # a name may hold a dot, an option does not
            method, dot, name = place.rpartition(".")
            if not dot or not method or not name:
                remedy = "For example --option lwal.dim=100."
                raise _checks.fail("", "--option", "METHOD.NAME=VALUE", repr(text), remedy)
            if name in found.setdefault(method, {}):
                raise _checks.fail("", "--option", "given once for each option", f"{place} twice")
            found[method][name] = value
    return found


def of_settings(texts: list[str], flags: Collection[str]) -> dict[str, Any]:
    """Read ``NAME=VALUE`` texts of fields of a plan.

    Args:
        texts: what was typed.
        flags: names that have a flag of their own.
    """
    from labelspace.comparison.plan import OWN, TRAINING

    found = parsed_options(texts, "--set", "head_l2=0.1")
    for name in found:
        if name in flags and name in (*OWN, *TRAINING):
            instead = OTHER_FLAGS.get(name, f"--{name.replace('_', '-')}")
            raise _checks.fail("", f"--set {name}", f"left out: it is {instead}", "it")
        _checks.choice("", "--set", name, [each for each in (*TRAINING, *OWN) if each not in flags])
    return found


def seeds_of(text: str) -> int | list[int]:
    """Read a number of seeds, or seeds with commas between.

    Example:
        >>> seeds_of("6"), seeds_of("12, 123"), seeds_of("12,")
        (6, [12, 123], [12])
    """
    parts = [part.strip() for part in text.split(",")]
    listed = parts[:-1] if len(parts) > 1 and not parts[-1] else parts
    try:
        numbers = [int(part) for part in listed]
    except ValueError as error:
        raise _checks.fail("", "--seeds", "a number of seeds, or seeds such as 12,123,1234", repr(text)) from error
    return numbers if len(parts) > 1 else numbers[0]
