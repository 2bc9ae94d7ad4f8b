from typing import Any

import pytest

from jobs.models import Adoption, Deed, Freshness, Profile, Run, RunState, Tag
from jobs.procedure.question import Question
from jobs.selectors.deploy import measured_of
from jobs.services.profile import profile_archive, profile_ask_anew, profile_edit, profile_restore
from jobs.services.recheck import run_recheck
from jobs.services.run import run_again
from jobs.services.several import Asked, runs_submit
from jobs.services.tag import tags_read
from jobs.sizing.refusal import Refusal
from tests.factories import make_entry, make_profile, make_question, make_run, make_user, make_worker

pytestmark = pytest.mark.django_db
AS_IT_IS = {"tags": "", "notes": "", "at_night": True}


def edit(profile: Profile, **fields: Any) -> Profile:
    return profile_edit(profile=profile, user=None, **({"name": profile.name} | AS_IT_IS | fields))


@pytest.fixture
def profile() -> Profile:
    """With an answer, by a run that is done."""
    profile = make_profile(name="Chats", owner=make_user("ada"))
    run = make_run(profile=profile, state=RunState.DONE, answered=True, limit_context=900, environment={}, device={})
    Profile.objects.update(answer_run=run, latest_run=run)
    profile.refresh_from_db()
    return profile


def test_an_edit_keeps_name_tags_notes_and_the_night(profile: Profile) -> None:
    edited = edit(profile, name=" Long \n chats ", tags="Night, 24 GB,night", notes="a\r\nb ", at_night=False)
    assert (edited.name, edited.notes, edited.at_night) == ("Long chats", "a\nb", False)
    assert [tag.name for tag in edited.tags.all()] == ["24 gb", "night"]
    deed = Deed.objects.get()
    assert (deed.what, deed.on, deed.about) == (
        "edited",
        "Long chats",
        "name, notes, recheck at night, tags; it was “Chats”",
    )


def test_an_edit_that_changes_nothing_is_no_deed(profile: Profile) -> None:
    edit(profile, tags="a")
    edit(profile, tags=" A ,a")
    assert Deed.objects.count() == 1


def test_profiles_share_a_tag(profile: Profile) -> None:
    edit(profile, tags="night")
    edit(make_profile(), tags="Night")
    assert Tag.objects.get().profiles.count() == 2


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"name": " "}, "bad_name"),
        ({"name": "n" * 121}, "bad_name"),
        ({"notes": "n" * 4001}, "bad_notes"),
        ({"tags": ",".join(map(str, range(11)))}, "bad_tags"),
        ({"tags": "t" * 41}, "bad_tags"),
        ({"tags": "a\x07b"}, "bad_tags"),
    ],
)
def test_what_cannot_be_kept_is_refused_whole(profile: Profile, fields: dict[str, str], code: str) -> None:
    with pytest.raises(Refusal) as refused:
        edit(profile, **({"name": "Other"} | fields))
    assert refused.value.code == code
    assert Profile.objects.get().name == "Chats"
    assert not Deed.objects.exists()


def test_tags_are_read_from_a_list_with_commas() -> None:
    assert tags_read(" B,a ,, Two  Words ,a") == ["a", "b", "two words"]


def test_another_question_is_asked_by_the_same_profile_and_makes_its_answer_stale(profile: Profile) -> None:
    asked = make_question(device="cpu", prompt_tokens=2048)
    assert profile.worker
    run = profile_ask_anew(profile=profile, user=None, entry=profile.model_entry, question=asked, worker=profile.worker)
    profile.refresh_from_db()
    assert run.question == profile.question == asked.as_json()
    assert profile.latest_run == run
    assert profile.answer_run
    assert profile.answer_run.question["prompt_tokens"] == 1024
    assert profile.freshness == Freshness.STALE
    assert Deed.objects.get(what="edited").about == "the question: longest prompt 1,024 tokens → 2,048 tokens"


