"""What people bring along: methods and models that they register, give as objects, or install as packages."""

import functools
import hashlib
import inspect
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import nn

from labelspace import _checks

PLAIN = (str, int, float, bool, bytes, type(None))
OF_MODULES = frozenset(vars(nn.Module()))
BEGAN = time.time()


class Plugin(NamedTuple):
    """Something under its name."""

    group: str
    name: str
    content: Any
    key: str


class Plugins:
    """The plug-ins of one kind: what was registered in this process, and what installed packages offer.

    Args:
        group: of the entry points.
        what: one of them, in words.
        taken: tells whether a name is one of ours.
        version: of the code behind a name of ours, where another release of it would compute something else.
    """

    def __init__(
        self, group: str, what: str, taken: Callable[[str], bool], version: Callable[[str], str] = lambda name: ""
    ) -> None:
        """Begin with nothing."""
        self.group, self.what, self.taken, self.version = group, what, taken, version
        self.registered: dict[str, Plugin] = {}
        self.loaded: dict[str, Plugin] = {}
        ALL[group] = self

    def add(self, owner: str, name: str, content: object) -> str:
        """Register something under a name of its own and return the name; the same thing again changes nothing."""
        if not isinstance(name, str) or not name or "=" in name or "," in name or name != name.strip():
            expected = f"a name for a {self.what}: text without commas and '='"
            raise _checks.fail(owner, "name", expected, repr(name))
        key = content_key(content)
        known = self.registered.get(name)
        if self.taken(name) or (known is not None and known.key != key and not _is_same(known.content, content)):
            remedy = "Choose another one."
            raise _checks.fail(owner, "name", f"a name that no {self.what} has", f"{name!r}, which is taken", remedy)
        self.registered[name] = Plugin(self.group, name, content, key)
        return name

    def give(self, owner: str, content: object, label: str) -> str:
        """Register an object that has no name under one that is made of its content."""
        return self.add(owner, f"given-{label}-{content_key(content)}", content)

    def names(self) -> tuple[str, ...]:
        """Return the names of all of them; nothing is imported for it."""
        return tuple(sorted({*self.registered, *(each.name for each in _offered(self.group))}))

    def find(self, name: str) -> Plugin | None:
        """Return the plug-in of a name; what an installed package offers is imported now."""
        known = self.registered.get(name) or self.loaded.get(name)
        if known is not None:
            return known
        for offered in _offered(self.group):
            if offered.name != name:
                continue
            try:
                content = offered.load()
            except Exception as error:  # the code of somebody else
                package = "an installed package" if offered.dist is None else f"the package {offered.dist.name!r}"
                got = f"{offered.value} of {package}, which fails: {type(error).__name__}: {_first_line(error)}"
                remedy = "Repair that package, or remove it."
                expected = "one that can be imported"
                raise _checks.fail("labelspace", f"{self.what} {name!r}", expected, got, remedy) from error
            # once: what has no digest of its own has one for as long as this process lives
            self.loaded[name] = Plugin(self.group, name, content, content_key(content))
            return self.loaded[name]
        return None

    def key(self, name: str) -> str:
        """Return the digest of a plug-in's content; for what is ours a release that matters, mostly none."""
        if self.taken(name):
            return self.version(name)
        plugin = self.find(name)
        return "" if plugin is None else plugin.key


ALL: dict[str, Plugins] = {}


@functools.cache  # every package on the path is looked at
def _offered(group: str) -> tuple[metadata.EntryPoint, ...]:
    return tuple(metadata.entry_points(group=group))


def code_key(names: Mapping[str, str]) -> str:
    """Return a digest of what is not ours among things of these names, by group; empty where everything is.

    Example:
        >>> code_key({"labelspace.methods": "onehot"})
        ''
    """
    return "-".join(filter(None, (ALL[group].key(name) for group, name in names.items() if group in ALL)))


def snapshot(names: Iterable[tuple[str, str]] | None = None) -> tuple[Plugin, ...]:
    """Return what was registered in this process, for a worker.

    Args:
        names: those it needs, each with its group before it; None for all.
    """
    registered = {(plugin.group, plugin.name): plugin for each in ALL.values() for plugin in each.registered.values()}
    wanted = sorted(set(names)) if names is not None else list(registered)
    return tuple(registered[name] for name in wanted if name in registered)


def install(plugins: Iterable[Plugin]) -> None:
    """Register in a worker what its parent had registered."""
    for plugin in plugins:
        ALL[plugin.group].registered[plugin.name] = plugin


