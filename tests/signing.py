"""Digests made anew, as somebody would who changes a record and wants it to be believed: what else holds then?"""

import json
from hashlib import blake2b
from pathlib import Path
from typing import Any


def digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def signed(record: dict[str, Any]) -> dict[str, Any]:
    """Return plain data with the digest that belongs to them."""
    rest = {name: value for name, value in record.items() if name != "digest"}
    return {**rest, "digest": digest(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode())}


def signed_again(folder: Path) -> Path:
    """Give the files of a run, and its decision, the digests that belong to them now."""
    path = folder / "result.json"
    record = json.loads(path.read_text())
    record["files"] = {name: digest((folder / name).read_bytes()) for name in record["files"]}
    path.write_text(json.dumps(signed(record)))
    decision = folder / "decision.json"
    if decision.is_file():
        facts = json.loads(decision.read_text()) | {"run": digest(path.read_bytes())}
        decision.write_text(json.dumps(signed(facts)))
    return folder
