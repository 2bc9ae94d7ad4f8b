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

from jobs.asking.choices import STRATEGIES
from jobs.models import (
    ACTIVE_STATES,
    EntryState,
    Event,
    Membership,
    ModelEntry,
    PromptCount,
    PromptSet,
    Role,
    Run,
    RunState,
    Worker,
)
from jobs.models.worker import worker_name
from jobs.procedure.events import Event as Told
from jobs.procedure.events import EventKind
from jobs.procedure.own_prompts import read_prompts
from jobs.procedure.question import Depth, Question
from jobs.procedure.run import answer
from jobs.running.model_source import resolve_model
from jobs.selectors.model_entry import record_of
from jobs.services.account import setup_link_make
from jobs.services.claim import Claim, run_claim
from jobs.services.prompt_set import prompt_set_save
from jobs.services.record import event_record, held_by
from jobs.services.run import run_cancel, run_submit
from jobs.services.run_state import run_move
from jobs.services.workload import workload_save
from jobs.sizing.record import InspectionRecord, LayerGroup, LayerKind
from jobs.sizing.stored import with_weights
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import DTYPE_BYTES, GIB, MIB
from tests.browser.demo_worlds import (
    DEVICE,
    L4,
    L4_BYTES,
    OWN_LENGTHS,
    TWO_L4,
    VERSIONS,
    DemoWorld,
    GpuWorld,
    TwoCardsWorld,
    packable_record,
)
from tests.factories import make_entry, make_worker
from tests.procedure.worlds import record, strategies

USER, PASSWORD = "ada", "correct horse battery"
ON_GPU = ("quantized:hqq:8", "quantized:hqq:4", "quantized:quanto:4", "quantized:hqq:2", "chunked:512", "offloaded")
TRIED = ("quantized:hqq:8", "quantized:hqq:4", "quantized:quanto:4", "chunked:512", "offloaded")
ON_CPU = {
    "default": True,
    "static": True,
    "quantized:hqq": True,
    "quantized:quanto": True,
    "quantized:fp8": "needs a GPU with 8-bit floats",
    "offloaded": "this device is a CPU: there is nowhere to offload to",
    "offloaded_static": "this device is a CPU: there is nowhere to offload to",
}


def _truth(strategy: Strategy, prompt: int, estimated: Any) -> int:
    return int(estimated.peak_bytes * 1.004) + 2 * MIB


@dataclass(kw_only=True)
class Going:
    """A run that is told on by hand."""

    claim: Claim
    events: Iterator[Told]


GPU_HOST = "rack-1"
_going: dict[int, Going] = {}


def member() -> dict[str, str]:
    """Somebody to sign in as."""
    if not User.objects.filter(username=USER).exists():
        Membership.objects.create(user=User.objects.create_user(USER, password=PASSWORD), role=Role.MEMBER)
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
    row = {"kind": str(spec.kind), "spec": spec.as_json(), "record": read.as_json(), "inspected_at": timezone.now()}
    return found or make_entry(spec.name, **row)


def submit(
    name: str = "Nightly summaries", *, of: ModelEntry | None = None, on: Worker | None = None, **changes: Any
) -> int:
    """A run that waits."""
    user = User.objects.get(username=member()["username"])
    found = of or entry()
    asked = question(**{"model": found.name} | changes)
    run = run_submit(user=user, name=name, entry=found, question=asked, worker=on or worker_row())
    return int(run.pk)


def begin(
    name: str = "Nightly summaries",
    *,
    of: ModelEntry | None = None,
    on: Worker | None = None,
    world: type[DemoWorld] = DemoWorld,
    **changes: Any,
) -> int:
    """A run that its worker has taken, told on by `tell`."""
    pk = submit(name, of=of, on=on, **changes)
    take(pk, world=world)
    return pk


def take(pk: int, *, world: type[DemoWorld] = DemoWorld) -> None:
    """Its worker takes a run that waits."""
    run = Run.objects.get(pk=pk)
    assert run.worker
    claim = run_claim(worker=run.worker)
    assert claim
    assert claim.run_id == pk
    asked, read = Question.from_json(run.question), record_of(run.model_entry)
    assert read
    bench = world(asked=asked, record=with_weights(read, asked.weights), truth=_truth)
    _going[pk] = Going(claim=claim, events=answer(asked, read, bench))


def own_prompts() -> PromptSet:
    """A file of the team's, with lines that are no prompts, counted for the Hub model."""
    user = User.objects.get(username=member()["username"])
    lines = [f"A letter from the customer, number {number}." for number in range(OWN_LENGTHS["count"])]
    read = read_prompts("\n".join([*lines, "[1]", '{"question": "?"}', '{"prompt": 7}']).encode())
    kept = prompt_set_save(user=user, name="letters of March.jsonl", prompts=read)
    counts = {"state": EntryState.READY, "lengths": OWN_LENGTHS}
    PromptCount.objects.update_or_create(model_entry=hub_entry(), prompts=kept, defaults=counts)
    return kept


