"""Small parallel text, for tests of what reads it."""

import gzip
import io
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

PAIRS = [(f"A dog number {n} runs .", f"Ein Hund Nummer {n} rennt .") for n in range(12)]
PARTS = {"train": PAIRS[:8], "val": PAIRS[8:10], "test": PAIRS[10:]}


def write_lines(folder: Path, parts: Mapping[str, Sequence[tuple[str, str]]] = PARTS, packed: bool = False) -> Path:
    """Write two files for each part, a sentence on each line; gzipped where asked."""
    folder.mkdir(parents=True, exist_ok=True)
    for stem, rows in parts.items():
        for place, language in enumerate(("en", "de")):
            content = "".join(f"{row[place]}\n" for row in rows).encode()
            path = folder / f"{stem}.{language}"
            if packed:
                path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(content))
            else:
                path.write_bytes(content)
    return folder


def write_table(path: Path, rows: Sequence[Sequence[str]]) -> Path:
    """Write a table without titles; gzipped where its name says so."""
    content = "".join("\t".join(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def write_tar(path: Path, contents: Mapping[str, str | bytes]) -> Path:
    """Write a tar file; gzipped where its name says so."""
    with tarfile.open(path, "w:gz" if path.suffix in (".tgz", ".gz") else "w") as archive:
        for name, text in contents.items():
            content = text.encode() if isinstance(text, str) else text
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path
