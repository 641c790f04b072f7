"""Folders of this machine, and folders with links: every picture once, and an end."""

import os
import time
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from labelspace import data
from labelspace.data import files as folders
from labelspace.data.images import below as _listed


def save(folder, count, seed=0):
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng([seed, *folder.name.encode()])
    for number in range(count):
        Image.fromarray(generator.integers(0, 256, (4, 4), dtype=np.uint8)).save(folder / f"{number}.png")


def found(folder):
    return [place.as_posix() for place in _listed(folder)]


@pytest.mark.timeout(60)
def test_links_that_meet_again_and_again(tmp_path):
    names = [f"class{number:02d}" for number in range(40)]
    for name in names:
        save(tmp_path / name, 1)
    # two links from each to the next: 2^39 paths lead to the last
    for name, following in pairwise(names):
        for link in ("left", "right"):
            (tmp_path / name / link).symlink_to(tmp_path / following)
    started = time.monotonic()
    listed = found(tmp_path)
    assert time.monotonic() - started < 20
    # each class has its own picture and, once, those of all classes after it
    assert len(listed) == len(set(listed)) == 40 * 41 // 2
    assert sum(place.startswith("class39/") for place in listed) == 1
    assert sum(place.startswith("class00/") for place in listed) == 40


def test_circles_end(tmp_path):
    for name in ("a", "b"):
        save(tmp_path / "photos" / name, 6)
    (tmp_path / "photos" / "a" / "me").symlink_to(tmp_path / "photos" / "a")
    (tmp_path / "photos" / "a" / "all").symlink_to(tmp_path / "photos")
    (tmp_path / "photos" / "b" / "above").symlink_to(tmp_path)
    (tmp_path / "photos" / "b" / "root").symlink_to("/")
    os.symlink("again", tmp_path / "photos" / "b" / "again")
    assert found(tmp_path / "photos") == [f"{name}/{number}.png" for name in "ab" for number in range(6)]
    assert sum(data.load(tmp_path / "photos").source["counts"].values()) == 12


def test_a_sibling_whose_name_begins_alike_is_no_ancestor(tmp_path):
    save(tmp_path / "data", 12)
    save(tmp_path / "data-links" / "dog", 12, seed=1)
    (tmp_path / "data-links" / "cat").symlink_to(tmp_path / "data")
    assert len(found(tmp_path / "data-links")) == 24
    assert data.load(tmp_path / "data-links").names == ("cat", "dog")


def test_a_class_may_hold_a_link_to_another(tmp_path):
    save(tmp_path / "cats", 3)
    save(tmp_path / "cats-new", 2)
    (tmp_path / "cats-new" / "older").symlink_to(tmp_path / "cats")
    (tmp_path / "cats-new" / "same").symlink_to(tmp_path / "cats")
    inside = [f"cats-new/older/{number}.png" for number in range(3)]
    own = [f"{name}/{number}.png" for name, count in (("cats-new", 2), ("cats", 3)) for number in range(count)]
    assert sorted(found(tmp_path)) == sorted([*inside, *own])


def test_a_folder_keeps_its_name_where_a_link_leads_to_it(tmp_path):
    save(tmp_path / "cat" / "zebra", 2)
    (tmp_path / "cat" / "apple").symlink_to(tmp_path / "cat" / "zebra")
    assert found(tmp_path) == ["cat/zebra/0.png", "cat/zebra/1.png"]


def test_a_validation_part_that_is_a_link_to_the_test_part(tmp_path):
    for part, seed in (("train", 0), ("test", 1)):
        for name in ("a", "b"):
            save(tmp_path / part / name, 5, seed)
    (tmp_path / "val").symlink_to(tmp_path / "test")
    with pytest.warns(UserWarning, match="same content"):
        counts = data.load(tmp_path).source["counts"]
    assert counts == {"train": 10, "validation": 10, "test": 10}


def test_a_link_that_leads_nowhere_is_told(pictures):
    (pictures / "cat" / "lost.png").symlink_to(pictures / "nowhere.png")
    with pytest.raises(ValueError, match=r"cat/lost.png \(No such file"):
        data.load(pictures)
    assert data.load(pictures, skip_unreadable=True).source["skipped"]["count"] == 1


def test_a_folder_that_cannot_be_read_is_told(pictures, monkeypatch):
    entries = os.scandir

    def refused(folder):
        if os.fspath(folder).endswith("dog"):
            raise PermissionError(13, "Permission denied")
        return entries(folder)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(ValueError, match=r"a folder that can be read. Got .*dog \(Permission denied\)"):
        data.load(pictures)


def test_class_folders_that_are_not_unicode(pictures):
    os.rename(pictures / "dog", os.fsencode(pictures) + b"/do\xe9")
    with pytest.raises(ValueError, match=r"Unicode text. Got 'do\\udce9'. Rename the class, or the folder"):
        data.load(pictures)


def test_pictures_and_folders_that_are_not_unicode(pictures, tmp_path):
    (pictures / "cat" / "bad.png").write_bytes(b"none")
    os.rename(pictures / "cat" / "bad.png", os.fsencode(pictures) + b"/cat/\xff.png")
    new = os.fsdecode(os.fsencode(tmp_path) + b"/photos\xe9")
    os.rename(pictures, new)
    source = data.load(new, skip_unreadable=True).source
    assert source["path"] == "photos\\udce9"
    assert source["skipped"]["files"] == ["cat/\\udcff.png"]
    assert repr(source).encode()


def test_folders_of_this_machine(tmp_path, monkeypatch):
    assert folders.cache_folder() == tmp_path / "cache"
    assert folders.data_folder() == tmp_path / "cache" / "data"
    monkeypatch.delenv("LABELSPACE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    if os.name == "posix":
        monkeypatch.setattr("sys.platform", "linux")
        assert folders.cache_folder() == tmp_path / "x" / "labelspace"
        monkeypatch.setattr("sys.platform", "darwin")
        assert folders.cache_folder().parts[-2:] == ("Caches", "labelspace")
