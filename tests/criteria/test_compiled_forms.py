"""What ``end_epoch()`` changes is seen by a compiled criterion, without compiling it anew."""

import json
import subprocess
import sys
from pathlib import Path


def test_forms_that_change_at_the_end_of_an_epoch() -> None:
    script = Path(__file__).with_name("compile_forms.py")
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {"printed": "", "pruned": "", "mixed": ""}
