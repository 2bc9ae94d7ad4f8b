"""What a form's fields amount to before anything is sent: a question and the model's record, or what is missing."""

from dataclasses import dataclass

from jobs.asking.fields import said
from jobs.asking.model_named import spec_of
from jobs.asking.question import EstimateForm
from jobs.models import EntryState, ModelEntry, Worker
from jobs.procedure.question import Question
from jobs.selectors.model_entry import entries_before, entry_find, record_of
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal
from jobs.sizing.stored import with_weights

NEEDED = (
    "model",
    "revision",
    "workload",
    "prompt_tokens",
    "answer_tokens",
    "sequences",
    "dtype",
    "weights",
    "capacity",
    "headroom_percent",
    "strategies",
    "more_strategies",
)
MODEL = {"model", "revision"}
NOTHING_IS_RUN = "Nothing is downloaded or run for it."
HOW_LONG = "Reading a model usually takes less than half a minute."


@dataclass(frozen=True, kw_only=True)
class Plan:
    """capacity_bytes: None where neither a capacity nor a device with a known one was chosen."""

    entry: ModelEntry
    question: Question
    record: InspectionRecord
    capacity_bytes: int | None
    worker: Worker | None

    @property
    def readable(self) -> bool:
        """Whether the context asked for is within the model's own maximum."""
        native = self.record.native_context
        return native is None or self.question.context_tokens <= native


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A field's name in the form, and what is wrong with it."""

    field: str
    label: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Missing:
    """state: "empty" (no model named), "reading" (its inspection goes on), "refused" (the model), "faults" (fields)."""

    state: str
    sentences: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def again(self) -> bool:
        """Whether asking once more will find more."""
        return self.state == "reading"


def plan_of(form: EstimateForm) -> Plan | Missing:
    if not str(form["model"].value() or "").strip():
        return Missing(state="empty", sentences=("Name a model to see what it needs.", NOTHING_IS_RUN))
    faults = tuple(
        Fault(field=name, label=str(form.fields[name].label), sentence=" ".join(map(str, errors)))
        for name, errors in form.errors.items()
        if name in NEEDED
    )
    if faults:
        refused = MODEL & {fault.field for fault in faults}
        return Missing(state="refused" if refused else "faults", faults=faults)
    try:
        entry = entry_find(spec_of(form.cleaned_data["model"], form.cleaned_data["revision"]))
    except Refusal as refusal:
        return Missing(state="refused", sentences=(said(refusal),))
    record = record_of(entry) if entry else None
    if entry is None or record is None:
        return _unread(form.cleaned_data["model"], entry)
    try:
        record = with_weights(record, form.cleaned_data["weights"])
    except Refusal as refusal:
        label = str(form.fields["weights"].label)
        return Missing(state="faults", faults=(Fault(field="weights", label=label, sentence=said(refusal)),))
    return _plan(form, entry, record)


def _unread(name: str, entry: ModelEntry | None) -> Missing:
    if entry is not None and entry.state == EntryState.REFUSED:
        return Missing(state="refused", sentences=(said(Refusal.from_json(entry.error or _refused(name))),))
    before = entries_before(entry) if entry else 0
    waits = f"waits behind {before} other {'model' if before == 1 else 'models'}" if before else "is being read"
    return Missing(state="reading", sentences=(f"{name} {waits}; its figures appear here. {HOW_LONG}",))


def _refused(name: str) -> dict[str, str]:
    return {"code": "refused", "message": f"{name} was refused."}


def _plan(form: EstimateForm, entry: ModelEntry, record: InspectionRecord) -> Plan:
    cleaned = form.cleaned_data
    worker = _worker(form)
    question = Question(
        model=record.model,
        prompt_tokens=cleaned["prompt_tokens"],
        typical_prompt_tokens=cleaned["prompt_tokens"],
        answer_tokens=cleaned["answer_tokens"],
        sequences=cleaned["sequences"],
        dtype=cleaned["dtype"],
        weights=cleaned["weights"],
        device=worker.device if worker else "cpu",
        capacity_bytes=cleaned["capacity"],
        headroom_percent=cleaned["headroom_percent"],
        strategies=cleaned["every_strategy"],
    )
    capacity_bytes = cleaned["capacity"] or (worker.capacity_bytes if worker else None) or None
    return Plan(entry=entry, question=question, record=record, capacity_bytes=capacity_bytes, worker=worker)


def _worker(form: EstimateForm) -> Worker | None:
    """The device chosen, silent or not, else the one that a blank stands for: an estimate needs nobody awake."""
    chosen = str(form["worker"].value() or "")
    known = {str(worker.pk): worker for worker in form.devices}
    return known.get(chosen) or next(iter(form.devices), None)
