"""What a team's portal looks like after a few days, and runs that go on by hand.

Stages, events and measurements are the procedure's own, answering over a scripted bench: the figures on the pages are
in proportion, and are nobody's measurements.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from jobs.models import ACTIVE_STATES, Event, ModelEntry, Run, RunState, Worker
from jobs.procedure.events import Event as Told
from jobs.procedure.events import EventKind
from jobs.procedure.measurement import Loaded, Measurement
from jobs.procedure.question import Depth, Question
from jobs.procedure.run import answer
from jobs.running.model_source import resolve_model
from jobs.services.account import setup_link_make
from jobs.services.claim import Claim, run_claim
from jobs.services.record import event_record, held_by
from jobs.services.run import run_cancel, run_submit
from jobs.services.run_state import run_move
from jobs.services.workload import workload_save
from jobs.sizing.record import InspectionRecord, LayerGroup, LayerKind
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import DTYPE_BYTES, GIB, MIB
from jobs.web.forms.choices import STRATEGIES
from tests.factories import make_entry, make_worker
from tests.procedure.worlds import World, record, strategies

USER, PASSWORD = "ada", "correct horse battery"
TRIED = ("quantized:hqq:8", "quantized:hqq:4", "quantized:quanto:4", "chunked:512", "offloaded")
VERSIONS = {"torch": "2.13.0", "transformers": "5.24.0", "hqq": "0.2.8.post1", "optimum-quanto": "0.2.7"}
ENVIRONMENT = {
    "versions": VERSIONS,
    "cpu": "AMD EPYC 9454P",
    "threads": 8,
    "attention": "sdpa",
    "config_hash": "5f3c0e5a" * 8,
}
DEVICE = {"name": "AMD EPYC 9454P", "kind": "cpu", "capacity_bytes": 64 * GIB}
ON_CPU = {
    "default": True,
    "static": True,
    "quantized:hqq": True,
    "quantized:quanto": True,
    "quantized:fp8": "needs a GPU with 8-bit floats",
    "offloaded": "this device is a CPU: there is nowhere to offload to",
    "offloaded_static": "this device is a CPU: there is nowhere to offload to",
}


class DemoWorld(World):
    """Peaks a little above the estimate, speeds with a little noise."""

    def load(self) -> Loaded:
        return replace(super().load(), device=DEVICE, environment=ENVIRONMENT, load_s=2.84)

    def _run(self, blank: Measurement, ask: Any) -> Measurement:
        made = super()._run(blank, ask)
        if made.decode_tokens_per_s is None:
            return made
        noise = 1 + ((made.context * 7919) % 13 - 6) / 300
        return replace(made, decode_tokens_per_s=made.decode_tokens_per_s * noise, spread=abs(noise - 1) + 0.004)


def _truth(strategy: Strategy, prompt: int, estimated: Any) -> int:
    return int(estimated.peak_bytes * 1.004) + 2 * MIB


@dataclass(kw_only=True)
class Going:
    """A run that is told on by hand."""

    claim: Claim
    events: Iterator[Told]


_going: dict[int, Going] = {}


def member() -> dict[str, str]:
    """Somebody to sign in as."""
    User.objects.filter(username=USER).exists() or User.objects.create_user(USER, password=PASSWORD)
    return {"username": USER, "password": PASSWORD}


def setup_token() -> str:
    return setup_link_make()


def demo_record() -> InspectionRecord:
    return record(native_context=8192)


def question(**changes: Any) -> Question:
    asked = Question(
        model="SmolLM2-135M",
        prompt_tokens=4096,
        typical_prompt_tokens=1024,
        answer_tokens=256,
        capacity_bytes=340 * MIB,
        headroom_percent=5,
        strategies=strategies(*TRIED),
        depth=Depth.FULL,
    )
    return replace(asked, **changes)


def worker_row() -> Worker:
    known = Worker.objects.filter(name="box:cpu")
    known.update(seen_at=timezone.now())
    return known.first() or make_worker(
        "cpu", "box", device_name=DEVICE["name"], capacity_bytes=64 * GIB, versions=VERSIONS, applicable=ON_CPU
    )


def worker() -> int:
    """The demo's worker, alive as of now."""
    return int(worker_row().pk)


def know_model() -> int:
    """The demo's model, inspected."""
    return int(entry().pk)


def know_every_strategy() -> int:
    """The demo's model once more, with the passes of every strategy offered, in three precisions."""
    read = demo_record()
    names = dict.fromkeys((rung.strategy for rung in read.rungs), None) | {name: None for name, _, _ in STRATEGIES}
    patterns = [rung for rung in read.rungs if rung.strategy == "default"]
    rungs = tuple(
        replace(rung, strategy=name, dtype=dtype) for name in names for dtype in DTYPE_BYTES for rung in patterns
    )
    found = entry()
    full = replace(read, rungs=rungs, native_context=None)
    ModelEntry.objects.filter(pk=found.pk).update(record=full.as_json(), inspected_at=timezone.now())
    return int(found.pk)


def know_windowed_model() -> int:
    """A model whose layers are mostly windows, so that no quantized cache can take them."""
    return int(known("Gemma-3-270m", windowed_record()).pk)


def windowed_record() -> InspectionRecord:
    window = {"window_tokens": 511, "static_window_tokens": 512}
    shape = {"heads": 1, "key_width": 256, "value_width": 256}
    layers = (
        LayerGroup(kind=LayerKind.WINDOWED, count=15, **shape, **window),
        LayerGroup(kind=LayerKind.GROWING, count=3, **shape),
    )
    reason = "A quantized cache is not possible for this model: not all of its layers are full attention."
    return record(model="Gemma-3-270m", layers=layers, native_context=32_768, refusals={"quantized": reason})


