"""Files of text in a folder or a tar file, by name, as lines: plain, gzipped, in UTF-8 or in UTF-16 with its mark."""

import gzip
import io
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from labelspace import _checks, _opening
from labelspace.data import files

ARCHIVES = (".tar", ".tar.gz", ".tgz")
BYTE_ORDER = "\ufeff"


@dataclass(frozen=True)
class TextFile:
    """A text: its name without ``.gz``, the file that holds it, and its bytes when they are asked for."""

    name: str
    path: Path
    content: Callable[[], bytes]

    def lines(self) -> list[str]:
        r"""Return its lines, which end with ``\n`` or ``\r\n`` and nothing else that Unicode counts as an end."""
        content = self.content()
        utf16 = content.startswith(_opening.UTF16)
        if not utf16 and b"\0" in content:
            remedy = f"It holds bytes that no text has. Put a text there, a sentence on each line: {self.path}"
            raise files.damaged(Path(self.name), "a file that is not text", remedy)
        try:
            text = content.decode("utf-16" if utf16 else "utf-8").removeprefix(BYTE_ORDER)
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise files.damaged(Path(self.name), f"text that is not UTF-8 (line {line})", self._remedy()) from error
        lines = text.split("\n")
        return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]

    def _remedy(self) -> str:
        if self.path.name.endswith(ARCHIVES):
            return f"Save it as UTF-8 and put it beside {self.path.name}: {self.path.parent}"
        return _opening.replaced_by_utf8(self.path, files.ASKED)


Tree = dict[str, TextFile]


def tree_of(path: Path) -> Tree:
    """Return the texts of a folder and of the tar files in it, of one tar file, or the one text that the file is.

    Args:
        path: folders below it are not looked into.
    """
    if path.is_dir():
        try:
            inside = sorted(entry for entry in path.iterdir() if not entry.name.startswith(files.HIDDEN))
        except OSError as error:
            got = f"{path} ({error.strerror})"
            raise _checks.fail(*files.ASKED, "a folder that can be read", got) from error
        archives = [entry for entry in inside if entry.is_file() and entry.name.endswith(ARCHIVES)]
        # a file of its own wins over one of the same name in a tar
        plain = [entry for entry in inside if entry.is_file() and entry not in archives]
        return {name: one for place in (*archives, *plain) for name, one in tree_of(place).items()}
    if path.name.endswith(ARCHIVES):
        return _of_archive(path)
    name = path.name.removesuffix(".gz")
    return {name: TextFile(name, path, partial(files.contents, path))}


def _of_archive(path: Path) -> Tree:
    """Return the texts of a tar file, plain or gzipped; two of one name may belong to different corpora."""
    found: Tree = {}
    places: dict[str, str] = {}
    for place, content in files.members(path, lambda name: True).items():
        name = place.rpartition("/")[2].removesuffix(".gz")
        if name.startswith(files.HIDDEN):
            continue
        if name in found:
            got = f"{path.name} with {places[name]} and {place}"
            raise _checks.fail(
                *files.ASKED, "a tar file whose texts have different names", got, "Take one of them out."
            )
        found[name], places[name] = TextFile(name, path, partial(_unpacked, place, content)), place
    return found


def _unpacked(place: str, content: Callable[[], bytes]) -> bytes:
    """Return the bytes of a file inside of a tar, unpacked if its name says that it is gzipped."""
    held, name = content(), Path(place)
    if not _opening.packed(name):
        return held
    try:
        with gzip.open(io.BytesIO(held), "rb") as file:
            found = file.read(_opening.may_unpack(len(held)) + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise files.damaged(name, str(error)) from error
    _opening.check_unpacked(name, len(found), len(held), files.ASKED)
    return found
