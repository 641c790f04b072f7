"""What can be done to bytes, texts and plain data."""

import json
from typing import Any

import numpy as np

Chance = np.random.Generator
# values that break what forgot to look
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 2**64, 10**40, 10**400, 0.5, -0.0, 1e30, 1e39, 1e308, -1e308,
    "", " ", "\0", "a", "a\nb", "é", "e\u0301", "\ud800", "\udcff", "\u202e", "=1+1", "[red]", "nan", "inf", "1e400",
    "x" * 3000, "../../etc/passwd", "__class__", "{0.__class__}", "%s%n", [], {}, [[]], [None], {"": ""},
    {"a": {"a": {}}}, [1, "1", None], ["a", "a"], [float(number) for number in range(50)],
)  # fmt: skip


def mutated_bytes(chance: Chance, content: bytes, other: bytes = b"") -> bytes:
    """Return bytes of which some are changed, lost, doubled or foreign."""
    found = bytearray(content)
    for _ in range(int(chance.integers(1, 4))):
        kind = chance.integers(7)
        place = int(chance.integers(len(found) + 1))
        length = int(chance.integers(1, 40))
        if kind == 0 and found:
            found[place % len(found)] ^= 1 << int(chance.integers(8))
        elif kind == 1 and found:
            found[place % len(found)] = int(chance.choice([0, 1, 10, 34, 44, 127, 128, 255]))
        elif kind == 2:
            del found[place:]
        elif kind == 3:
            del found[place : place + length]
        elif kind == 4:
            found[place:place] = chance.bytes(length)
        elif kind == 5:
            found[place:place] = found[place : place + length] * int(chance.integers(1, 20))
        else:
            start = int(chance.integers(len(other) + 1))
            found[place : place + length] = other[start : start + length]
    return bytes(found)


def mutated_plain(chance: Chance, value: Any) -> Any:
    """Return plain data in which one part is something else, is lost, or is there twice."""
    copy = json.loads(json.dumps(value))
    places = list(_places(copy))
    if not places or chance.random() < 0.03:
        return odd(chance)
    holder, key = places[int(chance.integers(len(places)))]
    kind = chance.integers(5)
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[str(odd(chance))[:3000]] = holder[key]
    elif kind == 2:
        other, from_key = places[int(chance.integers(len(places)))]
        # a copy: plain data that holds itself could not be written
        holder[key] = json.loads(json.dumps(other[from_key]))
    elif kind == 3 and isinstance(holder, list):
        holder.insert(key, holder[key])
    else:
        holder[key] = odd(chance)
    return copy


def odd(chance: Chance) -> Any:
    """Return one of the odd values."""
    return ODD[int(chance.integers(len(ODD)))]


def _places(value: Any) -> Any:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(parts):
        yield value, key
        yield from _places(part)