def hub_entry() -> ModelEntry:
    return known("HuggingFaceTB/SmolLM2-135M", packable_record())


def gpu(device: str, name: str, capacity_bytes: int) -> Worker:
    known_workers = Worker.objects.filter(name=worker_name(device, GPU_HOST))
    return known_workers.first() or make_worker(
        device,
        GPU_HOST,
        device_name=name,
        capacity_bytes=capacity_bytes,
        versions=VERSIONS,
        applicable=dict.fromkeys(ON_CPU, True),
    )


def on_gpus() -> dict[str, int]:
    """Runs on GPUs, of a Hub model with real weights: quality is measured, and each card has its figures."""
    one, two = gpu("cuda:0", L4["name"], L4_BYTES), gpu("cuda:0,cuda:1", TWO_L4["name"], 2 * L4_BYTES)
    usual = {"of": hub_entry(), "strategies": strategies(*ON_GPU), "max_kl": 0.2}
    packed = usual | {"weights": "bnb4", "prompts_sha256": own_prompts().sha256, "sequences": 3}
    runs = {"quality": begin("Letters", on=one, world=GpuWorld, device=one.device, capacity_bytes=700 * MIB, **packed)}
    finish(runs["quality"])
    strict = packed | {"max_kl": 0.0001, "strategies": strategies("quantized:hqq:8", "quantized:hqq:4")}
    runs["strict"] = begin("Contracts", on=one, world=GpuWorld, device=one.device, capacity_bytes=700 * MIB, **strict)
    finish(runs["strict"])
    spread = usual | {"sequences": 8, "max_kl": None}
    runs["cards"] = begin(
        "A team's chats", on=two, world=TwoCardsWorld, device=two.device, capacity_bytes=2 * GIB, **spread
    )
    finish(runs["cards"])
    runs["downloading"] = begin("Minutes", on=one, world=GpuWorld, device=one.device, **usual)
    tell(runs["downloading"], events=1)
    say(runs["downloading"], ["Downloading: 1.20 GiB of 2.00 GiB."])
    return runs


def offloading() -> int:
    """A nightly job on a GPU that offloading alone can hold: done."""
    one = gpu("cuda:0", L4["name"], L4_BYTES)
    asked = {"device": one.device, "prompt_tokens": 6144, "capacity_bytes": 600 * MIB, "min_decode_tokens_per_s": 1.0}
    tried = strategies("quantized:hqq:4", "offloaded")
    run = begin("Nightly job", of=hub_entry(), on=one, world=GpuWorld, strategies=tried, **asked)
    finish(run)
    return run


def later(run: int, **columns: Any) -> int:
    """The profile's answer once more, as a run of now in which only these columns differ."""
    found = Run.objects.get(pk=run)
    now = timezone.now()
    found.pk, found.last_seq, found.queued_at, found.finished_at = None, 0, now, now  # its events are not told again
    found.save()
    Run.objects.filter(pk=found.pk).update(queued_at=now, **columns)
    type(found.profile).objects.filter(pk=found.profile_id).update(answer_run=found, latest_run=found)
    return int(found.pk)


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


def profile_of(run: int) -> int:
    return Run.objects.get(pk=run).profile_id


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
    runs |= on_gpus()
    _spread_in_time()
    runs["running"] = begin("Long e-mails", prompt_tokens=3072)
    tell(runs["running"], until="measurement")
    tell(runs["running"], until="measurement")
    tell(runs["running"], until="measurement")
    tell(runs["running"], until="measuring")
    runs["queued"] = submit("Support tickets", prompt_tokens=2048)
    make_worker(
        "cuda:1",
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
    for days, run in enumerate(Run.objects.filter(~Q(finished_at=None), last_seq__gt=0).order_by("-pk")):
        start = now - timedelta(days=days, hours=2 + days, minutes=17 * days)
        times = [start + timedelta(seconds=3.7 * place) for place in range(run.last_seq)]
        for event, at in zip(run.events.order_by("seq"), times, strict=True):
            Event.objects.filter(pk=event.pk).update(created_at=at)
        Run.objects.filter(pk=run.pk).update(queued_at=start, started_at=start, finished_at=times[-1])
        type(run.profile).objects.filter(pk=run.profile_id).update(created_at=start)


def administrator() -> dict[str, str]:
    """Somebody to sign in as, who may do everything."""
    if not User.objects.filter(username="grace").exists():
        user = User.objects.create_superuser("grace", password=PASSWORD)
        Membership.objects.create(user=user, role=Role.ADMIN)
    return {"username": "grace", "password": PASSWORD}
