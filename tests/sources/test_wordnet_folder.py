import importlib.util
import json
import lzma
import random
import re
import tarfile
import time
from collections import deque
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from labelspace.sources._wordnet_folder import read_folder
from labelspace.sources._wordnet_graph import NounGraph, shipped_graph, unpack
from labelspace.sources.wordnet import wordnet
from labelspace.space import LabelSpace
from realdata import data_folder

# offset → words, hypernyms; 50 is a second root, and 40 has two ways up
TINY = {
    10: (["thing"], []),
    20: (["animal", "beast"], [10]),
    30: (["Cat"], [20]),
    35: (["cat", "cat-o'-nine-tails"], [10]),
    40: (["mule"], [20, 10]),
    50: (["void"], []),
}


def sense(space: LabelSpace, name: str) -> dict[str, object]:
    found = space.source["senses"][name]
    assert isinstance(found, dict)
    return found


def write_dictionary(folder: Path, synsets: dict[int, tuple[list[str], list[int]]]) -> Path:
    licence = "  1 Some licence.  \n  2 WordNet 9.1 Copyright 2006 by Princeton University.  \n"
    lines, index = [], {}
    for offset, (words, hypernyms) in synsets.items():
        spelled = " ".join(f"{word} 0" for word in words)
        marks = "".join(f" {'@i' if up == 20 else '@'} {up:08d} n 0000" for up in hypernyms)
        lines.append(f"{offset:08d} 05 n {len(words):02x} {spelled} {len(hypernyms):03d}{marks} | a | gloss  ")
        for word in words:
            index.setdefault(word.lower(), []).append(f"{offset:08d}")
    rows = [f"{w} n {len(o)} 1 @ {len(o)} 0 {' '.join(o)}  " for w, o in sorted(index.items())]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "data.noun").write_text(licence + "\n".join(lines) + "\n")
    (folder / "index.noun").write_text(licence + "\n".join(rows) + "\n")
    (folder / "noun.exc").write_text("mulen mule\n")
    return folder


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_dictionary(tmp_path / "tiny", TINY)


@pytest.fixture(scope="module")
def dictionary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real WordNet 3.0, unpacked."""
    data = data_folder()
    archives = [] if data is None else sorted((data / "wordnet").glob("*.tar.gz"))
    if not archives:
        pytest.skip("the real WordNet dictionary is not here")
    folder = tmp_path_factory.mktemp("wordnet")
    with tarfile.open(archives[0]) as archive:
        for name in ("index.noun", "data.noun", "noun.exc"):
            archive.extract(name, folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def real_graph(dictionary: Path) -> NounGraph:
    return read_folder(dictionary)


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    path = Path(__file__).parents[2] / "scripts" / "make_wordnet_nouns.py"
    spec = importlib.util.spec_from_file_location("make_wordnet_nouns", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- a folder of the user's


def test_a_folder_is_read(tiny: Path):
    space = wordnet(["cat", "beasts", "Mulen", "thing"], senses={"cat": "n00000030"}, folder=tiny)
    assert space.source["version"] == "9.1"
    assert space.source["dictionary"] == "folder"
    assert str(tiny) not in json.dumps(dict(space.source))
    assert space.hops is not None
    # mule reaches thing in one step and animal in one step: the shorter way counts
    assert space.hops.tolist() == [[0, 1, 2, 2], [1, 0, 1, 1], [2, 1, 0, 1], [2, 1, 1, 0]]
    assert sense(space, "cat")["synset"] == "cat.n.01"
    assert sense(space, "beasts") == {
        "alternatives": 0,
        "how": "plural",
        "id": "n00000020",
        "means": "animal, beast: thing",
        "synset": "animal.n.01",
    }
    assert sense(space, "Mulen")["how"] == "plural"


def test_synsets_without_a_common_ancestor_are_unrelated(tiny: Path):
    space = wordnet(["cat", "void", "mule"], folder=tiny)
    assert space.hops is not None
    assert space.hops.tolist() == [[0, -1, 2], [-1, 0, -1], [2, -1, 0]]
    assert space.matrix[1].tolist() == [0, 1, 0]


def test_a_dict_subfolder_will_do_and_exceptions_may_be_missing(tmp_path: Path):
    inner = write_dictionary(tmp_path / "dict", TINY)
    (inner / "noun.exc").unlink()
    assert read_folder(tmp_path).exceptions == {}
    assert wordnet(["cat", "mule"], folder=str(tmp_path)).source["unmapped"] == []


def test_a_cycle_of_hypernyms_ends(tmp_path: Path):
    folder = write_dictionary(tmp_path, {10: (["a1"], [20]), 20: (["b1"], [10]), 30: (["c1"], [20])})
    space = wordnet(["a1", "b1", "c1"], folder=folder)
    assert space.hops is not None
    assert space.hops.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def test_a_folder_without_the_files_is_refused(tmp_path: Path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ValueError, match=r"`folder` of wordnet must be a folder with WordNet's index.noun"):
            wordnet(["cat"], folder=folder)
    with pytest.raises(TypeError, match=r"`folder` of wordnet must be the path of a folder\. Got 3"):
        wordnet(["cat"], folder=3)


@pytest.mark.parametrize("file", ["data.noun", "index.noun"])
@pytest.mark.parametrize("kept", [0.2, 0.35, 0.5, 0.62, 0.8])
def test_a_file_cut_short_is_refused(tiny: Path, file: str, kept: float):
    text = (tiny / file).read_text()
    (tiny / file).write_text(text[: int(len(text) * kept)])
    with pytest.raises(ValueError, match=r"`folder` of wordnet must be a folder with sound WordNet files\. Got"):
        wordnet(["cat", "mule"], folder=tiny)


@pytest.mark.parametrize(
    ("file", "old", "new", "text"),
    [
        ("data.noun", "05 n 02 animal", "05 n 07 animal", "line 4, which is damaged"),
        ("data.noun", "@i 00000020", "@i 0000002x", "line 5, which is damaged"),
        ("data.noun", "@i 00000020", "@i 00000099", "mention of 99, which the files do not define"),
        ("data.noun", "00000040 05", "00000035 05", "a synset that stands in it twice"),
        ("index.noun", "cat n 2", "cat n x", "line 5, which is damaged"),
        ("index.noun", "mule n 1", "cat n 1", "line 7, which is damaged"),
        ("index.noun", "mule n 1", "mole n 1", "mention of 'mule', which the files do not define"),
    ],
)
def test_a_damaged_line_is_named(tiny: Path, file: str, old: str, new: str, text: str):
    before = (tiny / file).read_text()
    assert old in before
    (tiny / file).write_text(before.replace(old, new))
    with pytest.raises(ValueError, match=text):
        wordnet(["cat"], folder=tiny)


def test_a_file_that_is_no_text_is_refused(tiny: Path):
    with (tiny / "data.noun").open("ab") as file:
        file.write(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="not UTF-8 text"):
        wordnet(["cat"], folder=tiny)


# ---- the shipped nouns


def test_the_shipped_file_is_small_and_loads_fast():
    file = files("labelspace.sources").joinpath("wordnet_nouns.xz")
    assert len(file.read_bytes()) < 2_500_000
    start = time.perf_counter()
    graph = shipped_graph.__wrapped__()
    assert time.perf_counter() - start < 2
    assert (len(graph.lemmas), len(graph.offsets), graph.version) == (117_798, 82_115, "3.0")
    assert "Princeton University" in files("labelspace.sources").joinpath("wordnet_nouns.LICENSE").read_text()


def test_packing_a_dictionary_gives_it_back(tiny: Path, maker: ModuleType):
    graph = read_folder(tiny)
    assert_same_graph(unpack(maker.pack(graph)), graph)


def assert_same_graph(first: NounGraph, second: NounGraph) -> None:
    assert first.version == second.version
    assert list(first.lemmas) == list(second.lemmas)
    assert first.exceptions == second.exceptions
    for column in ("sense_starts", "senses", "offsets", "first_lemmas", "hypernym_starts", "hypernyms"):
        np.testing.assert_array_equal(getattr(first, column), getattr(second, column), err_msg=column)


@pytest.mark.data
def test_shipped_nouns_are_the_dictionarys(real_graph: NounGraph):
    assert_same_graph(shipped_graph(), real_graph)


@pytest.mark.data
def test_the_script_makes_the_shipped_file_again(
    dictionary: Path, real_graph: NounGraph, maker: ModuleType, tmp_path: Path
):
    maker.main([str(dictionary), "--out", str(tmp_path)])
    made = (tmp_path / "wordnet_nouns.xz").read_bytes()
    assert made == maker.pack(real_graph)
    shipped = files("labelspace.sources")
    # content, because another release of the compressor may pack it differently
    assert lzma.decompress(made) == lzma.decompress(shipped.joinpath("wordnet_nouns.xz").read_bytes())
    licence = (tmp_path / "wordnet_nouns.LICENSE").read_bytes()
    assert licence == shipped.joinpath("wordnet_nouns.LICENSE").read_bytes()


def raw_hypernyms(path: Path) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Read data.noun with a pattern, as independently of the library as can be."""
    above, words = {}, {}
    for line in path.read_text().splitlines():
        if line[0] != " ":
            fields = line.split(" | ")[0]
            above[line[:8]] = re.findall(r" @i? (\d{8}) n", fields)
            words[line[:8]] = fields.split()[4]
    return above, words


