"""Options of readers by example."""

import pytest

from labelspace import data
from labelspace.data.examples import USUAL
from labelspace.data.loading import COMMON, option_names


def test_every_option_of_every_reader_has_an_example():
    assert option_names() - set(COMMON) <= set(USUAL)


def test_the_examples_of_a_table_can_be_used_as_they_are():
    table = {
        "size": [i * 7 % 13 / 3 for i in range(60)],
        "colour": ["red", "blue", "red"] * 20,
        "y": ["abc"[i * i % 3] for i in range(60)],
    }
    written = [example[0] for example in data.check(table).options]
    assert "label='y'" in written
    assert "group_by='colour'" in written
    assert "text=…" in written
    assert not any(each.startswith("vocabulary") for each in written)
    for each in written:
        name, _, value = each.partition("=")
        if value != "…" and name not in ("delimiter", "group_by"):
            data.load(table, **{"label": "y", name: eval(value)})


@pytest.mark.parametrize("name", ["digits"])
def test_other_readers(name):
    report = data.check(name)
    assert any(written.startswith("classes='0,1'") for written, _ in report.options)
    assert report.to_json()["options"]
