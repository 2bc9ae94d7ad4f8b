"""The team's own prompts in the portal: kept, counted by the inspecting worker, measured with, deleted."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs.models import EntryState, PromptCount, PromptSet, Run, RunState, Workload
from jobs.procedure.events import Event, EventKind
from jobs.procedure.own_prompts import OwnPrompts, read_prompts
from jobs.procedure.prompt_lengths import PromptLengths
from jobs.selectors.prompt_set import prompt_sets_list, prompts_of
from jobs.services import prompt_count, wake
from jobs.services.claim import run_claim
from jobs.services.execute import Tools, run_execute
from jobs.services.prompt_count import prompt_count_make, prompt_count_request
from jobs.services.prompt_set import prompt_set_delete, prompt_set_save
from jobs.services.workload import workload_save
from jobs.sizing.refusal import Refusal
from tests.factories import make_entry, make_profile, make_question, make_record, make_run, make_user, make_worker

pytestmark = pytest.mark.django_db
FILE = b'a secret of the team\n[1]\n{"prompt": "another one"}\n'
LENGTHS = PromptLengths(count=2, p50=5, p95=7, longest=7)


@pytest.fixture
def kept() -> PromptSet:
    return prompt_set_save(user=make_user("ada"), name="ours.jsonl", prompts=read_prompts(FILE))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What was sent to the broker."""
    sent: list[tuple[str, int]] = []
    monkeypatch.setattr(wake, "_send", lambda task, number, queue: sent.append((f"{task} by {queue}", number)) is None)
    return sent


@pytest.fixture(autouse=True)
def process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_count, "measuring_process", lambda: contextlib.nullcontext())


def counting(spec: Any, texts: list[str], **_: Any) -> PromptLengths:
    assert texts == ["a secret of the team", "another one"]
    return LENGTHS


def refusing(spec: Any, texts: list[str], **_: Any) -> PromptLengths:
    raise Refusal("no_tokenizer", "There is none in /srv/models/x.", "Take another.")


def failing(spec: Any, texts: list[str], **_: Any) -> PromptLengths:
    raise ZeroDivisionError(texts[0])


def test_a_file_is_kept_once_and_keeps_its_first_owner(kept: PromptSet) -> None:
    again = prompt_set_save(user=make_user("bob"), name="other.jsonl", prompts=read_prompts(FILE))
    assert (again.pk, again.name, again.owner.username) == (kept.pk, "ours.jsonl", "ada")
    assert (kept.count, kept.file_bytes) == (2, len(FILE))
    assert [line["number"] for line in kept.bad_lines] == [2]


@pytest.mark.parametrize(("name", "named"), [("", "prompts"), ("a\x00b\u202e", "ab"), ("n" * 400, "n" * 120)])
def test_any_files_name_becomes_one_that_can_be_shown(name: str, named: str) -> None:
    assert prompt_set_save(user=None, name=name, prompts=read_prompts(FILE)).name == named


def test_lists_and_choices_do_not_read_the_texts(kept: PromptSet) -> None:
    Workload.objects.create(name="w", prompt_tokens=8, typical_prompt_tokens=8, answer_tokens=8, prompts=kept)
    with CaptureQueriesContext(connection) as queries:
        assert [one.name for one in prompt_sets_list()] == ["ours.jsonl"]
        assert Workload.objects.get().prompts.name == "ours.jsonl"
    assert not any('"texts"' in query["sql"] for query in queries.captured_queries)


def test_only_the_owner_and_an_administrator_delete_prompts(kept: PromptSet) -> None:
    for stranger in (None, make_user("bob"), make_user("eve", is_staff=True)):
        with pytest.raises(Refusal) as refused:
            prompt_set_delete(user=stranger, prompts=kept)
        assert refused.value.code == "not_yours"
    PromptCount.objects.create(model_entry=make_entry(), prompts=kept)
    workload = Workload.objects.create(
        name="w", prompt_tokens=8, typical_prompt_tokens=8, answer_tokens=8, prompts=kept
    )
    prompt_set_delete(user=kept.owner, prompts=kept)
    workload.refresh_from_db()
    assert workload.prompts is None
    assert not PromptSet.objects.exists() and not PromptCount.objects.exists()
    again = prompt_set_save(user=None, name="x", prompts=read_prompts(FILE))
    prompt_set_delete(user=make_user("root", is_superuser=True), prompts=again)