def end_all() -> None:
    """Whatever waits or goes on is cancelled."""
    for run in Run.objects.filter(state__in=ACTIVE_STATES):
        run_cancel(run=run, user=None)
    for run in Run.objects.filter(state__in=ACTIVE_STATES):
        run_move(run_id=run.pk, to=RunState.CANCELLED, when=Q(), message="Cancelled.")
    _going.clear()


def entry() -> ModelEntry:
    return known("SmolLM2-135M", demo_record())


def known(name: str, read: InspectionRecord) -> ModelEntry:
    """A built-in architecture's entry with this record, the first time it is asked for."""
    spec = resolve_model(name)
    found = ModelEntry.objects.filter(kind=str(spec.kind), name=spec.name).first()
    return found or make_entry(spec.name, kind=str(spec.kind), spec=spec.as_json(), record=read.as_json())


def submit(name: str = "Nightly summaries", **changes: Any) -> int:
    """A run that waits."""
    user = User.objects.get(username=member()["username"])
    run = run_submit(user=user, name=name, entry=entry(), question=question(**changes), worker=worker_row())
    return int(run.pk)


def begin(name: str = "Nightly summaries", **changes: Any) -> int:
    """A run that its worker has taken, told on by `tell`."""
    pk = submit(name, **changes)
    claim = run_claim(worker=worker_row())
    assert claim
    assert claim.run_id == pk
    asked = Question.from_json(Run.objects.get(pk=pk).question)
    world = DemoWorld(asked=asked, record=demo_record(), truth=_truth)
    _going[pk] = Going(claim=claim, events=answer(asked, demo_record(), world))
    return pk


def tell(run: int, *, until: str = "", events: int = 0) -> int:
    """Record the run's next events: so many, or through the first of a kind; returns how many measurements it has."""
    going = _going[run]
    for told, event in enumerate(going.events, start=1):
        event_record(run_id=run, lease=going.claim.lease, event=event)
        if event.kind == until or told == events:
            break
    return Run.objects.get(pk=run).measurements.count()


def say(run: int, lines: list[str]) -> int:
    """Log these; returns the run's last number."""
    for line in lines:
        event = Told(kind=EventKind.LOG, data={"message": line})
        event_record(run_id=run, lease=_going[run].claim.lease, event=event)
    return Run.objects.get(pk=run).last_seq


def finish(run: int, *, state: str = "done", message: str = "Done.", error: dict[str, str] | None = None) -> None:
    """Tell the rest (of a run that ends well) and end it."""
    if state == "done":
        tell(run)
    lease = held_by(_going.pop(run).claim.lease)
    run_move(run_id=run, to=RunState(state), when=lease, message=message, **({"error": error} if error else {}))


def last_seq(run: int) -> int:
    return Run.objects.get(pk=run).last_seq


def team() -> dict[str, int]:
    """A few days of a team's use: every kind of page has something to show."""
    user = User.objects.get(username=member()["username"])
    lengths = {"typical_prompt_tokens": 1024, "answer_tokens": 256, "sequences": 1}
    workload_save(user=user, name="Summaries", prompt_tokens=4096, **lengths)
    runs = {"saved": begin("Nightly summaries")}
    finish(runs["saved"])
    runs["fits"] = begin("Short chats", prompt_tokens=1024, typical_prompt_tokens=256, capacity_bytes=GIB)
    finish(runs["fits"])
    runs["no"] = begin("Whole contracts", prompt_tokens=7168, capacity_bytes=290 * MIB, min_decode_tokens_per_s=4.0)
    finish(runs["no"])
    runs["failed"] = begin("A folder that moved")
    tell(runs["failed"], events=6)
    error = {
        "code": "load_failed",
        "message": "The weights could not be loaded: the process needed more CPU RAM than there is.",
        "hint": "Free some memory, or ask about a smaller precision, then run again.",
    }
    finish(runs["failed"], state="failed", message=error["message"], error=error)
    runs["cancelled"] = begin("Too curious")
    tell(runs["cancelled"], events=14)
    run_cancel(run=Run.objects.get(pk=runs["cancelled"]), user=user)
    finish(runs["cancelled"], state="cancelled", message="Cancelled; the measuring process has ended.")
    _spread_in_time()
    runs["running"] = begin("Long e-mails", prompt_tokens=3072)
    tell(runs["running"], until="measurement")
    tell(runs["running"], until="measurement")
    tell(runs["running"], until="measurement")
    tell(runs["running"], until="measuring")
    runs["queued"] = submit("Support tickets", prompt_tokens=2048)
    make_worker(
        "cuda:0",
        "rack-2",
        device_name="NVIDIA L4",
        capacity_bytes=23_034 * MIB,
        versions=VERSIONS,
        applicable=dict.fromkeys(ON_CPU, True),
        seen_at=timezone.now() - timedelta(hours=7),
    )
    return runs


def _spread_in_time() -> None:
    """What was told in a moment becomes minutes and days, in the same order."""
    now = timezone.now()
    for days, run in enumerate(Run.objects.filter(~Q(finished_at=None)).order_by("-pk")):
        start = now - timedelta(days=days, hours=2 + days, minutes=17 * days)
        times = [start + timedelta(seconds=3.7 * place) for place in range(run.last_seq)]
        for event, at in zip(run.events.order_by("seq"), times, strict=True):
            Event.objects.filter(pk=event.pk).update(created_at=at)
        Run.objects.filter(pk=run.pk).update(queued_at=start, started_at=start, finished_at=times[-1])
        type(run.profile).objects.filter(pk=run.profile_id).update(created_at=start)
