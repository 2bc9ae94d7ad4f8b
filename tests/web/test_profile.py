import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from jobs.models import Profile, Run, Tag, Worker
from jobs.web.presenters.certainty import certainty
from tests.browser import demo
from tests.factories import make_profile, make_run


@pytest.fixture
def profile(answered: int) -> Profile:
    return Run.objects.get(pk=answered).profile


def test_it_shows_the_question_the_answer_and_the_runs(signed_in: Client, profile: Profile) -> None:
    page = signed_in.get(reverse("profile", args=[profile.pk])).content.decode()
    for words in ("prompt up to 4,096, answer 256", "340 MiB, 5 % kept free", "3,968", "architecture only"):
        assert words in page
    assert reverse("run", args=[profile.runs.get().pk]) in page


def test_the_answer_is_the_latest_answered_runs(signed_in: Client, profile: Profile) -> None:
    signed_in.post(reverse("run-again", args=[profile.pk]))
    answer = signed_in.get(reverse("profile", args=[profile.pk]))
    assert answer.context["answer"].context == 3968
    assert [row.state for row in answer.context["history"].rows] == ["queued", "done"]


def test_without_an_answer_it_points_to_the_run(signed_in: Client) -> None:
    run = Run.objects.get(pk=demo.submit())
    page = signed_in.get(reverse("profile", args=[run.profile_id])).content.decode()
    assert "The first answer is being measured" in page


def test_running_it_again_is_a_new_run_of_the_same_question(signed_in: Client, profile: Profile) -> None:
    answer = signed_in.post(reverse("run-again", args=[profile.pk]))
    again = profile.runs.order_by("-pk").first()
    assert again
    assert answer.headers["Location"] == reverse("run", args=[again.pk])
    assert again.question == profile.question


def test_without_a_worker_of_its_device_it_cannot_run_again_and_says_so(signed_in: Client, profile: Profile) -> None:
    Worker.objects.all().delete()
    page = signed_in.post(reverse("run-again", args=[profile.pk]), follow=True).content.decode()
    assert "No worker for cpu of" in page
    assert profile.runs.count() == 1


def test_a_stranger_is_sent_to_sign_in(client: Client, profile: Profile) -> None:
    assert client.get(reverse("profile", args=[profile.pk])).status_code == 302
    assert client.post(reverse("run-again", args=[profile.pk])).status_code == 302
    assert profile.runs.count() == 1


def test_wrong_methods_are_refused(signed_in: Client, profile: Profile) -> None:
    assert signed_in.post(reverse("profile", args=[profile.pk])).status_code == 405
    assert signed_in.get(reverse("run-again", args=[profile.pk])).status_code == 405


def test_a_missing_profile_is_not_found(signed_in: Client) -> None:
    assert signed_in.get(reverse("profile", args=[999])).status_code == 404
    assert signed_in.post(reverse("run-again", args=[999])).status_code == 404


def history(profile: Profile, count: int) -> list[Run]:
    """As many answered runs, of which the third found another transformers."""
    runs = []
    for number in range(count):
        versions = {"transformers": "5.23.0" if number < 2 else "5.24.0", "torch": "2.13.0", "driver": "570.1"}
        columns = {"limit_context": 3000 + number, "limit_strategy": "default", "tokens_per_s": 7.5, "answered": True}
        run = make_run(profile=profile, state="done", environment={"versions": versions}, **columns)
        runs.append(run)
    Profile.objects.filter(pk=profile.pk).update(answer_run=runs[-1], latest_run=runs[-1])
    return runs


def test_every_run_in_time_says_its_environment_and_what_changed(signed_in: Client) -> None:
    profile = make_profile()
    runs = history(profile, 4)
    answer = signed_in.get(reverse("profile", args=[profile.pk]))
    found = answer.context["history"]
    assert [row.pk for row in found.rows] == [run.pk for run in runs[::-1]]
    assert [row.changed for row in found.rows] == [(), ("transformers 5.23.0 → 5.24.0",), (), ()]
    assert found.rows[0].environment == "transformers 5.24.0, torch 2.13.0, driver 570.1"
    page = answer.content.decode()
    assert "transformers 5.23.0 → 5.24.0" in page
    assert 'id="history-figures"' in page
    drawn = [trace for trace in found.figures["limit"]["data"] if trace["meta"]["role"] == "measured"]
    assert [y for trace in drawn for y in trace["y"]] == [row.context for row in found.rows[::-1]]


def test_one_answer_is_no_course_to_draw(signed_in: Client, profile: Profile) -> None:
    page = signed_in.get(reverse("profile", args=[profile.pk])).content.decode()
    assert "history-figures" not in page.replace('data-figures="#history-figures"', "")
    assert "plotly" not in page


def test_runs_are_shown_a_page_at_a_time_and_the_first_of_a_page_knows_the_one_before(signed_in: Client) -> None:
    profile = make_profile()
    runs = history(profile, 27)
    Run.objects.filter(pk=runs[1].pk).update(environment={"versions": {"transformers": "5.22.0"}})
    first = signed_in.get(reverse("profile", args=[profile.pk])).context["history"]
    assert len(first.rows) == 25
    assert first.rows[-1].changed == ("transformers 5.22.0 → 5.24.0",)
    assert len(signed_in.get(reverse("profile", args=[profile.pk]), {"page": 2}).context["history"].rows) == 2


def test_its_page_makes_the_same_queries_however_many_runs(signed_in: Client) -> None:
    counts = []
    for runs in (3, 20):
        profile = make_profile()
        history(profile, runs)
        with CaptureQueriesContext(connection) as made:
            signed_in.get(reverse("profile", args=[profile.pk]))
        counts.append(len(made))
    assert counts[0] == counts[1]


def test_it_says_how_sure_the_answer_is(signed_in: Client, profile: Profile) -> None:
    page = signed_in.get(reverse("profile", args=[profile.pk])).content.decode()
    assert "Confirmed: a real run at exactly that context" in page
    assert "Measured 1 time" not in page
    assert certainty({}) == ()
    best = {"repeats": 5, "spread": 0.12, "noisy": True}
    told = certainty({"limit": {"context": 9, "confirmed": False, "ran_at": best}})
    assert told[0].startswith("A real run at that context; the next longer one was not tried")
    assert told[1] == "Measured 5 times; the speeds lie within ± 6.0 %, which is noisy."


def test_notes_tags_and_what_it_was_cloned_from_are_shown_as_text(signed_in: Client, profile: Profile) -> None:
    source = make_profile(name="The first")
    profile.tags.add(Tag.objects.create(name="night"))
    Profile.objects.filter(pk=profile.pk).update(notes="<b>bold</b>\n[a](b)", cloned_from=source)
    page = signed_in.get(reverse("profile", args=[profile.pk])).content.decode()
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert "?tag=night" in page
    assert f'cloned from <a href="{reverse("profile", args=[source.pk])}">' in page
