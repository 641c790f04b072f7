"""The code of the page runs as it stands."""

import re
from pathlib import Path

import torch

PAGE = Path(__file__).parents[2] / "docs" / "your-own.md"


def test_it_runs(tmp_path: Path, capsys) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    place = tmp_path / "own.py"
    place.write_text(code)
    found: dict[str, object] = {"__name__": "own"}
    exec(compile(code, str(place), "exec"), found)
    # −log(1/3) and a hundredth of its square, whatever the weights
    wanted = torch.tensor(3.0).log()
    assert capsys.readouterr().out == f"tensor({wanted + 0.01 * wanted**2:.4f})\n"
    assert found["run"].config.epochs == 1  # type: ignore[attr-defined]
