from dataclasses import replace
from typing import Any

import pytest

from jobs.services.inspection import record_for, record_keep
from jobs.sizing.record import InspectionRecord
from tests.factories import VERSIONS, make_entry, make_question, make_record

pytestmark = pytest.mark.django_db


class Inspector:
    """Gives `record` and counts how it was asked."""

    def __init__(self, record: InspectionRecord | None = None) -> None:
        self.record = record or make_record(config_hash="d" * 64)
        self.asked: list[dict[str, Any]] = []

    def __call__(self, spec: Any, **how: Any) -> InspectionRecord:
        self.asked.append(how)
        return self.record


def test_a_kept_record_that_serves_is_used() -> None:
    inspector = Inspector()
    entry = make_entry("a/model")
    record = record_for(entry=entry, question=make_question(), versions=VERSIONS, inspect=inspector)
    assert record == make_record() and not inspector.asked


def test_a_worker_that_was_not_asked_yet_contradicts_nothing() -> None:
    inspector = Inspector()
    record_for(entry=make_entry(), question=make_question(), versions={}, inspect=inspector)
    assert not inspector.asked


@pytest.mark.parametrize(
    ("question", "versions"),
    [
        ({}, {"transformers": "6.0.0"}),
        ({"dtype": "float32"}, VERSIONS),
        ({"attention": "eager"}, VERSIONS),
    ],
)
def test_other_versions_or_another_precision_need_another_pass(
    question: dict[str, Any], versions: dict[str, str]
) -> None:
    inspector = Inspector()
    entry = make_entry()
    asked = make_question(**question)
    assert record_for(entry=entry, question=asked, versions=versions, inspect=inspector) == inspector.record
    assert inspector.asked[0]["dtypes"] == (asked.dtype,) and inspector.asked[0]["attention"] == asked.attention
    assert entry.config_hash == "d" * 64 and entry.state == "ready"


def test_a_second_pass_of_the_same_libraries_adds_to_the_first() -> None:
    entry = make_entry("a/model")
    rung = replace(make_record().rungs[0], dtype="float32", working_bytes=7)
    together = record_keep(
        entry=entry, record=make_record(weights_bytes={"float32": 4000}, rungs=(rung,), refusals={"static": "no"})
    )
    assert together.weights_bytes == {"bfloat16": 2000, "float32": 4000}
    assert together.rungs == (*make_record().rungs, rung) and together.refusals == {"static": "no"}
    assert InspectionRecord.from_json(entry.record) == together


def test_a_pass_over_another_config_replaces_the_first() -> None:
    entry = make_entry("a/model")
    other = make_record(config_hash="e" * 64, weights_bytes={"float32": 4000})
    assert record_keep(entry=entry, record=other) == other
