"""A file of the team's own prompts in the question's form, on the pages, and gone."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from jobs.asking import waiting
from jobs.models import EntryState, ModelEntry, Profile, PromptCount, PromptSet, Run, Workload
from jobs.procedure.own_prompts import MOST_BYTES, read_prompts
from jobs.procedure.prompt_lengths import PromptLengths
from jobs.services import prompt_count
from jobs.services.prompt_set import prompt_set_save
from jobs.web import prompts_chosen
from tests.browser import demo
from tests.factories import make_run, make_user

NEW = reverse("profile-new")
LEAST = {"model": "SmolLM2-135M", "prompt_tokens": "4096", "answer_tokens": "256"}
FILE = b'a secret of the team\n[1]\n{"prompt": "another one"}\n'
SHA256 = hashlib.sha256(FILE).hexdigest()
LENGTHS = PromptLengths(count=2, p50=812, p95=3100, longest=7902)


def upload(content: bytes = FILE, name: str = "ours.jsonl") -> dict[str, Any]:
    return {"prompts_file": SimpleUploadedFile(name, content)}


@pytest.fixture
def asking(signed_in: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A worker lives and the model is inspected; what takes longer is not waited for."""
    demo.worker()
    demo.entry()
    monkeypatch.setattr(waiting, "PATIENCE_S", 0.0)
    return signed_in


@pytest.fixture
def kept(member: User) -> PromptSet:
    return prompt_set_save(user=member, name="ours.jsonl", prompts=read_prompts(FILE))


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """What the inspecting worker will answer, at once."""

    def counted(state: str) -> None:
        def request(*, entry: ModelEntry, prompts: PromptSet) -> PromptCount:
            told = {"lengths": LENGTHS.as_json()} if state == EntryState.READY else {}
            error = {"code": "no_tokenizer", "message": "There is no tokenizer.", "hint": "Use random tokens."}
            refused = {"error": error} if state == EntryState.REFUSED else {}
            found, _ = PromptCount.objects.update_or_create(
                model_entry=entry, prompts=prompts, defaults={"state": state, **told, **refused}
            )
            return found

        monkeypatch.setattr(prompts_chosen, "prompt_count_request", request)

    return counted


def test_an_uploaded_file_is_kept_and_named_by_the_question(asking: Client, member: User) -> None:
    asking.post(NEW, LEAST | upload())
    found = PromptSet.objects.get()
    assert (found.name, found.owner, found.sha256, found.count) == ("ours.jsonl", member, SHA256, 2)
    assert Profile.objects.get().question["prompts_sha256"] == SHA256


def test_prompts_that_are_kept_can_be_chosen_by_every_member(asking: Client) -> None:
    others = prompt_set_save(user=make_user("bob"), name="bobs", prompts=read_prompts(FILE))
    assert f'<option value="{others.pk}">bobs</option>' in asking.get(NEW).content.decode()
    asking.post(NEW, LEAST | {"prompts": str(others.pk)})
    assert Profile.objects.get().question["prompts_sha256"] == SHA256


def test_without_any_the_prompts_are_random_tokens(asking: Client) -> None:
    asking.post(NEW, LEAST)
    assert Profile.objects.get().question["prompts_sha256"] is None


def test_counting_shows_the_lengths_and_fills_the_fields_and_runs_nothing(
    asking: Client, counts: Callable[[str], None]
) -> None:
    counts(EntryState.READY)
    answer = asking.post(NEW, LEAST | upload() | {"count": "yes"})
    form, page = answer.context["form"], answer.content.decode()
    assert (form["prompt_tokens"].value(), form["typical_prompt_tokens"].value()) == ("7904", "812")
    assert form["prompts"].value() == str(PromptSet.objects.get().pk)
    assert "For SmolLM2-135M: half have up to 812 tokens, 95 % up to 3,100, the longest 7,902" in page
    assert "typical 812, longest 7,904" in page
    assert "Line 2 is not used: it is a JSON array" in page
    assert "secret" not in page
    assert not form.errors and not Run.objects.exists()
    sent = {name: form[name].value() for name in (*LEAST, "prompts", "typical_prompt_tokens")}
    asking.post(NEW, sent | {"answer_tokens": "100"})
    question = Profile.objects.get().question
    assert (question["prompt_tokens"], question["typical_prompt_tokens"]) == (7904, 812)


def test_what_is_still_counted_keeps_the_file_and_says_so(asking: Client) -> None:
    page = asking.post(NEW, LEAST | upload() | {"count": "yes"}).content.decode()
    assert "still being counted" in page and "Not counted for this model yet" in page
    assert f'<option value="{PromptSet.objects.get().pk}" selected>ours.jsonl</option>' in page
    assert PromptCount.objects.get().state == EntryState.WAITING


def test_a_model_without_a_tokenizer_says_so_beside_the_prompts(asking: Client, counts: Callable[[str], None]) -> None:
    counts(EntryState.REFUSED)
    errors = asking.post(NEW, LEAST | upload() | {"count": "yes"}).context["form"].errors
    assert errors == {"prompts": ["There is no tokenizer. Use random tokens."]}


