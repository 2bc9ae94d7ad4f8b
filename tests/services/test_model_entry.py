from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from jobs.models import EntryState, ModelEntry, PromptSet
from jobs.running.kept_records import files_of
from jobs.services import model_entry as service
from jobs.services.model_entry import model_entry_request
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal
from tests.factories import VERSIONS, make_entry, make_record, make_user
from tests.services.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The entries whose inspection was asked for."""
    rung: list[int] = []
    monkeypatch.setattr(service, "model_inspect_send", lambda entry_id: rung.append(entry_id))
    monkeypatch.setattr(service, "resolve_model", resolve)
    return rung


def resolve(text: str, *, revision: str | None, **_: Any) -> ModelSpec:
    if text.startswith("no"):
        raise Refusal("unknown_model", "There is no such model.", "Check its name.")
    return ModelSpec(kind=ModelKind.HUB, name=text, revision=revision)


def test_a_model_asked_for_waits_for_its_inspection(asked: list[int], django_capture_on_commit_callbacks: Any) -> None:
    user = make_user()
    with django_capture_on_commit_callbacks(execute=True):
        entry = model_entry_request(text="org/one", revision="abc", user=user)
        assert not asked
    assert (entry.kind, entry.name, entry.revision, entry.state) == ("hub", "org/one", "abc", "waiting")
    assert entry.requested_by == user and asked == [entry.pk]


def test_a_model_that_is_none_leaves_nothing() -> None:
    with pytest.raises(Refusal, match="no such model"):
        model_entry_request(text="nonsense")
    assert not ModelEntry.objects.exists()


def test_a_known_model_is_not_inspected_again(asked: list[int], django_capture_on_commit_callbacks: Any) -> None:
    kept = make_entry("org/one")
    with django_capture_on_commit_callbacks(execute=True):
        assert model_entry_request(text="org/one") == kept
    assert not asked


def test_a_refused_model_is_tried_again(asked: list[int], django_capture_on_commit_callbacks: Any) -> None:
    make_entry("org/one", inspected=False, state=EntryState.REFUSED, error={"code": "offline"}, attempts=3)
    with django_capture_on_commit_callbacks(execute=True):
        entry = model_entry_request(text="org/one")
    assert (entry.state, entry.error, entry.attempts, asked) == ("waiting", None, 0, [entry.pk])


@pytest.mark.parametrize(("seconds", "rings"), [(31, 1), (5, 0)])
def test_a_waiting_model_is_woken_again_only_when_its_wake_up_was_lost(
    asked: list[int], django_capture_on_commit_callbacks: Any, seconds: float, rings: int
) -> None:
    make_entry("org/one", inspected=False, woken_at=timezone.now() - timedelta(seconds=seconds))
    with django_capture_on_commit_callbacks(execute=True):
        model_entry_request(text="org/one")
    assert len(asked) == rings


@pytest.mark.django_db(transaction=True)
def test_two_who_ask_at_once_get_the_same() -> None:
    first, second = at_once(*[lambda: model_entry_request(text="org/one")] * 2)
    assert first == second == ModelEntry.objects.get()


def test_a_folder_whose_files_changed_is_read_again(
    asked: list[int], django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    spec = ModelSpec(kind=ModelKind.FOLDER, name="mine", path=str(tmp_path))
    monkeypatch.setattr(service, "resolve_model", lambda text, **_: spec)
    record = make_record(versions={**VERSIONS, **files_of(spec)})
    entry = make_entry("mine", kind="folder", spec=spec.as_json(), record=record.as_json())
    with django_capture_on_commit_callbacks(execute=True):
        assert model_entry_request(text="mine").state == EntryState.READY
    assert not asked
    prompts = PromptSet.objects.create(name="ours", sha256="0" * 64, texts=["a"], count=1, file_bytes=1)
    entry.prompt_counts.create(prompts=prompts, state=EntryState.READY, lengths={})
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    with django_capture_on_commit_callbacks(execute=True):
        assert model_entry_request(text="mine").state == EntryState.WAITING
    assert asked == [entry.pk]
    assert not entry.prompt_counts.exists(), "its tokenizer may have changed too"
