"""What is deployed by: the adopted limit, else the current answer's; and the command that compares with it."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import load_command_class

from jobs.models import Adoption, Profile, Run
from jobs.procedure.deploy_verdict import Adopted
from jobs.selectors.deploy import measured_of, profile_named
from jobs.sizing.refusal import Refusal
from manage import arguments
from tests.factories import make_profile, make_run

pytestmark = pytest.mark.django_db

LIMIT = {"by_strategy": {"default": {"context": 4096}, "static": {"context": None, "provisional": True}}}
SETTINGS = {"model": "org/known", "max_context": 4096, "versions": {"transformers": "5.24.0"}}


@pytest.fixture
def profile() -> Profile:
    found = make_profile(name="chat")
    run = make_run(
        profile=found,
        answered=True,
        stages={"limit": LIMIT},
        environment={"transformers": "5.24.0"},
        device={"name": "NVIDIA L4"},
    )
    found.answer_run = run
    found.save()
    type(found.model_entry).objects.update(name="org/known")
    return profile_named(str(found.pk))


def test_the_answer_is_every_strategys_limit(profile: Profile) -> None:
    measured = measured_of(profile)
    assert measured is not None
    assert measured.limits == {"default": 4096, "static": None}
    assert (measured.device_name, measured.provisional, measured.adopted) == ("NVIDIA L4", {"static"}, None)
    assert measured.model == ("org/known", profile.question["model"])


def test_an_adopted_limit_goes_before_it_with_its_own_runs_environment(profile: Profile) -> None:
    older = make_run(profile=profile, stages={"limit": LIMIT}, environment={"transformers": "5.23.0"})
    profile.adoption = Adoption.objects.create(profile=profile, run=older, context=2048, strategy="default")
    profile.save()
    measured = measured_of(profile_named("chat"))
    assert measured is not None
    assert measured.limits == {"default": 4096, "static": None}
    assert (measured.adopted, measured.bound("default")) == (Adopted(strategy="default", context=2048), 2048)
    assert measured.environment == {"transformers": "5.23.0"}


def test_a_profile_without_an_answer_has_nothing() -> None:
    assert measured_of(make_profile()) is None


def test_a_profile_is_named_by_its_id_or_its_exact_name(profile: Profile) -> None:
    assert profile_named("chat") == profile_named(str(profile.pk)) == profile
    make_profile(name="chat")
    numbered = make_profile(name="2026")
    assert profile_named("2026") == numbered
    for text, code in (("chat", "ambiguous_profile"), ("Chat", "unknown_profile"), ("9" * 40, "unknown_profile")):
        with pytest.raises(Refusal) as refused:
            profile_named(text)
        assert refused.value.code == code


def run(capsys: pytest.CaptureFixture[str], *given: str) -> tuple[int, str, str]:
    command = load_command_class("jobs", "check-deploy")
    with pytest.raises(SystemExit) as end:
        command.run_from_argv(arguments(["manage.py", "check-deploy", *given]))
    printed = capsys.readouterr()
    return int(end.value.code or 0), printed.out, printed.err


@pytest.fixture
def kept_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command ends by closing the connections, and with them the test's transaction."""
    monkeypatch.setattr("django.core.management.base.connections.close_all", lambda: None)


@pytest.mark.usefixtures("kept_open")
@pytest.mark.parametrize(
    ("changes", "code", "verdict"),
    [
        ({}, 0, "ok"),
        ({"versions": {"transformers": "5.25.0"}}, 3, "stale"),
        ({"max_context": 4097}, 4, "not_covered"),
    ],
)
def test_the_command_ends_with_the_verdicts_code(
    profile: Profile,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    changes: dict[str, Any],
    code: int,
    verdict: str,
) -> None:
    file = tmp_path / "deploy.json"
    file.write_text(json.dumps(SETTINGS | changes))
    assert run(capsys, "chat", "--settings", str(file))[0] == code
    returned, out, err = run(capsys, str(profile.pk), f"--settings={file}", "--json")
    answer = json.loads(out)
    assert (returned, answer["verdict"], answer["profile"], err) == (code, verdict, profile.pk, "")


@pytest.mark.usefixtures("kept_open")
def test_the_settings_may_come_from_standard_input(
    profile: Profile, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(SETTINGS).encode())))
    code, out, _ = run(capsys, "chat", "--settings", "-")
    assert code == 0
    assert "are within the 4,096 tokens measured on NVIDIA L4" in out
    assert "not checked: dtype, sequences" in out


@pytest.mark.usefixtures("kept_open")
@pytest.mark.parametrize(
    "given",
    [
        ["chat"],
        ["chat", "--settings", "/nowhere.json"],
        ["none", "--settings", "{file}"],
        ["chat", "--settings", "{bad}"],
    ],
)
def test_what_is_refused_ends_with_2(
    profile: Profile, capsys: pytest.CaptureFixture[str], tmp_path: Path, given: list[str]
) -> None:
    file, bad = tmp_path / "deploy.json", tmp_path / "bad.json"
    file.write_text(json.dumps(SETTINGS))
    bad.write_text("[" * 100_000)
    code, out, _ = run(capsys, *(part.format(file=file, bad=bad) for part in given), "--json")
    assert (code, set(json.loads(out)["error"])) == (2, {"code", "message", "hint"})
    assert Run.objects.count() == 1
