"""Few hostile inputs of every kind in the normal tests, many with ``make fuzz``; and the judge sees what it must."""

import os
import pickle
import time

import numpy as np
import pytest

from hostile import (
    checkpoints,
    command_lines,
    criterion_calls,
    label_files,
    pictures,
    records,
    tables,
    taxonomies,
)
from hostile.outcomes import OUTCOMES, Case, Payload, judge, tally
from labelspace import InputError

MANY = float(os.environ.get("LABELSPACE_FUZZ", "0"))  # 1 in ``make fuzz``, 0.1 for a tenth of it
SEED = int(os.environ.get("LABELSPACE_FUZZ_SEED", "0"))
CASE = int(os.environ.get("LABELSPACE_FUZZ_CASE", "-1"))  # one that went wrong, to be tried alone
# title, generator, and how many are tried in the normal tests and in ``make fuzz``
ATTACKS = [
    ("label files", label_files.tries, 300, 100_000),
    ("tables", tables.tries, 150, 5_000),
    ("pictures and archives", pictures.tries, 40, 3_000),
    ("taxonomies and prices", taxonomies.tries, 200, 10_000),
    ("criterion calls", criterion_calls.tries, 300, 100_000),
    ("records", records.tries, 40, 10_000),
    ("checkpoints", checkpoints.tries, 30, 2_000),
    ("command lines", command_lines.tries, 40, 5_000),
]


@pytest.mark.timeout(14_400 if MANY else 200)
@pytest.mark.parametrize(("title", "tries", "few", "many"), ATTACKS, ids=[attack[0] for attack in ATTACKS])
def test_nothing_gets_through(title, tries, few, many, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("LABELSPACE_CACHE", str(tmp_path))
    if CASE >= 0:
        found = tally(title, tries(SEED, 1, CASE), CASE)
        assert found.bad == 0, found.examples[0]
        return
    found = tally(title, tries(SEED, max(few, round(many * MANY))))
    with capsys.disabled():
        print(f"\n{found}")
    assert found.bad == 0, "\n".join([str(found), *found.examples])
    # a checkpoint that is not sound is no error: the one before it is used
    assert found.counts["refused"] > 0 or title == "checkpoints"
    assert found.counts["accepted and right"] > 0, "an attack that is always refused shows little"


def endless():
    while True:
        time.sleep(0.01)


def raised(error):
    raise error


def filled():
    return int(np.ones(100 << 20).sum())


@pytest.mark.parametrize(
    ("outcome", "run", "right"),
    [
        ("refused", lambda: raised(InputError("y", "x", "z", 3)), bool),
        ("traceback", lambda: raised(ValueError("`x` of y must be z. Got 3.")), bool),
        ("accepted and right", lambda: 4, lambda result: result == 4),
        ("wrong", lambda: 5, lambda result: result == 4),
        ("traceback", lambda: {}["key"], bool),
        ("traceback", lambda: raised(ValueError("invalid literal")), bool),
        ("traceback", lambda: b"\xff".decode(), bool),
        ("traceback", lambda: 4, lambda result: result.none),
        ("hang", endless, bool),
        ("memory", lambda: raised(MemoryError()), bool),
        ("memory", filled, bool),
        ("code run", lambda: pickle.loads(pickle.dumps(Payload())), bool),
    ],
)
def test_the_judge_sees_it(outcome, run, right):
    assert outcome in OUTCOMES
    assert judge(Case("", run, right), seconds=1.0)[0] == outcome
