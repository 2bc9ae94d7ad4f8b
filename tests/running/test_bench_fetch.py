"""A download before the timed run: by the bench, in a process of its own, on nobody's clock."""

from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

import pytest

from jobs.procedure.measurement import Cancelled, Outcome
from jobs.running import bench
from jobs.running.bench import ProcessBench
from jobs.running.process import MeasuringProcess
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal
from tests.running.test_bench import ASK, QUESTION, SPEC

HUB = ModelSpec(kind=ModelKind.HUB, name="org/name")
Start = Callable[..., MeasuringProcess]


def opened(start: Start, **how: Any) -> ProcessBench:
    given: dict[str, Any] = {"spec": HUB, "question": QUESTION, "cancelled": lambda: False, "tell": lambda text: None}
    return ProcessBench(start=start, **(given | how))


def test_only_a_hub_model_is_downloaded(start: Start) -> None:
    assert opened(start).downloads
    assert not opened(start, spec=SPEC).downloads


def test_what_was_fetched_is_what_is_loaded(start: Start) -> None:
    told: list[str] = []
    with opened(start, tell=told.append) as one:
        assert one.fetch()["bytes"] == 7
        assert one.load().environment["revision"] == "c" * 40
    assert told[0] == "Downloading: half."


def test_a_download_does_not_count_against_the_time_cap(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead_s = [0.0]
    monkeypatch.setattr(bench, "monotonic", lambda: monotonic() + ahead_s[0])

    def an_hour_passes(_: str) -> None:
        ahead_s[0] = 3600.0

    with opened(start, question=replace(QUESTION, time_cap_s=60.0), tell=an_hour_passes) as one:
        one.fetch()
        one.load()
        assert one.measure(ASK).outcome is Outcome.OK


def test_a_cancelled_download_ends(start: Start) -> None:
    asked = iter(range(100))
    with (
        opened(start, question=replace(QUESTION, weights="hang"), cancelled=lambda: next(asked) > 3) as one,
        pytest.raises(Cancelled),
    ):
        one.fetch()


def test_a_download_that_dies_says_that_it_goes_on_where_it_was(start: Start) -> None:
    with opened(start, question=replace(QUESTION, weights="killed")) as one, pytest.raises(Refusal) as refused:
        one.fetch()
    assert refused.value.code == "hub_failed"
    assert "goes on where it was" in refused.value.hint
