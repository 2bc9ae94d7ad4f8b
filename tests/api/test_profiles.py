"""Profiles by REST: asked for by the rules of the page's form, listed, run again, with their limit."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from jobs.asking.question import first_question
from jobs.models import Adoption, EntryState, ModelEntry, Profile, Purpose, Run, Tag, Worker
from tests.api.conftest import Program
from tests.browser import demo
from tests.factories import make_profile, make_run, make_worker

LEAST = {"model": "SmolLM2-135M", "prompt": 4096, "answer": 256}


def test_three_fields_are_enough(program: Program, asking: int) -> None:
    answer = program.post("profiles/", LEAST)
    told = answer.json()
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"http://testserver/api/v1/profiles/{told['id']}/"
    run = Run.objects.get()
    assert (told["run"], told["state"], told["owner"]) == (run.pk, "queued", "ada")
    assert run.submitted_by == program.user
    assert run.question["typical_prompt_tokens"] == 1024
    assert run.question["strategies"] == first_question()["strategies"]
    assert run.question["strategies"] == ["quantized:hqq:8", "quantized:hqq:4", "quantized:quanto:4", "chunked:512"]
    assert (told["answer"], told["adopted"], told["freshness"], told["differences"]) == (None, None, None, [])
    assert told["worker"]["id"] == asking


def test_every_field_reaches_the_question(program: Program, asking: int) -> None:
    program.post(
        "profiles/",
        {
            "model": " smollm2-135m ",
            "prompt": 4096,
            "answer": 100,
            "typical_prompt": 500,
            "sequences": 2,
            "dtype": "float32",
            "weights": "as-stored",
            "attention": "eager",
            "worker": "box:cpu",
            "device": "cpu",
            "capacity": "1.5GiB",
            "headroom": 0,
            "min_speed": 2.5,
            "max_ttft": 30,
            "max_kl": "none",
            "host_capacity": 2**33,
            "strategies": ["static", "quantized:hqq:4+chunked:256", "chunked:512"],
            "compare_anyway": True,
            "depth": "full",
            "time_cap": 1.5,
            "name": "All of it",
            "tags": ["Chat", "prod"],
            "notes": "For the summer.",
        },
    )
    profile = Profile.objects.get()
    assert (profile.name, profile.notes) == ("All of it", "For the summer.")
    assert program.get(f"profiles/{profile.pk}/").json()["tags"] == ["chat", "prod"]
    asked = profile.question
    assert (asked["prompt_tokens"], asked["answer_tokens"], asked["typical_prompt_tokens"]) == (4096, 100, 500)
    assert (asked["sequences"], asked["dtype"], asked["attention"], asked["device"]) == (2, "float32", "eager", "cpu")
    assert (asked["capacity_bytes"], asked["headroom_percent"], asked["host_capacity_bytes"]) == (3 * 2**29, 0, 2**33)
    assert (asked["min_decode_tokens_per_s"], asked["max_ttft_s"], asked["max_kl"]) == (2.5, 30, None)
    assert sorted(asked["strategies"]) == ["chunked:512", "quantized:hqq:4+chunked:256", "static"]
    assert (asked["compare_anyway"], asked["depth"], asked["time_cap_s"]) == (True, "full", 90)


@pytest.mark.parametrize(
    ("fields", "name", "code"),
    [
        ({"prompt": None}, "prompt", "invalid"),
        ({"prompt": 0}, "prompt", "invalid"),
        ({"prompt": 10**40}, "prompt", "invalid"),
        ({"prompt": True}, "prompt", "invalid"),
        ({"prompt": 8192}, "prompt", "invalid"),
        ({"typical_prompt": 5000}, "typical_prompt", "invalid"),
        ({"capacity": "24 GB"}, "capacity", "bad_size"),
        ({"capacity": "900GiB"}, "capacity", "invalid"),
        ({"capacity": [1]}, "capacity", "invalid"),
        ({"headroom": 91}, "headroom", "invalid"),
        ({"max_kl": "lots"}, "max_kl", "invalid"),
        ({"max_ttft": 1e300}, "max_ttft", "invalid"),
        ({"time_cap": -1}, "time_cap", "invalid"),
        ({"dtype": "int4"}, "dtype", "invalid"),
        ({"attention": "flash"}, "attention", "invalid"),
        ({"depth": "deep"}, "depth", "invalid"),
        ({"strategies": ["quantised"]}, "strategies", "unknown_strategy"),
        ({"strategies": "static"}, "strategies", "invalid"),
        ({"strategies": [["static"]]}, "strategies.0", "invalid"),
        ({"worker": 10**30}, "worker", "invalid"),
        ({"worker": "elsewhere:cpu"}, "worker", "invalid"),
        ({"device": "cuda:7"}, "device", "invalid"),
        ({"model": "no such model!"}, "model", "unknown_model"),
        ({"model": "/etc"}, "model", "outside_models"),
        ({"promt": 1}, "promt", "invalid"),
        ({"tags": "chat"}, "tags", "invalid"),
        ({"notes": "x" * 4001}, "notes", "invalid"),
    ],
)
def test_a_field_that_is_refused_is_named(
    program: Program, asking: int, fields: dict[str, Any], name: str, code: str
) -> None:
    answer = program.post("profiles/", LEAST | fields)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, code)
    assert list(error["fields"]) == [name]
    assert error["message"].startswith(f"{name}: ")
    assert not Profile.objects.exists()


def test_a_model_that_is_still_being_read_is_asked_for_again(program: Program, asking: int) -> None:
    answer = program.post("profiles/", LEAST | {"model": "gpt2"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "still_reading")
    assert int(answer.headers["Retry-After"]) > 0
    assert ModelEntry.objects.get(name="gpt2").state == EntryState.WAITING
    assert not Profile.objects.exists()


def test_a_model_that_was_refused_says_why(program: Program, asking: int, monkeypatch: pytest.MonkeyPatch) -> None:
    program.post("profiles/", LEAST | {"model": "gpt2"})
    error = {"code": "gated", "message": "gpt2 is gated.", "hint": "Accept its terms."}
    refused = ModelEntry.objects.filter(name="gpt2")
    monkeypatch.setattr("jobs.asking.waiting.settled", lambda entry: refused.get())
    refused.update(state=EntryState.REFUSED, error=error)
    monkeypatch.setattr("jobs.services.model_entry._request", lambda spec, user: refused.get())
    answer = program.post("profiles/", LEAST | {"model": "gpt2"})
    assert (answer.status_code, answer.json()) == (400, {"error": error})


def test_the_device_stands_for_the_worker_that_has_it(program: Program, asking: int) -> None:
    make_worker("cuda:0", "gpu", device_name="NVIDIA L4", capacity_bytes=2**34)
    answer = program.post("profiles/", LEAST | {"device": "NVIDIA L4"})
    assert answer.json()["worker"]["name"] == "gpu:cuda:0"
    assert answer.json()["question"]["strategies"] == first_question()["strategies"]


def test_profiles_come_a_page_at_a_time(program: Program) -> None:
    for _ in range(3):
        make_profile()
    first = program.get("profiles/", page_size=2).json()
    assert (first["count"], len(first["results"]), first["previous"]) == (3, 2, None)
    second = program.client.get(first["next"]).json()
    assert [len(second["results"]), second["next"]] == [1, None]
    assert first["results"][0]["id"] > first["results"][1]["id"] > second["results"][0]["id"]
    assert program.get("profiles/", page=3).status_code == 404
    for page in ("0", "x", "9" * 5000, "-1", "1\0"):
        assert program.get("profiles/", page=page).status_code == 400
    assert program.get("profiles/", page_size=101).status_code == 400


def test_a_list_is_narrowed_and_ordered_by_its_address(program: Program, answered: int) -> None:
    mine = Run.objects.get(pk=answered).profile
    Profile.objects.filter(pk=mine.pk).update(owner=program.user, freshness="stale", name="Nightly")
    other = make_profile(name="Äpfel 100%_")
    other.tags.add(Tag.objects.create(name="chat"))
    gone = make_profile(archived_at=timezone.now())

    def ids(**query: str) -> list[int]:
        answer = program.get("profiles/", **query)
        assert answer.status_code == 200, answer.json()
        return [row["id"] for row in answer.json()["results"]]

    assert set(ids()) == {mine.pk, other.pk}
    assert ids(sort="name") == [mine.pk, other.pk]
    assert ids(archived="yes") == [gone.pk]
    assert ids(q="100%_") == ids(tag="chat") == ids(freshness="none") == ids(q="chat") == [other.pk]
    assert ids(whose="mine") == ids(freshness="stale") == ids(state="done") == ids(q="smollm2") == [mine.pk]
    assert ids(model=mine.model_entry.name) == ids(worker=str(mine.worker_id)) == ids(worker="box:cpu") == [mine.pk]
    assert ids(adopted="yes") == ids(worker="9" * 18) == ids(device="nowhere") == []
    assert set(ids(adopted="no")) == {mine.pk, other.pk}
    for query in (
        {"sort": "size"},
        {"freshness": "x"},
        {"adopted": "1"},
        {"q": "a\0"},
        {"state": "gone"},
        {"whose": "x"},
    ):
        assert program.get("profiles/", **query).status_code == 400


def test_a_list_takes_as_many_queries_for_many_as_for_few(
    program: Program, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    program.get("workers/")
    for count in (2, 12):
        for _ in range(count):
            make_run()
        with django_assert_num_queries(5):
            assert program.get("profiles/", page_size=100).json()["count"] >= count


def test_run_again_and_recheck_are_runs_of_the_profile(program: Program, answered: int) -> None:
    profile = Run.objects.get(pk=answered).profile
    again = program.post(f"profiles/{profile.pk}/runs/")
    assert (again.status_code, again.json()["state"]) == (201, "queued")
    assert again.headers["Location"].endswith(f"/api/v1/runs/{again.json()['run']}/")
    recheck = program.post(f"profiles/{profile.pk}/runs/", {"recheck": True})
    run = Run.objects.get(pk=recheck.json()["run"])
    assert (run.purpose, run.compared_with_id) == (Purpose.RECHECK, answered)
    assert program.post(f"profiles/{profile.pk}/runs/", {"recheck": "perhaps"}).status_code == 400


def test_what_cannot_be_rechecked_or_run_is_a_conflict(program: Program) -> None:
    profile = make_profile()
    answer = program.post(f"profiles/{profile.pk}/runs/", {"recheck": True})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "nothing_to_recheck")
    Profile.objects.update(archived_at=timezone.now())
    assert program.post(f"profiles/{profile.pk}/runs/").json()["error"]["code"] == "archived"
    Worker.objects.all().delete()
    Profile.objects.update(archived_at=None)
    assert program.post(f"profiles/{profile.pk}/runs/").json()["error"]["code"] == "no_worker"


def test_the_limit_is_the_current_answer(program: Program, answered: int) -> None:
    run = Run.objects.get(pk=answered)
    told = program.get(f"profiles/{run.profile_id}/limit/").json()
    assert (told["profile"], told["run"]) == (run.profile_id, answered)
    assert told["limit"] == run.stages["limit"]
    assert told["by_strategy"] == {name: one["context"] for name, one in told["limit"]["by_strategy"].items()}
    assert told["by_strategy"][told["limit"]["strategy"]] == told["limit"]["context"] and len(told["by_strategy"]) > 1
    assert told["adopted"] is None
    none = program.get(f"profiles/{make_profile().pk}/limit/").json()
    assert (none["run"], none["limit"], none["by_strategy"], none["freshness"]) == (None, None, {}, None)


def test_a_check_tells_the_limit_of_the_strategy_named_though_another_was_adopted(
    program: Program, answered: int
) -> None:
    run = Run.objects.get(pk=answered)
    by_strategy = run.stages["limit"]["by_strategy"]
    adopted, *others = [name for name, one in by_strategy.items() if one["context"]]
    limit = by_strategy[others[0]]["context"]
    adoption = Adoption.objects.create(profile=run.profile, run=run, context=64, strategy=adopted)
    Profile.objects.update(adoption=adoption)
    asked = {"model": run.model_entry.name, "max_context": limit, "strategy": others[0]}
    told = program.post(f"profiles/{run.profile_id}/check/", asked).json()
    assert (told["verdict"], told["limit"]) == ("ok", {"strategy": others[0], "context": limit})
    assert told["adopted"] == {"strategy": adopted, "context": 64}
    assert told["by_strategy"][adopted] == by_strategy[adopted]["context"]
    assert told["note"].endswith(" up to 64 tokens.")
    over = program.post(f"profiles/{run.profile_id}/check/", asked | {"max_context": 65, "strategy": adopted}).json()
    assert (over["verdict"], over["note"], [one["what"] for one in over["reasons"]]) == (
        "not_covered",
        "",
        ["max_context"],
    )
    assert over["reasons"][0]["sentence"].startswith("The team adopted at most 64 tokens with ")


def test_a_browser_that_is_signed_in_may_look_and_do_nothing(client: Client, program: Program, asking: int) -> None:
    client.force_login(program.user, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get("/api/v1/profiles/").status_code == 200
    assert client.get("/api/v1/schema/").status_code == 200
    answer = client.post("/api/v1/profiles/", LEAST, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "no_token")
    assert demo.worker()
