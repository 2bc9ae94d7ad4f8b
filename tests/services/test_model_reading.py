"""A model is read: at once what makes it ready, then all that is offered, making way for others."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from jobs.models import EntryState, ModelEntry, PromptCount, PromptSet
from jobs.procedure.defaults import OFFERED
from jobs.selectors.model_entry import record_of
from jobs.services import model_reading as service
from jobs.services.model_entry import MOST_INSPECTIONS
from jobs.services.model_reading import model_entry_inspect, model_entry_read_on, unread
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord, PeakRung, Phase
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import Strategy
from jobs.sizing.working import rung_name
from tests.factories import make_entry, make_record

pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(hours=1)


class Process:
    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def rung_for(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The entries that were rung for."""
    sent: list[int] = []
    monkeypatch.setattr(service, "model_inspect_send", lambda entry_id: sent.append(entry_id))
    monkeypatch.setattr(service, "measuring_process", Process)
    return sent


class Inspector:
    """Reads what it is asked to read, and remembers it; `meanwhile` happens during each reading."""

    def __init__(self, meanwhile: Callable[[str], None] = lambda strategy: None) -> None:
        self.read: list[tuple[str, str]] = []
        self.meanwhile = meanwhile

    def __call__(
        self,
        spec: ModelSpec,
        *,
        process: Any,
        dtypes: tuple[str, ...] = ("bfloat16",),
        strategies: tuple[str, ...] = ("default",),
    ) -> InspectionRecord:
        (dtype,), (strategy,) = dtypes, strategies
        self.read.append((dtype, strategy))
        self.meanwhile(strategy)
        return make_record(weights_bytes={dtype: 2000}, rungs=rungs(dtype, "default", strategy))


def rungs(dtype: str, *names: str) -> tuple[PeakRung, ...]:
    pattern = make_record().rungs[0]
    asked = [(phase, rung_name(Strategy.parse(name), phase)) for name in names for phase in Phase]
    return tuple(replace(pattern, phase=phase, strategy=name, dtype=dtype) for phase, name in dict.fromkeys(asked))


def fresh(entry: ModelEntry) -> ModelEntry:
    entry.refresh_from_db()
    return entry


def test_a_waiting_model_is_ready_after_the_first_reading_and_then_read_for_all_that_is_offered() -> None:
    entry = make_entry(inspected=False)
    states: list[str] = []
    inspector = Inspector(meanwhile=lambda _: states.append(fresh(entry).state))
    model_entry_inspect(entry.pk, inspect=inspector)
    assert states[0] == EntryState.WAITING and set(states[1:]) == {EntryState.READY}
    assert inspector.read[0] == ("bfloat16", "default")
    assert (fresh(entry).state, entry.attempts, unread(entry)) == (EntryState.READY, 0, [])
    record = record_of(entry)
    assert record and {rung.strategy for rung in record.rungs} == {
        str(strategy) for strategy in OFFERED if not strategy.is_offloaded
    }


def test_each_strategy_is_read_once_and_offloading_needs_no_reading_of_its_own() -> None:
    inspector = Inspector()
    model_entry_inspect(make_entry(inspected=False).pk, inspect=inspector)
    assert len(inspector.read) == len(set(inspector.read))
    assert not [name for _, name in inspector.read if "offloaded" in name]


def test_a_strategy_that_the_model_cannot_take_is_not_read() -> None:
    def inspect(spec: ModelSpec, **how: Any) -> InspectionRecord:
        return replace(read(spec, **how), refusals={"quantized": "Not all of its layers are full attention."})

    read = Inspector()
    model_entry_inspect(make_entry(inspected=False).pk, inspect=inspect)
    assert not [name for _, name in read.read if "quantized" in name]


def test_reading_makes_way_for_a_model_that_waits(rung_for: list[int]) -> None:
    entry = make_entry(inspected=False)
    others: list[int] = []

    def another_is_asked_for(strategy: str) -> None:
        if strategy == "static":
            others.append(make_entry(inspected=False).pk)

    inspector = Inspector(meanwhile=another_is_asked_for)
    model_entry_inspect(entry.pk, inspect=inspector)
    assert inspector.read[-1] == ("bfloat16", "static")
    assert rung_for == [*others, entry.pk]
    ModelEntry.objects.filter(pk__in=others).delete()
    model_entry_inspect(entry.pk, inspect=inspector)
    assert unread(fresh(entry)) == [] and len(inspector.read) == len(set(inspector.read))


