import pytest
from django.test import Client
from django.urls import reverse

from jobs.models import Adoption, Freshness, Profile, Role, Run
from tests.factories import make_run, make_user

HQQ = "quantized:hqq:4"


@pytest.fixture
def run(answered: int) -> Run:
    """3,968 tokens with hqq's 4 bits."""
    return Run.objects.get(pk=answered)


def adopt(client: Client, run: Run, **values: str) -> str:
    given = {"context": "3,968", "strategy": HQQ, "reason": ""} | values
    return client.post(reverse("run-adopt", args=[run.pk]), given, follow=True).content.decode()


def test_the_limit_is_adopted_and_the_profile_says_so(signed_in: Client, run: Run) -> None:
    page = adopt(signed_in, run)
    for words in ("Adopted by the team", "by ada", "in force", "It is provisional: what this strategy costs"):
        assert words in page
    assert "Adopted by the team" in signed_in.get(reverse("run", args=[run.pk])).content.decode()
    assert "adopted 3,968" in signed_in.get(reverse("home")).content.decode()


def test_a_lower_one_needs_a_reason_which_is_shown_as_text(signed_in: Client, run: Run) -> None:
    assert "needs a reason" in adopt(signed_in, run, context="3000")
    assert not Adoption.objects.exists()
    assert "&lt;i&gt;room&lt;/i&gt;" in adopt(signed_in, run, context="3000", reason="<i>room</i>")
    assert Adoption.objects.get().context == 3000


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"context": "4000"}, "4,000 tokens are more than the 3,968 that ran"),
        ({"context": "0"}, "0 is outside of that"),
        ({"context": "many"}, "Write a whole number"),
        ({"context": ""}, "This field is required"),
        ({"strategy": "magic"}, "Choose a strategy that ran."),
        ({"reason": "x" * 501}, "500 characters"),
    ],
)
def test_what_did_not_run_is_not_adopted(signed_in: Client, run: Run, values: dict[str, str], sentence: str) -> None:
    assert sentence in adopt(signed_in, run, **values)
    assert not Adoption.objects.exists()


def test_any_member_withdraws_it_and_it_stays_in_the_history(signed_in: Client, client: Client, run: Run) -> None:
    adopt(signed_in, run)
    adoption = Adoption.objects.get()
    signed_in.force_login(make_user("bob"), backend="django.contrib.auth.backends.ModelBackend")
    page = signed_in.post(reverse("adoption-withdraw", args=[adoption.pk]), follow=True).content.decode()
    assert "Nothing is adopted now" in page
    assert "Adopted by the team" not in page
    assert "in force" not in page
    assert 'id="adoptions"' in page


def test_a_stale_and_a_superseded_answer_are_adopted_with_a_warning(signed_in: Client, run: Run) -> None:
    Profile.objects.update(freshness=Freshness.STALE)
    assert "This answer is stale" in signed_in.get(reverse("run-adopt", args=[run.pk])).content.decode()
    later = make_run(profile=run.profile, state="done", answered=True, stages=run.stages)
    Profile.objects.update(answer_run=later)
    assert "There is a later answer" in signed_in.get(reverse("run-adopt", args=[run.pk])).content.decode()
    adopt(signed_in, run)
    adoption = Adoption.objects.get()
    assert adoption.context == 3968


def test_a_later_lower_answer_is_said_beside_what_is_adopted(signed_in: Client, run: Run) -> None:
    adopt(signed_in, run)
    limit = dict(run.stages["limit"])
    limit["by_strategy"] = limit["by_strategy"] | {HQQ: limit["by_strategy"][HQQ] | {"context": 2000}}
    later = make_run(profile=run.profile, state="done", answered=True, stages=run.stages | {"limit": limit})
    Profile.objects.update(answer_run=later)
    page = signed_in.get(reverse("profile", args=[run.profile_id])).content.decode()
    assert "is lower with this strategy: 2,000 tokens" in page


def test_a_viewer_is_offered_none_of_it(client: Client, signed_in: Client, run: Run) -> None:
    adopt(signed_in, run)
    client.force_login(make_user(role=Role.VIEWER), backend="django.contrib.auth.backends.ModelBackend")
    assert client.post(reverse("run-adopt", args=[run.pk])).status_code == 403
    assert client.post(reverse("adoption-withdraw", args=[Adoption.objects.get().pk])).status_code == 403
    for page in (reverse("profile", args=[run.profile_id]), reverse("run", args=[run.pk])):
        shown = client.get(page).content.decode()
        assert "Adopted by the team" in shown
        assert "/adopt/" not in shown
        assert "/withdraw/" not in shown


def test_what_is_not_there_is_not_found(signed_in: Client, run: Run) -> None:
    assert signed_in.get(reverse("run-adopt", args=[999])).status_code == 404
    assert signed_in.post(reverse("adoption-withdraw", args=[999])).status_code == 404
    unanswered = make_run()
    assert "no limit that can be adopted" in signed_in.get(reverse("run-adopt", args=[unanswered.pk])).content.decode()


@pytest.mark.parametrize("context", ["_", ",", " , _ ", "1.5", "٣"])
def test_what_is_no_number_is_no_context(signed_in: Client, run: Run, context: str) -> None:
    page = adopt(signed_in, run, context=context, reason="why not")
    assert "Write a whole number of tokens" in page
    assert not Adoption.objects.exists()
