import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from jobs.models import Run, RunState
from jobs.procedure.measurement import Ask, Measurement
from tests.browser import demo
from tests.factories import make_user

STRANGERS = ["run", "run-fragment", "run-events", "run-figures"]


def page_of(client: Client, pk: int) -> str:
    answer = client.get(reverse("run", args=[pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_waiting_run_says_its_place_and_why(signed_in: Client) -> None:
    demo.begin()
    page = page_of(signed_in, demo.submit("Waits"))
    assert "Number 2 in the queue" in page
    assert "1 run before this one on cpu of box." in page
    assert "<title>Queued · Waits</title>" in page
    assert "favicon-queued.svg" in page


def test_a_going_run_shows_what_it_measured_so_far(signed_in: Client) -> None:
    pk = demo.begin()
    assert demo.tell(pk, until="measurement") == 1
    page = page_of(signed_in, pk)
    assert "stage-running" in page
    assert "data-clock" in page
    assert "276.95 MiB" in page
    assert 'data-active="yes"' in page
    assert "Cancel" in page


def test_the_answer_is_the_closest_where_nothing_fits(signed_in: Client, answered: int) -> None:
    page = page_of(signed_in, answered)
    assert "Nothing fits the workload. The closest:" in page
    assert "3,968 <small>tokens</small>" in page
    assert "4,032 tokens" in page  # failed at
    assert "What would have to change" in page
    assert "A prompt of at most 3,712 tokens fits" in page
    assert "Provisional" in page
    assert "<title>3,968 tokens · Nightly summaries</title>" in page


@pytest.mark.parametrize(
    "bound", [{"min_decode_tokens_per_s": 1_000.0}, {"max_ttft_s": 0.001}, {"capacity_bytes": 258 * 2**20}]
)
def test_where_nothing_was_tried_and_nothing_fits_nobody_says_that_no_change_was_needed(
    signed_in: Client, bound: dict[str, float]
) -> None:
    pk = demo.begin(**{"prompt_tokens": 1024, "capacity_bytes": 2**30, "strategies": ()} | bound)
    demo.finish(pk)
    page = page_of(signed_in, pk)
    assert "Nothing fits" in page
    assert "no change was needed" not in page
    assert "no change is needed" not in page.lower()
    assert "not needed" not in page


@pytest.mark.parametrize(("ran", "title"), [(0, "No answer"), (1, "No answer yet. The longest seen to fit:")])
def test_a_run_out_of_time_has_no_answer_rather_than_one_that_nothing_fits(
    signed_in: Client, ran: int, title: str
) -> None:
    class OutOfTime(demo.DemoWorld):
        def measure(self, ask: Ask) -> Measurement:
            self.skip_after = ran
            return super().measure(ask)

    pk = demo.begin(prompt_tokens=1024, capacity_bytes=2**30, world=OutOfTime)
    demo.finish(pk)
    page = page_of(signed_in, pk)
    assert title in page
    assert "No answer for the workload" in page
    assert "Nothing fits" not in page


def test_the_answer_says_that_no_change_is_needed_where_the_normal_cache_fits(signed_in: Client) -> None:
    pk = demo.begin(prompt_tokens=1024, capacity_bytes=2**30)
    demo.finish(pk)
    page = page_of(signed_in, pk)
    assert "No change is needed." in page
    assert "The normal cache fits the workload: no change was needed." in page
    assert "nothing longer was tried" in page
    assert "predicted, not measured" in page


def test_what_a_change_costs_and_why_one_does_not_apply(signed_in: Client, answered: int) -> None:
    page = page_of(signed_in, answered)
    assert "not applicable: offloading moves the cache" in page
    assert "−37.5 %" in page
    assert "MiB saved" in page
    assert "cache_implementation = dynamic → quantized" in page


def test_the_settings_can_be_copied(signed_in: Client, answered: int) -> None:
    page = page_of(signed_in, answered)
    assert "model.generate(" in page
    assert 'data-copy="snippet"' in page


def test_the_estimate_stands_beside_the_measurement_with_its_error(signed_in: Client, answered: int) -> None:
    page = page_of(signed_in, answered)
    assert "Error of the estimate" in page
    assert "−1.1 %" in page
    assert "more than the capacity" in page


def test_a_failed_run_says_the_cause_and_the_next_step(signed_in: Client) -> None:
    pk = demo.begin()
    error = {"code": "hung", "message": "The measuring process hung.", "hint": ""}
    demo.finish(pk, state="failed", message="It hung.", error=error)
    page = page_of(signed_in, pk)
    assert "The measuring process hung." in page
    assert "leave out the strategy that the log names last" in page
    assert "favicon-failed.svg" in page


def test_the_figures_are_the_tables_figures(signed_in: Client, answered: int) -> None:
    figures = signed_in.get(reverse("run-figures", args=[answered])).json()
    assert set(figures) == {"memory", "speed", "ttft"}
    drawn = {
        (trace["meta"]["strategy"], context)
        for trace in figures["memory"]["data"]
        if trace["meta"]["role"] == "measured"
        for context in trace["x"]
    }
    rows = signed_in.get(reverse("run", args=[answered])).context["page"].measurements
    assert drawn == {(row.point.strategy, row.point.context) for row in rows if row.point.ran}


def test_every_axis_has_a_title(signed_in: Client, answered: int) -> None:
    for figure in signed_in.get(reverse("run-figures", args=[answered])).json().values():
        for axis in ("xaxis", "yaxis"):
            assert figure["layout"][axis]["title"]["text"]


def test_the_fragment_brings_the_lines_after_the_browsers_last(signed_in: Client, answered: int) -> None:
    last = demo.last_seq(answered)
    fragment = signed_in.get(reverse("run-fragment", args=[answered]), {"after": last - 1}).content.decode()
    assert fragment.count("<li data-seq=") == 1
    assert f'data-seq="{last}"' in fragment
    assert "<html" not in fragment


def test_the_events_are_the_websockets(signed_in: Client) -> None:
    pk = demo.begin()
    demo.say(pk, ["one", "two"])
    news = signed_in.get(reverse("run-events", args=[pk]), {"after": demo.last_seq(pk) - 2}).json()
    assert [event["data"]["message"] for event in news["events"]] == ["one", "two"]
    assert news["state"] == "running"
    assert news["queue"] is None


def test_a_history_of_more_than_a_thousand_events_is_whole(signed_in: Client) -> None:
    pk = demo.begin()
    demo.say(pk, [f"line {number}" for number in range(1100)])
    page = page_of(signed_in, pk)
    assert "line 0<" in page
    assert "line 1099<" in page


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "²", "9" * 11])
@pytest.mark.parametrize("name", ["run-events", "run-fragment"])
def test_a_number_that_is_none_is_refused(signed_in: Client, answered: int, name: str, after: str) -> None:
    assert signed_in.get(reverse(name, args=[answered]), {"after": after}).status_code == 400


def test_what_a_run_tells_is_escaped(signed_in: Client) -> None:
    pk = demo.begin("<script>alert(1)</script>")
    demo.say(pk, ["<img src=x onerror=alert(1)>"])
    page = page_of(signed_in, pk)
    assert "<script>alert" not in page
    assert "<img src=x" not in page


def test_a_waiting_run_is_cancelled_at_once(signed_in: Client, member: User) -> None:
    pk = demo.submit()
    answer = signed_in.post(reverse("run-cancel", args=[pk]))
    assert answer.headers["Location"] == reverse("run", args=[pk])
    run = Run.objects.get(pk=pk)
    assert (run.state, run.cancelled_by) == (RunState.CANCELLED, member)
    assert "cancelled by ada" in page_of(signed_in, pk)


def test_a_going_run_is_cancelling_until_its_process_is_gone(signed_in: Client) -> None:
    pk = demo.begin()
    signed_in.post(reverse("run-cancel", args=[pk]))
    page = page_of(signed_in, pk)
    assert Run.objects.get(pk=pk).state == RunState.CANCELLING
    assert "Stopping the measuring process" in page
    assert "favicon-cancelling.svg" in page


def test_cancelling_what_has_ended_changes_nothing_and_says_so(signed_in: Client, answered: int) -> None:
    page = signed_in.post(reverse("run-cancel", args=[answered]), follow=True).content.decode()
    assert "There was nothing to cancel: the run is done." in page
    assert Run.objects.get(pk=answered).state == RunState.DONE


def test_members_see_each_others_runs(signed_in: Client) -> None:
    pk = demo.submit("Theirs")
    Run.objects.update(submitted_by=make_user("grace"))
    assert "Theirs" in page_of(signed_in, pk)


def test_a_runs_page_makes_the_same_queries_however_much_it_measured(
    signed_in: Client, django_assert_max_num_queries: object
) -> None:
    pk = demo.begin()
    demo.finish(pk)
    with django_assert_max_num_queries(9):  # type: ignore[operator]
        page_of(signed_in, pk)


def test_figures_are_plain_json(signed_in: Client, answered: int) -> None:
    text = signed_in.get(reverse("run-figures", args=[answered])).content.decode()
    assert "NaN" not in text
    assert json.loads(text)


@pytest.mark.parametrize("name", STRANGERS)
def test_a_stranger_is_sent_to_sign_in(client: Client, answered: int, name: str) -> None:
    assert client.get(reverse(name, args=[answered])).status_code == 302


def test_a_stranger_cancels_nothing(client: Client, db: None) -> None:
    pk = demo.submit()
    assert client.post(reverse("run-cancel", args=[pk])).status_code == 302
    assert Run.objects.get(pk=pk).state == RunState.QUEUED


@pytest.mark.parametrize("name", STRANGERS)
def test_nothing_is_posted_to_what_is_read(signed_in: Client, answered: int, name: str) -> None:
    assert signed_in.post(reverse(name, args=[answered])).status_code == 405


def test_nothing_is_cancelled_by_a_link(signed_in: Client) -> None:
    pk = demo.submit()
    assert signed_in.get(reverse("run-cancel", args=[pk])).status_code == 405
    assert Run.objects.get(pk=pk).state == RunState.QUEUED


@pytest.mark.parametrize("pk", [999, 10**30])
def test_a_missing_run_is_not_found(signed_in: Client, pk: int) -> None:
    for name in STRANGERS:
        assert signed_in.get(reverse(name, args=[pk])).status_code == 404
    assert signed_in.post(reverse("run-cancel", args=[pk])).status_code == 404


def test_a_combination_that_would_fit_can_be_measured_with_one_click(signed_in: Client, answered: int) -> None:
    """It is offered after the single changes, and named as two."""
    run = Run.objects.get(pk=answered)
    both = "quantized:hqq:4+chunked:512"
    row = {"what": "combination", "sentence": "It would fit; it is two changes.", "figures": {"strategy": both}}
    run.stages["limit"]["to_change"] = [row]
    run.save()
    link = f"{reverse('profile-new')}?from={run.profile_id}&amp;try=quantized%3Ahqq%3A4%2Bchunked%3A512"
    assert link in page_of(signed_in, answered)
    form = signed_in.get(link.replace("&amp;", "&")).content.decode()
    assert f'value="{both}"' in form


def test_a_strategy_to_try_that_is_none_changes_nothing(signed_in: Client, answered: int) -> None:
    profile = Run.objects.get(pk=answered).profile_id
    form = signed_in.get(reverse("profile-new"), {"from": profile, "try": "<script>"})
    assert form.status_code == 200
    assert "&lt;script" not in form.content.decode()
