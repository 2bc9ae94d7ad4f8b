"""What `make install` says when it cannot."""

import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from kvportal import install
from tests.operations.portal_process import ROOT

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which an installation may do as it likes."""
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setattr(install, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(install, "STAMP", tmp_path / ".venv" / "installed.json")
    monkeypatch.setattr(install, "LOG", tmp_path / ".venv" / "install.log")
    return tmp_path


def pretend_venv(clone: Path, pip: str) -> None:
    """A virtual environment whose every command is this shell script."""
    python = clone / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n{pip}\n")
    python.chmod(0o755)


def test_a_python_too_old_is_told_which_one_is_needed() -> None:
    with pytest.raises(install.CannotInstall, match=r"needs Python 3\.11 or newer and this is 3\.9 \(/old/python\)"):
        install.check_python((3, 9), "/old/python")


def test_an_old_python_can_read_the_program() -> None:
    """It is compiled with the grammar of 3.6, and holds nothing that only later versions evaluate."""
    import ast

    tree = ast.parse((ROOT / "kvportal" / "install.py").read_text(), feature_version=(3, 6))
    assert not any(isinstance(node, ast.NamedExpr | ast.Match) for node in ast.walk(tree))


def test_a_full_disk_is_named_before_anything_is_fetched(clone: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1, 1, 2**30))
    assert install.main() == 1
    said = capsys.readouterr().err
    assert "has 1.0 GiB free and the installation needs about 2.5 GiB" in said
    assert len(said.splitlines()) == 1
    assert not (clone / ".venv").exists()


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("ERROR: [Errno 28] No space left on device", "The disk became full while installing torch"),
        ("WARNING: Temporary failure in name resolution", "could not be fetched: check the network"),
        ("ERROR: something else", "pip could not install requirements/torch.txt: ERROR: something else"),
    ],
)
def test_what_pip_fails_of_is_one_sentence(clone: Path, capsys, output: str, sentence: str) -> None:
    pretend_venv(clone, f"echo '{output}'; exit 1")
    assert install.main() == 1
    said = capsys.readouterr().err
    assert sentence in said
    assert "Traceback" not in said
    assert output in (clone / ".venv" / "install.log").read_text()


def test_torch_comes_first_alone_and_nothing_later_may_change_it(clone: Path, monkeypatch) -> None:
    pretend_venv(clone, f'echo "$@" >> {clone}/calls')
    monkeypatch.setattr(install, "compiler_lacking", lambda: "C++ compiler (g++)")
    assert install.main() == 0
    calls = (clone / "calls").read_text().splitlines()
    assert [call.rpartition("/")[2] for call in calls] == ["torch.txt", "measuring.txt", "portal.txt", "dev.txt"]
    assert all(f"-c {clone}/requirements/torch.txt" in call for call in calls)


def test_nothing_is_done_again_until_a_requirement_changes(clone: Path, monkeypatch) -> None:
    pretend_venv(clone, f'echo "$@" >> {clone}/calls')
    monkeypatch.setattr(install, "compiler_lacking", lambda: None)
    assert install.main() == 0
    first = (clone / "calls").read_text()
    assert install.main() == 0
    assert (clone / "calls").read_text() == first
    with (clone / "requirements" / "portal.txt").open("a") as file:
        file.write("# changed\n")
    assert install.main() == 0
    assert (clone / "calls").read_text() == first * 2


def test_the_lock_of_a_killed_compilation_is_removed_and_that_of_a_going_one_kept(clone: Path) -> None:
    folder = clone / ".venv/lib/python3.11/site-packages/optimum/quanto/library/extensions/cpp/build"
    folder.mkdir(parents=True)
    lock = folder / "lock"
    lock.touch()
    assert not install.forget_interrupted_compiling()
    assert lock.exists()
    long_ago_s = lock.stat().st_mtime - install.COMPILE_PATIENCE_S - 1
    os.utime(lock, (long_ago_s, long_ago_s))
    assert install.forget_interrupted_compiling()
    assert not lock.exists()


def test_without_a_compiler_quanto_is_given_up_with_a_hint(clone: Path, monkeypatch, capsys) -> None:
    pretend_venv(clone, "exit 0")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert install.main() == 0
    said = capsys.readouterr().err
    assert "no C++ compiler (g++) here, so the quanto strategies will be reported as not applicable" in said
    assert "apt install g++ python3-dev" in said


def test_a_fresh_checkout_needs_no_package_to_say_so() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", "import runpy; runpy.run_path('kvportal/install.py')"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
