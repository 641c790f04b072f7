"""Make the noun graph that ships with labelspace from WordNet's dictionary files.

Usage: python scripts/make_wordnet_nouns.py DICTIONARY_FOLDER [--out FOLDER]

Writes ``wordnet_nouns.xz`` and ``wordnet_nouns.LICENSE``. The same dictionary always gives the same bytes.
"""

import argparse
import json
import lzma
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from labelspace.sources._wordnet_folder import dictionary_folder, licence_lines, read_folder
from labelspace.sources._wordnet_graph import SHIPPED, NounGraph, Numbers

PACKAGE_FOLDER = Path(__file__).parent.parent / "src" / "labelspace" / "sources"
# most of the content is columns of bytes, in which neither the position nor the byte before says anything
COMPRESSION = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 3, "lp": 0, "pb": 0}]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the dictionary and write the two files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="a folder with index.noun, data.noun and noun.exc")
    parser.add_argument("--out", type=Path, default=PACKAGE_FOLDER, help="where to write (default: the package)")
    options = parser.parse_args(arguments)
    packed = pack(read_folder(options.folder))
    (options.out / SHIPPED).write_bytes(packed)
    licence = "\n".join(licence_lines(dictionary_folder(options.folder) / "data.noun"))
    (options.out / Path(SHIPPED).with_suffix(".LICENSE")).write_text(licence.strip() + "\n", encoding="utf-8")
    print(f"{SHIPPED}: {len(packed):,} bytes")


def pack(graph: NounGraph) -> bytes:
    """Return the content of the shipped file."""
    exceptions = [" ".join([plural, *singulars]) for plural, singulars in graph.exceptions.items()]
    sections = {
        "lemmas": "\n".join(graph.lemmas).encode(),
        "exceptions": "\n".join(exceptions).encode(),
        "sense_counts": _runs(np.diff(graph.sense_starts)),
        "senses": _runs(graph.senses),
        "offset_steps": _runs(np.diff(graph.offsets, prepend=0)),
        "first_lemmas": _runs(graph.first_lemmas),
        "hypernym_counts": _runs(np.diff(graph.hypernym_starts)),
        "hypernyms": _runs(graph.hypernyms),
    }
    header = {"version": graph.version, "sections": [[name, len(data)] for name, data in sections.items()]}
    content = json.dumps(header).encode() + b"\n" + b"".join(sections.values())
    return lzma.compress(content, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, filters=COMPRESSION)


def _runs(numbers: Numbers) -> bytes:
    """Return 32-bit numbers as four runs of bytes, lowest first."""
    return numbers.astype("<u4").view(np.uint8).reshape(-1, 4).T.tobytes()


if __name__ == "__main__":
    main()
