"""Rows to test with, plain and complete."""

from datetime import datetime
from itertools import count
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from jobs.models import EntryState, Membership, ModelEntry, Profile, Role, Run, Worker
from jobs.models.worker import queue_name, worker_name
from jobs.procedure.measurement import Measurement, Outcome
from jobs.procedure.question import Question
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord, LayerGroup, LayerKind, PeakRung, Phase
from jobs.sizing.strategy import Strategy

number = count(1)
VERSIONS = {"transformers": "5.24.0", "torch": "2.13.0"}


def make_user(username: str = "", role: Role = Role.MEMBER, **fields: Any) -> User:
    user = User.objects.create_user(username or f"user{next(number)}", password="correct horse", **fields)
    Membership.objects.create(user=user, role=role)
    return user


def make_worker(device: str = "cpu", host: str = "box", seen_at: datetime | None = None, **fields: Any) -> Worker:
    now = timezone.now()
    given = {
        "kind": device.partition(":")[0],
        "device_name": "A processor",
        "capacity_bytes": 8 * 2**30,
        "versions": VERSIONS,
    }
    return Worker.objects.create(
        name=worker_name(device, host),
        device=device,
        queue=queue_name(device, host),
        started_at=now,
        seen_at=seen_at or now,
        **(given | fields),
    )


def make_record(**fields: Any) -> InspectionRecord:
    rungs = tuple(
        PeakRung(
            phase=phase,
            strategy="default",
            dtype="bfloat16",
            attention="sdpa",
            sequences=1,
            tokens=tokens,
            working_bytes=tokens * 1000,
        )
        for phase in Phase
        for tokens in (128, 1024)
    )
    given: dict[str, Any] = {
        "model": "a/model",
        "model_type": "llama",
        "architecture": "LlamaForCausalLM",
        "config_hash": "c" * 64,
        "versions": VERSIONS,
        "parameters": 1000,
        "weights_bytes": {"bfloat16": 2000},
        "native_context": 4096,
        "vocabulary": 100,
        "layers": (LayerGroup(kind=LayerKind.GROWING, count=2, heads=2, key_width=8, value_width=8),),
        "rungs": rungs,
        "refusals": {},
    }
    return InspectionRecord(**(given | fields))


def make_entry(name: str = "", *, inspected: bool = True, **fields: Any) -> ModelEntry:
    name = name or f"org/model{next(number)}"
    spec = ModelSpec(kind=ModelKind.HUB, name=name)
    given: dict[str, Any] = {"kind": str(spec.kind), "name": name, "spec": spec.as_json()}
    if inspected:
        given |= {"state": EntryState.READY, "record": make_record(model=name).as_json()}
    return ModelEntry.objects.create(**(given | fields))


def make_question(**fields: Any) -> Question:
    given: dict[str, Any] = {
        "model": "a/model",
        "prompt_tokens": 1024,
        "typical_prompt_tokens": 256,
        "answer_tokens": 32,
        "strategies": (),
    }
    return Question(**(given | fields))


def make_profile(worker: Worker | None = None, entry: ModelEntry | None = None, **fields: Any) -> Profile:
    worker = worker or make_worker(host=f"box{next(number)}")
    given: dict[str, Any] = {
        "name": f"profile {next(number)}",
        "model_entry": entry or make_entry(),
        "worker": worker,
        "question": make_question(device=worker.device).as_json(),
    }
    return Profile.objects.create(**(given | fields))


def make_run(worker: Worker | None = None, profile: Profile | None = None, **fields: Any) -> Run:
    profile = profile or make_profile(worker)
    assert profile.worker is not None
    given: dict[str, Any] = {
        "profile": profile,
        "model_entry": profile.model_entry,
        "worker": profile.worker,
        "question": profile.question,
        "queue": profile.worker.queue,
    }
    return Run.objects.create(**(given | fields))


def make_measurement(strategy: str = "default", context: int = 160, **fields: Any) -> Measurement:
    given: dict[str, Any] = {
        "strategy": str(Strategy.parse(strategy)),
        "context": context,
        "prompt": context - 32,
        "answer": 32,
        "sequences": 1,
        "outcome": Outcome.OK,
        "stage": "baseline",
        "peak_bytes": 5000,
        "repeats": 1,
        "settings": {"do_sample": False},
    }
    return Measurement(**(given | fields))
