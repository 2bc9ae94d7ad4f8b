"""`profile --save` beside a portal that was never started, is older, or has no database: said before measuring."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from jobs.management import answer_keeping
from jobs.sizing.refusal import Refusal
from tests.operations.portal_process import NOT_PASSED_ON, ROOT

PREPARE = "from jobs.management.answer_keeping import prepare_database; prepare_database()"


def prepared(data: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in NOT_PASSED_ON}
    return subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", PREPARE],
        cwd=ROOT,
        env={**kept, "DATA": str(data)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_tables_are_made_where_no_portal_was_started_yet(tmp_path: Path) -> None:
    done = prepared(tmp_path)
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(tmp_path / "portal.sqlite3") as kept:
        assert kept.execute("select count(*) from jobs_run").fetchone() == (0,)
    kept.close()


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "portal.sqlite3").write_text("not a database, and long enough to be seen as none" * 40)
    done = prepared(tmp_path)
    assert done.returncode != 0
    assert f"Nothing can be kept in the portal in {tmp_path}: file is not a database." in done.stderr


def test_the_database_of_an_older_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = SimpleNamespace(leaf_nodes=lambda: [("jobs", "9999_later")])
    executor = SimpleNamespace(
        loader=SimpleNamespace(applied_migrations={("jobs", "0001_initial")}, graph=graph),
        migration_plan=lambda targets: targets,
    )
    monkeypatch.setattr(answer_keeping, "MigrationExecutor", lambda _: executor)
    with pytest.raises(Refusal, match="older version") as refused:
        answer_keeping.prepare_database()
    assert refused.value.code == "old_database"