def test_a_workload_holds_its_prompts_and_only_its_owner_changes_them(kept: PromptSet) -> None:
    ada, lengths = kept.owner, {"prompt_tokens": 8, "typical_prompt_tokens": 4, "answer_tokens": 2, "sequences": 1}
    workload_save(user=ada, name="chat", **lengths)
    with pytest.raises(Refusal, match="other lengths or prompts"):
        workload_save(user=make_user("bob"), name="chat", prompts=kept, **lengths)
    assert workload_save(user=ada, name="chat", prompts=kept, **lengths).prompts == kept
    assert Workload.objects.get().prompts == kept


def test_the_inspecting_worker_counts_once_for_a_model(
    kept: PromptSet, sent: list[tuple[str, int]], django_capture_on_commit_callbacks: Any
) -> None:
    entry = make_entry()
    with django_capture_on_commit_callbacks(execute=True):
        first = prompt_count_request(entry=entry, prompts=kept)
        assert prompt_count_request(entry=entry, prompts=kept).pk == first.pk
    assert sent == [("jobs.tasks.prompts_count by inspect", first.pk)]
    prompt_count_make(first.pk, count=counting)
    prompt_count_make(first.pk, count=failing)  # rung twice: there is nothing left to do
    found = prompt_count_request(entry=entry, prompts=kept)
    assert (found.state, found.lengths) == (EntryState.READY, LENGTHS.as_json())
    assert prompt_count_request(entry=make_entry(), prompts=kept).state == EntryState.WAITING


def test_a_lost_wake_up_is_sent_again(
    kept: PromptSet, sent: list[tuple[str, int]], django_capture_on_commit_callbacks: Any
) -> None:
    entry = make_entry()
    count = PromptCount.objects.create(model_entry=entry, prompts=kept)
    with django_capture_on_commit_callbacks(execute=True):
        prompt_count_request(entry=entry, prompts=kept)
    assert [number for _, number in sent] == [count.pk]


def test_a_refusal_is_kept_with_its_reason_and_tried_again_when_asked(kept: PromptSet) -> None:
    count = PromptCount.objects.create(model_entry=make_entry(), prompts=kept)
    prompt_count_make(count.pk, count=refusing)
    count.refresh_from_db()
    assert count.state == EntryState.REFUSED
    assert count.error["code"] == "no_tokenizer" and "/srv" not in str(count.error)
    assert prompt_count_request(entry=count.model_entry, prompts=kept).state == EntryState.WAITING


def test_what_was_not_foreseen_is_told_without_the_prompts(kept: PromptSet) -> None:
    count = PromptCount.objects.create(model_entry=make_entry(), prompts=kept)
    prompt_count_make(count.pk, count=failing)
    count.refresh_from_db()
    assert count.state == EntryState.REFUSED and count.error["code"] == "internal"
    assert "secret" not in str(count.error)
    prompt_count_make(10**6, count=failing)  # one that was deleted


def run_with(sha256: str) -> tuple[Run, list[OwnPrompts | None]]:
    """A run of a question with these prompts, executed; and what its bench was given."""
    given: list[OwnPrompts | None] = []
    worker = make_worker()
    profile = make_profile(worker, question=make_question(prompts_sha256=sha256).as_json())
    run = make_run(worker, profile)

    def bench(*, prompts: OwnPrompts | None, **_: Any) -> contextlib.AbstractContextManager[Any]:
        given.append(prompts)
        return contextlib.nullcontext()

    def answer(*_: Any) -> Iterator[Event]:
        yield Event(kind=EventKind.LOG, data={"message": "measured"})

    claim = run_claim(worker=worker)
    assert claim is not None
    inspect: Any = lambda spec, **_: make_record(model=spec.name)  # noqa: E731
    process: Any = lambda **_: contextlib.nullcontext()  # noqa: E731
    run_execute(claim=claim, tools=Tools(answer=answer, bench=bench, inspect=inspect, process=process))
    run.refresh_from_db()
    return run, given


def test_a_run_is_measured_with_the_prompts_of_its_question(kept: PromptSet) -> None:
    run, (prompts,) = run_with(kept.sha256)
    assert run.state == RunState.DONE
    assert prompts is not None
    assert (prompts.texts, prompts.sha256) == (("a secret of the team", "another one"), kept.sha256)
    told = [*run.events.values_list("data", flat=True), run.question, run.error]
    assert "secret" not in str(told)


def test_a_run_whose_prompts_were_deleted_says_so(kept: PromptSet) -> None:
    prompt_set_delete(user=kept.owner, prompts=kept)
    run, given = run_with(read_prompts(FILE).sha256)
    assert (run.state, run.error["code"], given) == (RunState.FAILED, "prompts_gone", [])
    assert prompts_of(make_question()) is None
