"""What many comparisons found goes through JSON and back."""

import json

from labelspace.comparison.many import summary_of
from labelspace.results.many import Summary
from many_results import TABLE, several


def test_through_json() -> None:
    table = {**TABLE, "pears": {**TABLE["pears"], "SVC": 1.0}}
    summary = summary_of(several(table))
    assert Summary.model_validate(json.loads(summary.model_dump_json())) == summary
