"""Tiny-ImageNet as it is published: a folder, or the same in a tar file, which is read without unpacking it."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from labelspace import _checks
from labelspace.data import digests, files, images, labels
from labelspace.data.files import OWNER
from labelspace.data.found import Found
from labelspace.data.source import Source

SIZE = (64, 64)
ARCHIVES = (".tar", ".tar.gz", ".tgz")

# what is inside, by its place below the folder that holds train/ and val/
Tree = dict[str, Callable[[], bytes]]


def recognises(folder: Path) -> bool:
    """Return whether a folder is Tiny-ImageNet's, or holds nothing but its tar file."""
    return (folder / "wnids.txt").is_file() or (folder / "val" / "val_annotations.txt").is_file() or bool(_tars(folder))


def read(path: Path, *, names: str = "wnid", skip_unreadable: bool = False) -> Found:
    """Return the pictures of Tiny-ImageNet.

    The published test part has no labels. Its validation part is therefore the test part here, and validation is
    split from training.

    Args:
        path: the folder with ``train`` and ``val``, or a tar file of it (plain or gzipped), or a folder with that file.
        names: ``"wnid"`` (WordNet ids such as ``n02124075``) or ``"words"`` (from ``words.txt``). Either way the
            classes are in the order of their ids.
        skip_unreadable: leave unreadable pictures out, and count them in ``source``, instead of stopping.
    """
    _checks.choice(OWNER, "names", names, ("wnid", "words"))
    tree = _from_folder(path) if path.is_dir() else _from_tar(path)
    train = [(place, place.split("/")[1]) for place in _pictures(tree, "train")]
    test = _validation(tree)
    if not train or not test:
        expected = "Tiny-ImageNet: train/WNID/images/*.JPEG and val/images/*.JPEG with val/val_annotations.txt"
        raise _checks.fail(OWNER, "name_or_path", expected, f"{path}: {len(train)} and {len(test)} pictures")
    declared = _text(tree, "wnids.txt").split() or [label for _, label in train]
    y, wnids = labels.encode([label for _, label in train + test], sorted(set(declared)))
    pictures = [images.Picture(place, tree[place]) for place, _ in train + test]
    found = digests.of_bytes(picture.content() for picture in pictures)
    shown = wnids if names == "wnid" else _words(wnids, _text(tree, "words.txt"))
    wanted = images.Wanted(grey=False, size=SIZE, skip_unreadable=skip_unreadable)
    given = {"train": np.arange(len(train)), "test": np.arange(len(train), len(y))}
    source: Source = {"reader": "tiny_imagenet", "path": path.name, "options": {"names": names}}
    source["wnids"] = list(wnids)
    content = digests.of_values([picture.name for picture in pictures], found, y)
    return Found("images", y, shown, given, found, content, source, lambda o: images.take(pictures, found, wanted, o))


def _tars(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name.endswith(ARCHIVES)) if folder.is_dir() else []


def _from_folder(folder: Path) -> Tree:
    if not (folder / "train").is_dir():
        archives = _tars(folder)
        if len(archives) == 1:
            return _from_tar(archives[0])
        inner = folder / "tiny-imagenet-200"
        folder = inner if inner.is_dir() else folder
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in (".JPEG", ".txt"))
    return {path.relative_to(folder).as_posix(): path.read_bytes for path in paths}


def _from_tar(path: Path) -> Tree:
    members = files.members(path, lambda name: name.endswith((".JPEG", ".txt")))
    return dict(sorted((_below_root(name.split("/")), content) for name, content in members.items()))


def _below_root(parts: Sequence[str]) -> str:
    """Return a path without the folders before ``train``, ``val``, ``test`` or a list of names."""
    places = [parts.index(name) for name in ("train", "val", "test") if name in parts[:-1]]
    return "/".join(parts[min(places, default=len(parts) - 1) :])


def _pictures(tree: Tree, part: str) -> list[str]:
    return [place for place in tree if place.startswith(f"{part}/") and place.endswith(".JPEG")]


def _validation(tree: Tree) -> list[tuple[str, str]]:
    rows = [line.split("\t") for line in _text(tree, "val/val_annotations.txt").splitlines()]
    known = {row[0]: row[1] for row in rows if len(row) > 1}
    places = _pictures(tree, "val")
    if known:
        return [(place, known[name]) for place in places if (name := place.rpartition("/")[2]) in known]
    # some copies have been sorted into folders of classes
    return [(place, place.split("/")[1]) for place in places]


def _text(tree: Tree, place: str) -> str:
    return tree[place]().decode("utf-8", errors="replace") if place in tree else ""


def _words(wnids: tuple[str, ...], text: str) -> tuple[str, ...]:
    """Return the first word of each class; all of its words, then its id, where that is not unique."""
    table = dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    absent = [wnid for wnid in wnids if wnid not in table]
    if absent:
        got = f"no words for {len(absent)} classes (first: {absent[0]})"
        raise _checks.fail(OWNER, "names", '"wnid" where words.txt is absent or incomplete', got)
    names = [table[wnid].split(",")[0].strip() for wnid in wnids]
    for longer in ("{words}", "{words} ({wnid})"):
        counts = Counter(names)
        names = [
            longer.format(words=table[wnid].strip(), wnid=wnid) if counts[name] > 1 else name
            for name, wnid in zip(names, wnids, strict=True)
        ]
    return tuple(names)
