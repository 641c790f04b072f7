"""What people give to ``train``: names or objects, with the options of all that takes part, as one configuration."""

from collections.abc import Mapping
from pathlib import Path

from labelspace import _checks, _distributed
from labelspace.criteria import criterion_class
from labelspace.criteria.registry import method_name
from labelspace.data.dataset import Dataset
from labelspace.data.given import as_dataset, data_options
from labelspace.models.registry import model_name
from labelspace.space import LabelSpace
from labelspace.training.config import FILLED_IN, Config, make_config


def asked(
    data: object, space: object, smoothing: float | None, options: Mapping[str, object]
) -> tuple[Config, Dataset | None, dict[str, LabelSpace]]:
    """Return the configuration, the data where they are in memory, and the method's options that are label spaces.

    Args:
        data: see ``train``.
        space: see ``train``.
        smoothing: see ``train``.
        options: see ``train``.

    Example:
        >>> config, dataset, spaces = asked("digits", "ordinal", 0.2, {"method": "semantic", "epochs": 3})
        >>> config.method_options, config.space, dataset
        ({'smoothing': 0.2}, 'ordinal', None)
    """
    given = dict(options)
    given.update(named_parts(given))
    for name in FILLED_IN:
        if name in given:
            raise _checks.fail("train", name, "left out: it is filled in", repr(given[name]))
    own = given.get("method_options", {})
    if smoothing is not None and isinstance(own, dict):
        own = {**own, "smoothing": smoothing}
    of_data = data_options("train", given)
    own, spaces = _taken_out(str(given.get("method", "onehot")), own)
    given |= {"data_options": of_data, "method_options": own}
    dataset = None if isinstance(data, str | Path) else as_dataset(data, of_data)
    name = str(data) if dataset is None else str(dataset.source.get("path", "given in Python"))
    named_space = str(space) if isinstance(space, str | Path) else None
    config = make_config(**given, data=name, space=named_space, world=_distributed.world_size())
    return config, dataset, spaces


def named_parts(options: Mapping[str, object]) -> dict[str, str]:
    """Return the names of a model and a method that were given as objects."""
    names = {"model": model_name, "method": method_name}
    return {part: name(options[part]) for part, name in names.items() if not isinstance(options.get(part, ""), str)}


def _taken_out(method: str, options: object) -> tuple[object, dict[str, LabelSpace]]:
    """Return the options as a configuration can hold them, and those that are label spaces."""
    if not isinstance(options, dict) or not any(isinstance(value, LabelSpace) for value in options.values()):
        return options, {}
    known = criterion_class(method).space_options
    spaces = {name: options[name] for name in known if isinstance(options.get(name), LabelSpace)}
    return {**options, **dict.fromkeys(spaces, "given in Python")}, spaces