def slow_hops(above: dict[str, list[str]], first: str, second: str) -> int:
    def heights(start: str) -> dict[str, int]:
        reached, queue = {start: 0}, deque([start])
        while queue:
            node = queue.popleft()
            for parent in above[node]:
                if parent not in reached:
                    reached[parent] = reached[node] + 1
                    queue.append(parent)
        return reached

    left, right = heights(first), heights(second)
    return min(left[node] + right[node] for node in left.keys() & right.keys())


@pytest.mark.data
def test_hops_equal_a_slow_search_of_the_raw_file(dictionary: Path):
    above, words = raw_hypernyms(dictionary / "data.noun")
    offsets = random.Random(1).sample(sorted(above), 60)
    space = wordnet([f"n{offset}" for offset in offsets])
    expected = [[slow_hops(above, first, second) for second in offsets] for first in offsets]
    assert space.hops is not None
    assert space.hops.tolist() == expected
    for offset in offsets:
        assert str(sense(space, f"n{offset}")["synset"]).startswith(f"{words[offset].lower()}.n.")


@pytest.mark.data
def test_a_folder_gives_the_same_space(dictionary: Path):
    names = ["cat", "dog", "truck", "T-shirt/top", "Ankle boot", "mice", "crane"]
    shipped, read = wordnet(names), wordnet(names, folder=dictionary)
    torch.testing.assert_close(read.matrix, shipped.matrix)
    assert read.source == {**shipped.source, "dictionary": "folder"}


@pytest.mark.data
def test_the_ids_of_tiny_imagenet_are_known():
    data = data_folder()
    archives = [] if data is None else sorted((data / "tiny-imagenet-200").glob("*.tar.gz"))
    if not archives:
        pytest.skip("Tiny-ImageNet is not here")
    with tarfile.open(archives[0]) as archive:
        names = sorted({part for name in archive.getnames() for part in name.split("/") if part[:2] in ("n0", "n1")})
    ids = [name for name in names if len(name) == 9]
    assert len(ids) == 200
    assert wordnet(ids).source["unmapped"] == []
