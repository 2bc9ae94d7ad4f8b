"""A record made by other code is made again."""

import shutil
from pathlib import Path

import pytest

from jobs.running import inspection_code as module
from jobs.running.inspection_code import JOBS, MAKERS, MEANINGS, inspection_code


def test_every_file_that_is_named_is_there() -> None:
    assert all(list(JOBS.glob(pattern)) for pattern in (MAKERS, *MEANINGS))


@pytest.mark.parametrize("name", ["measuring/meta_pass.py", "sizing/kv.py"])
def test_a_changed_file_is_other_code(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("measuring", "sizing"):
        shutil.copytree(JOBS / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(module, "JOBS", tmp_path)
    fresh = inspection_code.__wrapped__
    assert fresh() == inspection_code()
    with (tmp_path / name).open("a") as file:
        file.write("# more\n")
    assert fresh() != inspection_code()
