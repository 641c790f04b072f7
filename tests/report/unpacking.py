"""Matrices of a page, read back as a browser does."""

import base64
from typing import Any

import numpy as np
import torch


def unpack(packed: dict[str, Any]) -> torch.Tensor:
    """What unpack.js does, written a second time."""
    content = base64.b64decode(packed["data"])
    codes = list(np.frombuffer(content, "<u2" if packed["wide"] else np.uint8))
    if packed["zeros"]:
        longer: list[int] = []
        while codes:
            code = codes.pop(0)
            longer += [0] * int(codes.pop(0)) if code == 0 else [code]
        codes = longer
    rows, columns = packed["shape"]
    table = np.zeros((rows, columns))
    if packed["symmetric"]:
        table[np.tril_indices(rows)] = codes
        table = np.maximum(table, table.T)
    else:
        table[:] = np.array(codes).reshape(rows, columns)
    levels = 65534 if packed["wide"] else 254
    values = packed["low"] + packed["span"] * (table / levels) ** packed["power"]
    return torch.from_numpy(np.where(table > levels, np.nan, values))
