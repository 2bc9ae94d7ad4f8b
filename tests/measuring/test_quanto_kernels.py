import os
from pathlib import Path

from jobs.measuring.quanto_kernels import forget_killed_compilation


def test_the_lock_of_a_killed_compilation_is_removed(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch()
    os.utime(lock, (0, 0))
    forget_killed_compilation(lock)
    assert not lock.exists()


def test_a_compilation_that_goes_on_is_waited_for(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch()
    young_s = lock.stat().st_mtime
    forget_killed_compilation(lock, compiling_s=1.0)
    assert not lock.exists()
    assert tmp_path.stat().st_mtime - young_s >= 0.9


def test_without_a_lock_nothing_is_waited_for(tmp_path: Path) -> None:
    forget_killed_compilation(tmp_path / "lock")
