"""All web processes count a token's requests together, in the Redis."""

import pytest
from django.conf import LazySettings
from django.utils.module_loading import import_string

from kvportal.env import caches
from tests.api.conftest import Program


def test_two_processes_count_together(
    program: Program, valkey_url: str, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.API_RATE = "3/hour"
    chosen = caches(valkey_url)["default"]
    answers = []
    for _ in range(4):
        of_a_process = import_string(chosen["BACKEND"])(chosen["LOCATION"], dict(chosen))
        monkeypatch.setattr("jobs.api.throttle.cache", of_a_process)
        answers.append(program.get("workers/").status_code)
    assert answers == [200, 200, 200, 429]


def test_without_a_redis_a_process_counts_for_itself() -> None:
    assert str(caches("")["default"]["BACKEND"]).endswith("LocMemCache")
