import re

import pytest
from django.contrib.auth.models import User
from django.db.models import Q
from django.test import Client
from django.urls import reverse

from jobs.models import Deed, Profile, Purpose, Role, Run, RunState
from jobs.services.run_state import run_move
from tests.browser import demo_recheck as story
from tests.factories import make_profile, make_run, make_user

pytestmark = pytest.mark.django_db


def text_of(client: Client, name: str, pk: int) -> str:
    answer = client.get(reverse(name, args=[pk]))
    assert answer.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def cells(client: Client, pk: int) -> list[list[str]]:
    """The rows of a recheck's table."""
    html = client.get(reverse("run", args=[pk])).content.decode()
    table = html[html.index("recheck-table") :].partition("</table>")[0].partition("<tbody>")[2]
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in table.split("<tr>")[1:]]
    return [[" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in row] for row in rows]


def test_story_four(signed_in: Client, member: User) -> None:
    first = story.begin(member.username)
    profile = Profile.objects.get(pk=story.profile_of(first))
    assert Run.objects.get(pk=first).fits is False and profile.freshness == "fresh"
    assert "Nothing that this answer rests on is known to have changed." in text_of(signed_in, "profile", profile.pk)

    story.upgrade()
    profile.refresh_from_db()
    assert (profile.freshness, [one["what"] for one in profile.differences]) == ("stale", ["transformers"])
    for page, pk in (("profile", profile.pk), ("run", first)):
        assert "transformers 5.23.0 → 5.24.0 Recheck" in text_of(signed_in, page, pk)

    home = signed_in.get(reverse("home")).content.decode()
    assert "stale" in home and "transformers 5.23.0 → 5.24.0" in home

    answer = signed_in.post(reverse("recheck", args=[profile.pk]))
    second = story.latest(profile.pk)
    assert answer["Location"] == reverse("run", args=[second])
    assert "What both found is shown here once this run has a limit." in text_of(signed_in, "run", second)
    assert f"Run {second} rechecks it." in text_of(signed_in, "profile", profile.pk)
    story.play(second)
    run = Run.objects.get(pk=second)
    assert (run.fits, run.limit_context, run.purpose, run.compared_with_id) == (True, 33_792, Purpose.RECHECK, first)
    before = Run.objects.get(pk=first).limit_context
    assert before is not None and before < 33_792
    told = text_of(signed_in, "run", second)
    assert (
        f"The workload fits now: the max context rose from {before:,} to 33,792 tokens after transformers 5.23.0 → "
        "5.24.0." in told
    )
    rows = {row[0]: row[1:] for row in cells(signed_in, second)}
    assert rows["Max context"][:3] == [f"{before:,} tokens", "33,792 tokens", f"+{33_792 - before:,}"]
    assert rows["Whole workload"] == ["does not fit", "fits", "changed", "yes"]
    peak = next(row for what, row in rows.items() if what.startswith("Peak memory"))
    assert peak[2].startswith("−") and peak[3].startswith("yes")
    assert f"of run {first}" in told
    assert Run.objects.get(pk=first).measurements.exists(), "the old run is kept"
    profile.refresh_from_db()
    assert (profile.freshness, profile.answer_run_id) == ("fresh", second)
    assert "still holds" not in text_of(signed_in, "run", first)

    signed_in.post(reverse("recheck", args=[profile.pk]))
    third = story.play(story.latest(profile.pk))
    assert "No difference beyond noise." in text_of(signed_in, "run", third)
    assert {row[4].partition(" ")[0] for row in cells(signed_in, third)} == {"no"}
    pace = next(row[4] for row in cells(signed_in, third) if row[0].startswith("Answer speed"))
    assert pace == "no noise ± 20 %: each point was run once; “full” would tell smaller differences apart"
    assert [deed.what for deed in Deed.objects.order_by("pk")] == ["submitted", "rechecked", "rechecked"]


def test_a_viewer_sees_what_differs_and_cannot_recheck(client: Client) -> None:
    member, viewer = make_user(), make_user(role=Role.VIEWER)
    first = story.begin(member.username)
    story.upgrade()
    client.force_login(viewer, backend="django.contrib.auth.backends.ModelBackend")
    profile = story.profile_of(first)
    assert "transformers 5.23.0 → 5.24.0" in text_of(client, "profile", profile)
    assert reverse("recheck", args=[profile]) not in client.get(reverse("profile", args=[profile])).content.decode()
    assert client.post(reverse("recheck", args=[profile])).status_code == 403
    assert Run.objects.count() == 1


def test_only_a_post_of_a_profile_that_is_there_rechecks(signed_in: Client) -> None:
    assert signed_in.get(reverse("recheck", args=[1])).status_code == 405
    assert signed_in.post(reverse("recheck", args=[4711])).status_code == 404


def test_what_cannot_be_rechecked_says_why(signed_in: Client) -> None:
    profile = make_profile()
    answer = signed_in.post(reverse("recheck", args=[profile.pk]), follow=True)
    assert "No run of this profile has an answer that could be rechecked." in answer.content.decode()


def test_an_edited_question_s_limit_is_not_compared(signed_in: Client, member: User) -> None:
    first = story.begin(member.username)
    profile = Profile.objects.get(pk=story.profile_of(first))
    Profile.objects.filter(pk=profile.pk).update(question=profile.question | {"sequences": 2})
    signed_in.post(reverse("recheck", args=[profile.pk]))
    told = text_of(signed_in, "run", story.play(story.latest(profile.pk)))
    assert "The question was edited (sequences at once 8 → 2), so its limit is not compared" in told
    assert "Beyond noise?" not in told


def test_a_recheck_that_fails_or_whose_run_of_before_is_gone_compares_nothing(signed_in: Client, member: User) -> None:
    first = story.begin(member.username)
    profile = story.profile_of(first)
    signed_in.post(reverse("recheck", args=[profile]))
    second = story.latest(profile)
    run_move(run_id=second, to=RunState.CANCELLED, when=Q(), message="Cancelled.")
    assert "No difference" not in text_of(signed_in, "run", second)
    Run.objects.filter(pk=second).update(compared_with=None)
    assert "Recheck of" not in text_of(signed_in, "run", second)
    assert make_run(profile=Profile.objects.get(pk=profile)).compared_with is None
