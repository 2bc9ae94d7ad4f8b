"""The documents' examples, run as they stand against a portal that is served."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from pytest_django.live_server_helper import LiveServer

from jobs.models import Run, RunState, Share
from jobs.procedure.deployed import read_deployed
from tests.answered_run import answered_run
from tests.api.conftest import Program
from tests.browser import demo
from tests.factories import make_user

DOCS = settings.BASE_DIR / "docs"


def example(document: str, language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", (DOCS / document).read_text(), re.MULTILINE | re.DOTALL)[:1]
    return str(found)


@pytest.fixture
def portal(transactional_db: None, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What a program needs to know of it. Its worker has done a run as soon as it is asked for."""

    def done_at_once(*, run_id: int, queue: str) -> bool:
        demo.take(run_id)
        demo.finish(run_id)
        return True

    monkeypatch.setattr("jobs.services.run.run_wake_send", done_at_once)
    demo.worker()
    demo.entry()
    token = Program(make_user("ada")).token
    return {"KV_PORTAL": live_server.url, "KV_TOKEN": token, "PATH": os.environ["PATH"]}


def run(command: list[str], portal: dict[str, str], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=portal, capture_output=True, text=True, timeout=60, **options)


def test_the_program_asks_waits_reads_shares_and_checks(portal: dict[str, str]) -> None:
    ended = run([sys.executable, "-c", example("api.md", "python")], portal)
    assert ended.returncode == 0, ended.stderr
    run_row, share = Run.objects.get(), Share.objects.get()
    assert run_row.state == RunState.DONE
    assert share.run == run_row
    lines = ended.stdout.splitlines()
    limit = run_row.stages["limit"]
    assert f"{limit['context']} tokens with {limit['strategy']}, limited by {limit['limited_by']}" in lines
    assert lines[-2].endswith("/") and "/s/" in lines[-2]
    assert lines[-1] == "ok"


def test_the_program_ends_with_a_refusals_sentence(portal: dict[str, str]) -> None:
    ended = run([sys.executable, "-c", example("api.md", "python")], portal | {"KV_TOKEN": "kvp_none"})
    assert ended.returncode == 1
    assert ended.stderr.startswith("token_void: ")


def test_every_line_of_curl_answers(portal: dict[str, str]) -> None:
    pk = answered_run().pk
    asked, *rest = example("api.md", "sh").split("\n\n", 1)
    known = {"runs/1/": f"runs/{pk}/", "profiles/1/": f"profiles/{Run.objects.get(pk=pk).profile_id}/"}
    lines = "\n".join(rest)
    for written, meant in known.items():
        assert written in lines
        lines = lines.replace(written, meant)
    functions = asked.split("\n", 1)[1]
    ended = run(["bash", "-eu", "-c", f"{functions}\n{lines}"], portal)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert Share.objects.get().run_id == pk
    assert Run.objects.count() == 2


def test_the_pipelines_step_passes_what_is_covered_alone(portal: dict[str, str], tmp_path: Path) -> None:
    found = Run.objects.get(pk=answered_run().pk)
    settings_told = json.loads(example("check-deploy.md", "json"))
    read_deployed(settings_told)
    (step,) = yaml.safe_load(example("check-deploy.md", "yaml"))
    script = step["run"].replace("profiles/7/", f"profiles/{found.profile_id}/")
    limit = found.stages["limit"]
    covered = {"model": "SmolLM2-135M", "max_context": limit["context"], "strategy": limit["strategy"]}
    for told, code in ((covered, 0), (covered | {"max_context": limit["context"] + 1}, 1), (settings_told, 1)):
        (tmp_path / "deploy.json").write_text(json.dumps(told))
        ended = run(["bash", "-e", "-c", script], portal, cwd=tmp_path)
        assert (ended.returncode, '"verdict"' in ended.stdout) == (code, True), ended.stderr
