"""Runs, shares, workers and sizes by REST."""

import pytest

from jobs.models import Event, ModelEntry, Run, RunState, Share
from tests.api.conftest import Program
from tests.browser import demo
from tests.factories import make_run, make_worker


def test_a_run_is_the_contracts_json(program: Program, answered: int) -> None:
    run = Run.objects.get(pk=answered)
    told = program.get(f"runs/{answered}/").json()
    assert (told["run"], told["state"], told["error"], told["profile"]) == (answered, "done", None, run.profile_id)
    assert told["stages"] == run.stages
    assert told["environment"] == run.environment
    assert len(told["measurements"]) == run.measurements.count() > 0


def test_events_come_after_the_last_one_that_is_known(program: Program) -> None:
    answered = demo.begin()
    demo.finish(answered)
    first = program.get(f"runs/{answered}/events/").json()
    assert [event["seq"] for event in first["events"]] == list(range(1, Event.objects.count() + 1))
    assert (first["state"], first["queue"]) == ("done", None)
    rest = program.get(f"runs/{answered}/events/", after=first["events"][-2]["seq"]).json()
    assert rest["events"] == first["events"][-1:]


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "9" * 30, "1\0"])
def test_a_number_that_no_event_has_is_refused(program: Program, answered: int, after: str) -> None:
    answer = program.get(f"runs/{answered}/events/", after=after)
    assert (answer.status_code, list(answer.json()["error"]["fields"])) == (400, ["after"])


def test_a_queued_run_is_cancelled_at_once_and_an_ended_one_stays(program: Program) -> None:
    run = make_run(submitted_by=program.user)
    assert program.post(f"runs/{run.pk}/cancel/").json() == {"run": run.pk, "state": "cancelled"}
    assert program.post(f"runs/{run.pk}/cancel/").json()["state"] == "cancelled"
    done = make_run(submitted_by=program.user, state=RunState.DONE)
    assert program.post(f"runs/{done.pk}/cancel/").json()["state"] == "done"


def test_an_answer_is_shared_and_the_share_revoked(program: Program, answered: int) -> None:
    answer = program.post(f"runs/{answered}/shares/", {"sentence": "Enough for us.", "expires_days": 7})
    told = answer.json()
    share = Share.objects.get()
    assert (answer.status_code, told["id"], told["title"]) == (201, share.pk, share.title)
    assert "/s/" in told["url"]
    assert program.delete(f"shares/{share.pk}/").status_code == 204
    assert program.delete(f"shares/{share.pk}/").status_code == 204
    share.refresh_from_db()
    assert share.revoked_at is not None


def test_what_has_no_answer_cannot_be_shared(program: Program) -> None:
    answer = program.post(f"runs/{make_run().pk}/shares/", {"title": "x"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_answer")


def test_workers_say_what_they_do(program: Program) -> None:
    run = make_run(make_worker("cuda:0"), state=RunState.RUNNING)
    make_worker("cpu", capacity_bytes=0)
    told = program.get("workers/").json()
    assert told["count"] == 2
    rows = {row["device"]: row for row in told["results"]}
    assert (rows["cuda:0"]["run"], rows["cuda:0"]["alive"], rows["cuda:0"]["waiting"]) == (run.pk, True, 0)
    assert (rows["cpu"]["run"], rows["cpu"]["capacity_bytes"]) == (None, None)


def test_sizes_are_those_of_the_kept_record(program: Program, asking: int) -> None:
    answer = program.post("size/", {"model": "SmolLM2-135M", "tokens": [1024, 4096], "sequences": 2})
    told = answer.json()
    assert answer.status_code == 200
    assert [point["tokens"] for point in told["points"]] == [1024, 4096]
    for point in told["points"]:
        cache = point["kv_prefill_bytes"] if point["peak_phase"] == "prefill" else point["kv_bytes"]
        assert point["peak_bytes"] == told["weights_bytes"] + cache + point["working_bytes"]


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"model": "gpt2"}, 409, "still_reading"),
        ({"dtype": "float32"}, 409, "still_reading"),
        ({"attention": "eager"}, 409, "not_inspected"),
        ({"strategy": "quantized"}, 400, "unknown_strategy"),
        ({"dtype": "int8"}, 400, "unknown_dtype"),
        ({"weights": "zip"}, 400, "bad_weights"),
        ({"sequences": 10**9}, 400, "bad_arguments"),
        ({"tokens": [2**40]}, 400, "bad_arguments"),
        ({"tokens": []}, 400, "invalid"),
        ({"model": "../x"}, 400, "outside_models"),
    ],
)
def test_what_cannot_be_sized_says_why(
    program: Program, asking: int, fields: dict[str, object], status: int, code: str
) -> None:
    answer = program.post("size/", {"model": "SmolLM2-135M"} | fields)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert ("Retry-After" in answer.headers) == (code == "still_reading")
    assert ModelEntry.objects.filter(name="SmolLM2-135M").exists()
    assert demo.worker()
