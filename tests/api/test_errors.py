"""Whatever goes wrong has one shape, and nothing that is sent is a fault of ours."""

import json
import logging
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.cache import cache
from django.test import Client
from redis.exceptions import RedisError

from jobs.services.api_token import api_token_revoke
from tests.api.conftest import Program
from tests.factories import make_profile, make_run

SHAPE = {"code", "message", "hint"}
LEAST = {"model": "SmolLM2-135M", "prompt": 4096, "answer": 256}


def error(answer: Any, status: int) -> dict[str, Any]:
    told: dict[str, Any] = answer.json()["error"]
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/json"
    assert SHAPE <= set(told) <= SHAPE | {"fields"}
    assert told["message"].endswith(".")
    return told


@pytest.mark.django_db
@pytest.mark.parametrize(
    "header",
    [
        "Token kvp_nonsense",
        "Token",
        "Token a b",
        "Bearer kvp_nonsense",
        "Token " + "x" * 5000,
        "Token \xff",
        "Basic eA==",
    ],
)
def test_a_token_that_is_none_is_401_and_never_a_sign_in_page(client: Client, header: str) -> None:
    answer = client.get("/api/v1/profiles/", headers={"Authorization": header})
    assert error(answer, 401)["code"] == "token_void"
    assert answer.headers["WWW-Authenticate"] == "Token"


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["profiles/", "profiles/1/", "runs/1/", "workers/", "schema/", "nowhere/", ""])
def test_without_a_token_every_address_is_401(client: Client, address: str) -> None:
    assert error(client.get(f"/api/v1/{address}"), 401)["code"] == "no_token"


def test_a_revoked_token_and_one_of_an_ended_account_are_alike(program: Program, reader: Program) -> None:
    token = program.user.api_tokens.get()  # type: ignore[attr-defined]
    api_token_revoke(token=token, user=program.user)
    reader.user.is_active = False
    reader.user.save()
    assert error(program.get("workers/"), 401) == error(reader.get("workers/"), 401)


@pytest.mark.parametrize(
    "address",
    [
        "profiles/1/",
        "runs/1/",
        "runs/1/events/",
        "profiles/1/limit/",
        f"runs/{10**40}/",
        "runs/" + "9" * 5000 + "/",
        "x",
    ],
)
def test_what_is_not_there_is_404(program: Program, address: str) -> None:
    assert error(program.get(address), 404)["code"] == "not_found"


@pytest.mark.parametrize(
    "address", ["runs/1/cancel/", "runs/1/shares/", "profiles/1/runs/", "profiles/1/check/", "profiles"]
)
def test_what_is_posted_to_nothing_is_404(program: Program, address: str) -> None:
    assert error(program.post(address, {}), 404)["code"] == "not_found"


def test_another_method_is_405_and_another_format_406(program: Program) -> None:
    assert error(program.delete("workers/"), 405)["code"] == "method_not_allowed"
    assert error(program.client.options("/api/v1/workers/"), 405)["code"] == "method_not_allowed"
    answer = program.client.get("/api/v1/workers/", headers={"Accept": "text/html"})
    assert error(answer, 406)["code"] == "not_acceptable"


@pytest.mark.parametrize(
    "body",
    [
        "{",
        "",
        "nul",
        "[" * 100_000,
        '{"a":' * 5_000 + "1" + "}" * 5_000,
        '{"prompt": ' + "9" * 6_000 + "}",
        '{"headroom": NaN}',
        '{"model": "a\\u0000"}',
        '{"model": "\\ud800"}',
        b"\xff\xfe{",
        '{"model": "a", "model\\u0000": 1}',
    ],
    ids=range(11),
)
def test_a_body_that_is_no_json_for_us_is_400(program: Program, body: str | bytes) -> None:
    answer = program.client.post("/api/v1/profiles/", body, content_type="application/json")
    assert error(answer, 400)["code"] in {"bad_json", "invalid"}


@pytest.mark.parametrize(
    "body", [[], "text", 1, None, True, {}, {"headroom": 1e999}, LEAST | {"headroom": float("1e300")}]
)
def test_a_body_of_another_type_is_400(program: Program, body: Any) -> None:
    for address in ("profiles/", "size/", f"profiles/{make_profile().pk}/check/"):
        answer = program.client.post(f"/api/v1/{address}", json.dumps(body), content_type="application/json")
        error(answer, 400)


def test_a_body_of_more_than_a_mebibyte_is_413(program: Program) -> None:
    answer = program.post("profiles/", LEAST | {"notes": "x" * 2**20})
    assert error(answer, 413)["code"] == "body_too_large"


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"])
def test_a_body_that_is_not_json_is_415(program: Program, kind: str) -> None:
    answer = program.client.post("/api/v1/profiles/", "model=a", content_type=kind)
    assert error(answer, 415)["code"] == "unsupported_media_type"


def test_an_unforeseen_fault_is_told_without_its_reason(
    program: Program, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise RuntimeError("a secret inside")

    monkeypatch.setattr("jobs.api.views.worker.workers_list", broken)
    with caplog.at_level(logging.ERROR):
        answer = program.get("workers/")
    assert error(answer, 500)["code"] == "internal"
    assert "secret" not in answer.content.decode()
    assert "a secret inside" in caplog.text


def test_more_than_the_rate_is_429_with_the_seconds_to_wait(
    program: Program, reader: Program, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.API_RATE = "2/hour"
    cache.clear()
    monkeypatch.setattr("jobs.api.throttle.time.time", lambda: 7200.0 * 1000 + 600)
    assert [program.get("workers/").status_code for _ in range(3)] == [200, 200, 429]
    answer = program.get("workers/")
    assert error(answer, 429)["code"] == "rate_limited"
    assert answer.headers["Retry-After"] == "3000"
    assert reader.get("workers/").status_code == 200
    monkeypatch.setattr("jobs.api.throttle.time.time", lambda: 7200.0 * 1000 + 3601)
    assert program.get("workers/").status_code == 200


def test_a_cache_that_is_away_turns_nobody_away(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise RedisError("away")

    monkeypatch.setattr(cache, "add", away)
    assert program.get("workers/").status_code == 200


def test_a_string_with_nul_in_the_address_is_no_fault(program: Program) -> None:
    make_run()
    for name in ("q", "tag", "page", "ordering", "freshness", "worker", "model", "adopted", "archived"):
        assert program.get("profiles/", **{name: "a\0b"}).status_code in {200, 400, 404}


def test_more_parameters_than_anybody_needs_are_a_bad_request(program: Program) -> None:
    address = "/api/v1/profiles/?" + "&".join(f"a{number}=1" for number in range(1500))
    answer = program.get(address)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
