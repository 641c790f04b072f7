"""How results are printed: in one form at a time."""

import json
from pathlib import Path

import pytest

from labelspace import InputError
from labelspace.cli.found import form_of, page_of, print_all, print_found, print_splits
from labelspace.comparison import Comparison
from many_results import TABLE, made
from split_results import of_splits, summed_up


def comparisons(folder: Path) -> list[Comparison]:
    found = []
    for name, costs in TABLE.items():
        (folder / name).mkdir()
        found.append(Comparison(None, made(name, costs, "LLS")).save(folder / f"{name}-1"))
    return found


def test_one_form_at_a_time() -> None:
    assert form_of(False, False, False) == ""
    with pytest.raises(InputError, match="`--json` must be given without --methods-text. Got both"):
        form_of(True, False, True)


def test_one_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    found = Comparison(None, made("apples", TABLE["apples"], "LLS"))
    print_found(found, "--methods-text")
    assert capsys.readouterr().out == f"{found.methods_text()}\n"
    print_found(found, "")
    assert "UNDECIDED" in capsys.readouterr().out


def test_several(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = comparisons(tmp_path)
    page = page_of([each.folder for each in found if each.folder is not None])
    print_all(found, "")
    text = capsys.readouterr().out
    assert text.startswith("3 datasets · 3 rows in all of them")
    assert f"Report    {page} (" in text
    assert page.is_file()
    print_all(found, "--json")
    assert '"standings"' in capsys.readouterr().out
    print_all(found, "--markdown")
    assert "| apples |" in capsys.readouterr().out
    print_all(found, "--methods-text")
    assert capsys.readouterr().out.count("\\begin{table}") == 3


def test_several_splits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = of_splits()
    splits = summed_up(found)
    for place, each in zip(splits.places, found.values(), strict=True):
        Comparison(None, each).save(tmp_path / place.folder)
    places = tuple(place.model_copy(update={"folder": str(tmp_path / place.folder)}) for place in splits.places)
    splits = splits.model_copy(update={"places": places, "folder": str(tmp_path / "stones-splits")})
    splits.write()
    print_splits(splits, "")
    text = capsys.readouterr().out
    assert text.startswith("stones · 5 splits · 4 rows in all of them")
    assert f"Report    {tmp_path / 'stones-splits' / 'report.html'} (" in text
    assert all((Path(place.folder) / "report.html").is_file() for place in places)
    print_splits(splits, "--json")
    assert json.loads(capsys.readouterr().out)["verdict"]["kind"] == "cheaper"
    print_splits(splits, "--markdown")
    assert "| SVC |" in capsys.readouterr().out
    print_splits(splits, "--methods-text")
    assert capsys.readouterr().out.count("\\begin{table}") == 5
