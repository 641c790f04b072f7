"""Every file and room that the description of the house names is there."""

import re
from pathlib import Path

import labelspace

SOURCE = Path(labelspace.__file__).parent
TEXT = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_what_is_named_is_there() -> None:
    named = set(re.findall(r"`([a-z_]+/(?:[a-z_]+/)*(?:[a-z_0-9]+\.(?:py|j2|html\.j2))?)`", TEXT))
    named = {name for name in named if not name.startswith(("tests/", "src/"))}
    assert len(named) > 25
    assert [name for name in sorted(named) if not (SOURCE / name).exists()] == []


def test_every_room_is_described() -> None:
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").is_file()}
    assert [room for room in sorted(rooms) if f"`{room}/`" not in TEXT] == []