def content_key(content: object) -> str:
    """Return a digest of what something does: the file that it is written in, what it holds and uses, its weights.

    Where that cannot be known (code typed at a prompt, a file that was edited since this process began, a function
    that holds or uses other objects) every call gives another digest, so that no run is taken for that of something
    else. Files that its file imports are not looked at.
    """
    digest = hashlib.blake2b(digest_size=6)
    for part in _parts(content):
        if part is None:
            return uuid.uuid4().hex[:12]
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _parts(content: object) -> Iterable[bytes | None]:
    if isinstance(content, nn.Module):
        yield _source(type(content))
        yield repr(content).encode()
        for module in content.modules():
            yield _source(type(module))
            yield _attributes(module)
            yield from _used(type(module))
        # buffers once more: those that are not saved are no less part of it
        for name, tensor in [*content.state_dict().items(), *content.named_buffers()]:
            yield name.encode() + tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    elif hasattr(content, "get_params") and not inspect.isclass(content):  # an estimator: what it is set to
        yield _source(type(content))
        for name, value in sorted(content.get_params().items()):
            inside = hasattr(value, "get_params")  # its own settings are among those of the whole
            yield f"{name}={type(value).__name__}".encode() if inside else _plain([name, _without_estimators(value)])
    elif isinstance(content, functools.partial):
        yield from _parts(content.func)
        yield _plain([*content.args, *sorted(content.keywords.items())])
    elif inspect.ismethod(content) or (inspect.isclass(content) and "<locals>" in content.__qualname__):
        yield None  # what the object holds, or the function that the class was made in
    else:
        yield _source(content)
        cells = getattr(content, "__closure__", None) or ()
        yield _plain([cell.cell_contents for cell in cells])
        yield _plain([*(getattr(content, "__defaults__", None) or ())])
        yield _plain([*sorted((getattr(content, "__kwdefaults__", None) or {}).items())])
        yield from _used(content)


def _without_estimators(value: object) -> object:
    """Return a setting; the steps of a pipeline by their names and classes."""
    if not isinstance(value, list) or not all(isinstance(each, tuple) for each in value):
        return value
    return [part if isinstance(part, PLAIN) else type(part).__name__ for each in value for part in each]


def _attributes(module: nn.Module) -> bytes | None:
    """Return what a module holds besides parameters, buffers and modules; torch's own say it in their text."""
    own = type(module).__module__.partition(".")[0] != "torch"
    parts = [part for part in sorted(vars(module).items()) if part[0] not in OF_MODULES]
    return _plain([part for part in parts if own or part[0][0] != "_"])


def _used(content: object, seen: frozenset[str] = frozenset()) -> Iterable[bytes | None]:
    """Yield the values of the globals that code uses: what it does depends on them as on what it holds."""
    functions = [content] if inspect.isfunction(content) else []
    if inspect.isclass(content) and content.__module__.partition(".")[0] not in ("torch", "labelspace"):
        functions = [part for part in vars(content).values() if inspect.isfunction(part)]
    for function in functions:
        for name, value in sorted(inspect.getclosurevars(function).globals.items()):
            if inspect.ismodule(value):
                yield f"{name}={value.__name__}".encode()
            elif inspect.isfunction(value) or inspect.isclass(value):
                place = f"{value.__module__}.{value.__qualname__}"
                yield f"{name}={place}".encode()
                # of the same file: its text is known, what it uses in turn is not
                if value.__module__ == function.__module__ and place not in seen:
                    yield from _used(value, seen | {place})
            else:
                text = _plain([value])
                yield None if text is None else name.encode() + b"=" + text


def _source(content: object) -> bytes | None:
    """Return the name of a class or function and the file that it is in."""
    try:
        code = cast(Callable[..., object], content)  # or it is a TypeError
        file = inspect.getsourcefile(code)
        if file is not None and Path(file).is_file() and Path(file).stat().st_mtime > BEGAN:
            return None  # what runs may be the text of before
        text = Path(file).read_bytes() if file is not None and Path(file).is_file() else None
        text = inspect.getsource(code).encode() if text is None else text
    except (OSError, TypeError):
        return None
    return getattr(content, "__qualname__", "").encode() + b"\0" + text


def _plain(values: Collection[object]) -> bytes | None:
    flat = [part for value in values for part in (value if isinstance(value, tuple | list) else (value,))]
    return repr(values).encode() if all(isinstance(value, PLAIN) for value in flat) else None


def _is_same(one: object, other: object) -> bool:
    """Return whether two things are one, or one that was defined again, as a cell of a notebook does."""
    if one is other:
        return True
    places = [(getattr(each, "__module__", None), getattr(each, "__qualname__", None)) for each in (one, other)]
    return places[0] == places[1] and None not in places[0] and "<" not in str(places[0][1])


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")
