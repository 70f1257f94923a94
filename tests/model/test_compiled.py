"""Whether loops were compiled before is read off numba's cache, wherever it lies."""

import subprocess
import sys

SCRIPT = """
from stepsmooth.model.compiled import compiled_before
from stepsmooth.model.elementary import log
print(compiled_before("stepsmooth.model"), compiled_before("stepsmooth.nothing"))
log(2.0)
print(compiled_before("stepsmooth.model"))
"""


def test_an_empty_cache_is_filled_by_the_first_call(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    said = [
        subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    ]
    assert said == [["False", "True", "True"], ["True", "True", "True"]]


def test_plain_loops_need_no_compiling(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "True"]
