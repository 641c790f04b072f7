"""Arrays in NPY and NPZ files: read when they are asked for, and only if they are what their heads announce."""

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO, NamedTuple, final

import numpy as np

from labelspace import _checks, _opening
from labelspace._opening import Asked, check_unpacked
from labelspace.data.digests import Array
from labelspace.data.files import OWNER

HEADS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class Head(NamedTuple):
    """What an NPY file says that it holds."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def head(file: BinaryIO, size: int) -> Head:
    """Return what a file of so many bytes holds, after checking that it does; nothing is allocated for it.

    Args:
        file: at its beginning.
        size: how many bytes it has.
    """
    version = np.lib.format.read_magic(file)
    if version not in HEADS:
        raise ValueError(f"version {version[0]}.{version[1]} of the NPY format, which plain arrays do not need")
    try:
        shape, _, dtype = HEADS[version](file)
    except (SyntaxError, TokenError, TypeError, OverflowError, RecursionError) as error:  # beside numpy's ValueError
        raise ValueError(f"no head of an NPY file ({error})") from error
    if dtype.hasobject:
        raise ValueError("an array of Python objects, which only a pickle can hold")
    announced = file.tell() + prod(shape) * dtype.itemsize
    if any(length < 0 for length in shape) or announced != size:
        raise ValueError(f"{size:,} bytes where an array of shape {shape} and type {dtype} takes {announced:,}")
    return Head(shape, dtype)


def read(path: Path) -> Array:
    """Return the array of an NPY file."""
    with path.open("rb") as file:
        head(file, path.stat().st_size)
        file.seek(0)
        array: Array = np.lib.format.read_array(file, allow_pickle=False)
        return array


@final
class Stored(Mapping[str, Array]):
    """The arrays of an NPZ file, or of a folder of NPY files, by name; each is read when it is asked for.

    Args:
        path: the file or folder.
        owner: whose argument it is, for messages.
        argument: that argument.
    """

    def __init__(self, path: Path, owner: str = OWNER, argument: str = "name_or_path") -> None:
        """Look what there is."""
        self.path, self.owner, self.argument = path, owner, argument
        if path.is_dir():
            self.files = {file.stem: file.name for file in sorted(path.glob("*.npy"))}
            return
        _opening.check_regular(owner, argument, path)
        with self._sound(), zipfile.ZipFile(path) as archive:
            self.files = {name.removesuffix(".npy"): name for name in archive.namelist()}

    def __getitem__(self, name: str) -> Array:
        """Read an array."""
        self.shape(name)
        with self._opened(name) as (file, _):
            array: Array = np.lib.format.read_array(file, allow_pickle=False)
            return array

    def __contains__(self, name: object) -> bool:
        """Return whether there is an array of this name, without reading it."""
        return name in self.files

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self.files)

    def __len__(self) -> int:
        """Return how many arrays there are."""
        return len(self.files)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of an array, whose head was read and found right."""
        with self._opened(name) as (file, size):
            return head(file, size).shape

    @contextmanager
    def _opened(self, name: str) -> Iterator[tuple[BinaryIO, int]]:
        """Give the file of an array, and how many bytes it has, after checking that so many may be unpacked."""
        inside = self.files[name]
        if self.path.is_dir():
            _opening.check_regular(self.owner, self.argument, self.path / inside)
            with self._sound(), (self.path / inside).open("rb") as plain:
                yield plain, (self.path / inside).stat().st_size
            return
        with self._sound(), zipfile.ZipFile(self.path) as archive:
            about = archive.getinfo(inside)
        sizes = (about.file_size, about.compress_size)
        check_unpacked(self.path, *sizes, Asked(self.owner, self.argument), what=f"an array {name!r}")
        with self._sound(), zipfile.ZipFile(self.path) as archive, archive.open(about) as packed:
            yield packed, about.file_size  # type: ignore[misc]

    @contextmanager
    def _sound(self) -> Iterator[None]:
        try:
            yield
        except MemoryError:
            raise
        except Exception as error:  # zipfile, zlib, tokenize and numpy each raise their own for a damaged file
            expected = f"{'a folder of NPY files' if self.path.is_dir() else 'an NPZ file'} of plain arrays"
            got = f"{self.path.name}: {str(error) or type(error).__name__}"
            remedy = "Save numbers or texts, not objects, with numpy.savez; pickled data is refused."
            raise _checks.fail(self.owner, self.argument, expected, got, remedy) from error