def test_nothing_to_count_is_said(asking: Client) -> None:
    errors = asking.post(NEW, LEAST | {"count": "yes"}).context["form"].errors
    assert list(errors) == ["prompts"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "holds no prompt"),
        (b"GIF89a\x00\x01\n\x00", "line 1: it holds a NUL character"),
        (b"\xff\xd8\xff\xe0", "line 1: it is not UTF-8"),
        (b"x\n" * 10_001, "more than 10,000 lines"),
        (b"x" * 2_000_001, "line 1: it has 2,000,001 characters"),
        (b"x\n" * (MOST_BYTES // 2) + b"xyz", "has 8,388,611 bytes; it may have 8,388,608 (8 MiB)"),
    ],
    ids=["empty", "NUL", "binary", "10,001 lines", "a giant line", "too large"],
)
def test_a_file_that_is_none_is_refused_beside_its_field(asking: Client, content: bytes, sentence: str) -> None:
    errors = asking.post(NEW, LEAST | upload(content)).context["form"].errors
    assert list(errors) == ["prompts_file"]
    assert sentence in errors["prompts_file"][0]
    assert not PromptSet.objects.exists() and not Run.objects.exists()


def test_an_upload_is_never_written_to_a_disk(asking: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    asking.post(NEW, LEAST | upload(b"x" * 1_999_999 + b"\n" + b"y" * 1_999_999))
    assert PromptSet.objects.get().count == 2


def test_of_several_files_at_once_none_is_held(client: Client) -> None:
    """A form has one; each would be held in memory before anybody is known to be signed in."""
    files = {f"file{number}": SimpleUploadedFile("x", b"x\n") for number in range(2)}
    assert client.post("/sign-in/", files).status_code == 400
    assert client.post("/sign-in/", {"file": SimpleUploadedFile("x", b"x\n")}).status_code == 200


def test_prompts_that_were_deleted_cannot_be_chosen(asking: Client, kept: PromptSet) -> None:
    kept.delete()
    errors = asking.post(NEW, LEAST | {"prompts": "1"}).context["form"].errors
    assert errors == {"prompts": ["Those prompts were deleted; choose others."]}


def test_a_workload_takes_its_prompts_along(asking: Client, kept: PromptSet) -> None:
    asking.post(NEW, LEAST | {"prompts": str(kept.pk), "workload_name": "support"})
    workload = Workload.objects.get()
    assert workload.prompts == kept
    asking.post(NEW, {"model": "SmolLM2-135M", "workload": str(workload.pk)})
    assert [profile.question["prompts_sha256"] for profile in Profile.objects.all()] == [SHA256, SHA256]
    assert f'data-prompts="{kept.pk}"' in asking.get(NEW).content.decode()


def test_a_similar_question_starts_with_the_same_prompts(asking: Client, kept: PromptSet) -> None:
    asking.post(NEW, LEAST | {"prompts": str(kept.pk)})
    profile = Profile.objects.get()
    form = asking.get(NEW, {"from": profile.pk}).context["form"]
    assert form["prompts"].value() == kept.pk
    kept.delete()
    assert asking.get(NEW, {"from": profile.pk}).context["form"]["prompts"].value() is None


def test_the_pages_say_which_prompts_were_used(asking: Client, kept: PromptSet) -> None:
    asking.post(NEW, LEAST | {"prompts": str(kept.pk)})
    run = Run.objects.get()
    before = asking.get(reverse("run", args=[run.pk])).content.decode()
    Run.objects.update(environment={"prompts": LENGTHS.as_json() | {"sha256": SHA256}}, stages={}, state="done")
    page = asking.get(reverse("run", args=[run.pk])).content.decode()
    profile = asking.get(reverse("profile", args=[run.profile_id])).content.decode()
    assert "own prompts" in before
    assert "2 own prompts: half have up to 812 tokens, 95 % up to 3,100, the longest 7,902" in page
    assert "own prompts" in profile
    assert "secret" not in before + page + profile
    plain = make_run()
    assert "random tokens" in asking.get(reverse("run", args=[plain.pk])).content.decode()


def test_a_member_deletes_their_own_prompts_and_nobody_elses(signed_in: Client, kept: PromptSet) -> None:
    others = prompt_set_save(user=make_user("bob"), name="bobs", prompts=read_prompts(b"bob's secret"))
    page = signed_in.get(reverse("prompts")).content.decode()
    assert "ours.jsonl" in page and "bobs" in page and "secret" not in page
    assert reverse("prompts-delete", args=[kept.pk]) in page
    assert reverse("prompts-delete", args=[others.pk]) not in page
    assert signed_in.post(reverse("prompts-delete", args=[others.pk])).status_code == 403
    signed_in.post(reverse("prompts-delete", args=[kept.pk]))
    assert list(PromptSet.objects.all()) == [others]
    assert signed_in.post(reverse("prompts-delete", args=[kept.pk])).status_code == 404
    assert signed_in.get(reverse("prompts-delete", args=[others.pk])).status_code == 405


def test_the_list_of_prompts_makes_the_same_queries_however_long(
    signed_in: Client, kept: PromptSet, django_assert_num_queries: Any
) -> None:
    for number in range(5):
        prompt_set_save(user=make_user(f"m{number}"), name="x", prompts=read_prompts(b"p%d" % number))
    with django_assert_num_queries(4):
        signed_in.get(reverse("prompts"))


def test_the_worker_that_reads_models_is_who_counts(
    asking: Client, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(prompt_count, "prompts_count_send", lambda *, count_id: sent.append(count_id))
    monkeypatch.delattr(prompt_count, "measuring_process")
    with django_capture_on_commit_callbacks(execute=True):
        asking.post(NEW, LEAST | upload() | {"count": "yes"})
    assert sent == [PromptCount.objects.get().pk]
