"""How results are printed: in one form at a time."""

from pathlib import Path

import pytest

from labelspace import InputError
from labelspace.cli.found import form_of, page_of, print_all, print_found
from labelspace.comparison import Comparison
from many_results import TABLE, made


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