def test_another_model_or_device_is_another_question(profile: Profile) -> None:
    worker, entry = make_worker("cuda:0", device_name="NVIDIA L4"), make_entry("org/other")
    asked = make_question(device="cuda:0", model="org/other")
    run = profile_ask_anew(profile=profile, user=None, entry=entry, question=asked, worker=worker)
    profile.refresh_from_db()
    assert (profile.worker, profile.model_entry, run.worker) == (worker, entry, worker)
    about = Deed.objects.get(what="edited").about
    assert "model a/model → org/other" in about
    assert "→ NVIDIA L4" in about


def test_a_run_keeps_its_own_model_whatever_its_profile_asks_by_now(profile: Profile) -> None:
    before, entry = profile.runs.get(), make_entry("org/other")
    adoption = Adoption.objects.create(profile=profile, run=before, context=100, strategy="default")
    Profile.objects.filter(pk=profile.pk).update(adoption=adoption)
    assert profile.worker
    asked = make_question(device="cpu", model="org/other")
    run = profile_ask_anew(profile=profile, user=None, entry=entry, question=asked, worker=profile.worker)
    before.refresh_from_db()
    assert (before.model_entry, run.model_entry) == (profile.model_entry, entry)
    profile.refresh_from_db()
    assert profile.adoption is None, "it was a limit of the model before"
    Run.objects.filter(pk=before.pk).update(stages={"limit": {"by_strategy": {"default": {"context": 1056}}}})
    measured = measured_of(Profile.objects.get(pk=profile.pk))
    assert measured is not None
    assert "org/other" not in measured.model, "what is deployed is checked against what was measured"


def test_the_same_question_is_not_asked_anew(profile: Profile) -> None:
    assert profile.worker
    with pytest.raises(Refusal, match="the same as before"):
        profile_ask_anew(
            profile=profile,
            user=None,
            entry=profile.model_entry,
            question=Question.from_json(profile.question),
            worker=profile.worker,
        )


def test_an_archived_profile_keeps_its_runs_and_makes_none_until_it_is_restored(profile: Profile) -> None:
    assert profile_archive(profile=profile, user=None)
    assert not profile_archive(profile=profile, user=None)
    assert profile.runs.count() == 1
    for ask in (run_again, run_recheck):
        with pytest.raises(Refusal) as refused:
            ask(profile=profile, user=None)  # type: ignore[operator]
        assert refused.value.code == "archived"
    with pytest.raises(Refusal, match="is archived"):
        profile_ask_anew(
            profile=profile,
            user=None,
            entry=profile.model_entry,
            question=make_question(device="cpu", prompt_tokens=9),
            worker=profile.worker,  # type: ignore[arg-type]
        )
    assert profile_restore(profile=profile, user=None)
    assert not profile_restore(profile=profile, user=None)
    assert run_again(profile=profile, user=None).state == RunState.QUEUED
    assert list(Deed.objects.order_by("pk").values_list("what", flat=True)) == ["archived", "restored", "submitted"]


def _asked(count: int, **changes: Any) -> list[Asked]:
    worker = make_worker()
    given = {"question": make_question(device="cpu"), "worker": worker} | changes
    return [Asked(name=f"no {number}", entry=make_entry(), **given) for number in range(count)]


def test_several_are_asked_at_once_each_with_a_run(profile: Profile) -> None:
    runs = runs_submit(user=None, asked=_asked(3), cloned_from=profile)
    assert [run.profile.name for run in runs] == ["no 0", "no 1", "no 2"]
    assert {run.profile.cloned_from for run in runs} == {profile}


def test_all_of_them_are_made_or_none() -> None:
    asked = _asked(2)
    wrong = Asked(
        name="x", entry=make_entry("org/wrong"), question=make_question(device="cuda:0"), worker=asked[0].worker
    )
    with pytest.raises(Refusal, match="org/wrong on A processor: "):
        runs_submit(user=None, asked=[*asked, wrong])
    with pytest.raises(Refusal, match="13 runs are more than 12"):
        runs_submit(user=None, asked=(asked * 7)[:13])
    assert not Profile.objects.exists()