def test_reading_makes_way_for_prompts_that_are_to_be_counted(
    rung_for: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = make_entry(inspected=False)
    counts: list[int] = []
    monkeypatch.setattr(service, "prompts_count_send", lambda *, count_id: counts.append(count_id))
    prompts = PromptSet.objects.create(name="ours", sha256="0" * 64, texts=["a"], count=1, file_bytes=1)

    def prompts_are_brought(strategy: str) -> None:
        if strategy == "static":
            PromptCount.objects.create(model_entry=entry, prompts=prompts)

    inspector = Inspector(meanwhile=prompts_are_brought)
    model_entry_inspect(entry.pk, inspect=inspector)
    assert inspector.read[-1] == ("bfloat16", "static")
    assert (counts, rung_for) == ([PromptCount.objects.get().pk], [entry.pk])
    PromptCount.objects.update(state=EntryState.READY)
    model_entry_inspect(entry.pk, inspect=inspector)
    assert unread(fresh(entry)) == []


def test_another_precision_is_read_once_somebody_asked_about_it(rung_for: list[int]) -> None:
    entry = make_entry(inspected=False)
    model_entry_inspect(entry.pk, inspect=Inspector())
    model_entry_read_on(entry=fresh(entry), dtype="float16")
    assert not rung_for, "float16 is as wide as what was read"
    model_entry_read_on(entry=fresh(entry), dtype="float32")
    model_entry_read_on(entry=fresh(entry), dtype="float32")
    assert rung_for == [entry.pk] * len(rung_for) and rung_for
    inspector = Inspector()
    model_entry_inspect(entry.pk, inspect=inspector)
    assert {dtype for dtype, _ in inspector.read} == {"float32"}
    record = record_of(fresh(entry))
    assert record and set(record.weights_bytes) == {"bfloat16", "float32"}


def test_a_model_read_in_part_is_read_on_only_when_its_wake_up_was_lost(rung_for: list[int]) -> None:
    entry = make_entry(woken_at=timezone.now())
    model_entry_read_on(entry=entry)
    assert not rung_for
    entry.woken_at = timezone.now() - LONG_AGO
    model_entry_read_on(entry=entry)
    assert rung_for == [entry.pk]


def test_a_record_of_other_code_is_read_anew() -> None:
    entry = make_entry()
    entry.record = make_record(versions={"inspection": "other"}).as_json()
    assert [strategy for _, strategy in unread(entry)] == list(OFFERED)


def test_reading_on_that_keeps_dying_is_left_alone_and_the_model_stays_ready(rung_for: list[int]) -> None:
    def inspect(spec: ModelSpec, **how: Any) -> Any:
        begun.append(spec.name)
        raise Refusal("measuring_died", "It ended.", "See the log.")

    begun: list[str] = []
    entry = make_entry(woken_at=timezone.now() - LONG_AGO)
    for _ in range(MOST_INSPECTIONS + 2):
        model_entry_inspect(entry.pk, inspect=inspect)
    assert len(begun) == MOST_INSPECTIONS
    assert (fresh(entry).state, entry.error) == (EntryState.READY, None)
    entry.woken_at = timezone.now() - timedelta(seconds=service.TRY_AGAIN_AFTER_S / 2)
    model_entry_read_on(entry=entry)
    assert not rung_for
    entry.woken_at = timezone.now() - LONG_AGO
    model_entry_read_on(entry=entry)
    assert rung_for == [entry.pk] and fresh(entry).attempts == 0


@pytest.mark.parametrize(
    ("error", "code"), [(Refusal("gated", "In /srv/models/x.", "Ask."), "gated"), (ZeroDivisionError(), "internal")]
)
def test_a_first_reading_that_fails_ends_with_a_reason(error: Exception, code: str) -> None:
    def inspect(spec: ModelSpec, **_: Any) -> Any:
        raise error

    entry = make_entry(inspected=False)
    model_entry_inspect(entry.pk, inspect=inspect)
    assert fresh(entry).state == EntryState.REFUSED and entry.error["code"] == code and entry.error["hint"]
    assert "/srv" not in entry.error["message"]


def test_a_second_delivery_reads_nothing() -> None:
    entry = make_entry(inspected=False)
    model_entry_inspect(entry.pk, inspect=Inspector())
    before = ModelEntry.objects.values().get()
    model_entry_inspect(entry.pk, inspect=pytest.fail)
    model_entry_inspect(10**6, inspect=pytest.fail)
    assert ModelEntry.objects.values().get() == before
