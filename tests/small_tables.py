"""A small table of patients, and how it is written."""

import csv
import gzip
import io

ROWS = [[str(i), f"{i / 7:.3f}", "red" if i % 3 else "blue", f"p{i // 4}", "yes" if i % 2 else "no"] for i in range(40)]
HEADER = ["id", "size", "colour", "patient", "sick"]


def write(path, rows, header=HEADER):
    """Write a CSV file, gzipped if its name says so."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([header, *rows])
    content = buffer.getvalue().encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path
