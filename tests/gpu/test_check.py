"""The script for a GPU, rehearsed where there is none, so that it works the day there is one."""

import json
import os
import subprocess
import sys
from pathlib import Path

from jobs.running.environment import SET
from jobs.running.process import ROOT

NO_GPU = {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "DJANGO_SETTINGS_MODULE": "none"}


def checked(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.gpu.check", *options],
        cwd=ROOT,
        env=os.environ | SET | NO_GPU,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def test_without_a_gpu_it_says_so_and_ends_well() -> None:
    done = checked()
    assert done.returncode == 0
    assert "no CUDA device" in done.stderr


def test_every_row_of_the_rehearsal_holds(tmp_path: Path) -> None:
    done = checked("--rehearse", "--out", str(tmp_path / "check.json"))
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "check.json").read_text())["rows"]
    names = [row["name"] for row in rows]
    assert "a capacity that is too small" in names
    assert "usable after running out of memory" in names
    assert len([name for name in names if name.startswith("offloaded")]) == 4


def test_it_needs_neither_django_nor_celery() -> None:
    program = "import sys; sys.modules.update(django=None, celery=None); import tests.gpu.check"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
