"""A model is read: first what its question needs at once, then every strategy that is offered.

The first step makes the entry ready. The second goes one strategy at a time in the same process, keeps each, and makes
way whenever another model waits to be read at all, or prompts to be counted.
"""

import logging

from django.db.models import F

from jobs.models import EntryState, ModelEntry, PromptCount
from jobs.procedure.defaults import OFFERED
from jobs.running.inspection import inspect_model
from jobs.running.process import MeasuringProcess
from jobs.services.inspection import Inspect, commit_of, is_of, record_keep
from jobs.services.measuring import measuring_process
from jobs.services.model_entry import MOST_INSPECTIONS, model_entry_refuse, was_forgotten
from jobs.services.wake import model_inspect_send, prompts_count_send
from jobs.sizing.coverage import missing
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import dtype_bytes

logger = logging.getLogger(__name__)
FIRST_DTYPE = "bfloat16"
TRY_AGAIN_AFTER_S = 900.0
"""A ready model whose reading on was cut off too often is left alone for so long: it may have been the machine."""


def model_entry_inspect(entry_id: int, *, inspect: Inspect = inspect_model) -> None:
    """Read a waiting model and keep the record, or the reason why there is none; then what its record still lacks."""
    entry = ModelEntry.objects.filter(pk=entry_id).first()
    if entry is None or not _begin(entry):
        return
    try:
        with measuring_process() as process:
            if entry.state == EntryState.WAITING:
                record_keep(entry=entry, record=inspect(ModelSpec.from_json(entry.spec), process=process))
            _read_on(entry, process, inspect)
    except Refusal as refusal:
        logger.warning("the inspection of %s ended: %s", entry, refusal)
        model_entry_refuse(entry=entry, error=refusal.as_json())
    except Exception:
        logger.exception("the inspection of %s failed", entry)
        model_entry_refuse(entry=entry, error=_internal(entry))


def model_entry_read_on(*, entry: ModelEntry, dtype: str = FIRST_DTYPE) -> None:
    """Have a ready model read for what is unread, in this precision too, unless that was asked for a moment ago."""
    widths = {dtype_bytes(known) for known in (FIRST_DTYPE, *entry.dtypes)}
    if dtype_bytes(dtype) not in widths:
        entry.dtypes = [*entry.dtypes, dtype]
        ModelEntry.objects.filter(pk=entry.pk).update(dtypes=entry.dtypes)
    elif not was_forgotten(entry):
        return
    if entry.attempts >= MOST_INSPECTIONS and was_forgotten(entry, after_s=TRY_AGAIN_AFTER_S):
        entry.attempts = 0
        ModelEntry.objects.filter(pk=entry.pk).update(attempts=0)
    if entry.state == EntryState.READY and entry.attempts < MOST_INSPECTIONS and unread(entry):
        model_inspect_send(entry_id=entry.pk)


def unread(entry: ModelEntry) -> list[tuple[str, Strategy]]:
    """(precision, strategy) of the passes that its record lacks of what is offered: all, where other code made it."""
    if not entry.record:
        return []
    record = InspectionRecord.from_json(entry.record)
    known = record if is_of(record, ModelSpec.from_json(entry.spec), commit_of(entry)) else None
    return [
        (dtype, strategy)
        for dtype in dict.fromkeys((FIRST_DTYPE, *entry.dtypes))
        for strategy in (missing(known, dtype=dtype, strategies=OFFERED) if known else OFFERED)
    ]


def _begin(entry: ModelEntry) -> bool:
    """Count the attempt; False where nothing is to be done, or it killed its worker too often."""
    if entry.state == EntryState.REFUSED:
        return False
    if entry.state == EntryState.READY and (entry.attempts >= MOST_INSPECTIONS or not unread(entry)):
        return False
    ModelEntry.objects.filter(pk=entry.pk).update(attempts=F("attempts") + 1)
    return True


def _read_on(entry: ModelEntry, process: MeasuringProcess, inspect: Inspect) -> None:
    for dtype, strategy in unread(entry):
        if (dtype, strategy) not in unread(entry):
            continue  # what was read since serves it too
        if _made_way(entry):
            return
        spec = ModelSpec.from_json(entry.spec)
        record_keep(entry=entry, record=inspect(spec, dtypes=(dtype,), strategies=(str(strategy),), process=process))


def _made_way(entry: ModelEntry) -> bool:
    """Whether another model, or prompts, waited: they come first, and this one's reading goes on behind them."""
    models = list(ModelEntry.objects.filter(state=EntryState.WAITING).values_list("pk", flat=True))
    counts = list(PromptCount.objects.filter(state=EntryState.WAITING).values_list("pk", flat=True))
    if not models and not counts:
        return False
    for pk in counts:
        prompts_count_send(count_id=pk)
    for pk in (*models, entry.pk):
        model_inspect_send(entry_id=pk)
    return True


def _internal(entry: ModelEntry) -> dict[str, str]:
    message = f"The inspection of {entry} stopped for a reason that was not foreseen."
    return Refusal("internal", message, "The inspecting worker's log has the details; then ask again.").as_json()
