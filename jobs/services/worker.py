"""Workers register, beat, and learn what they can do."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from jobs.models import Worker
from jobs.models.worker import queue_name, worker_name
from jobs.running.devices import known_again, uuids_of
from jobs.services.presentable import presentable
from jobs.services.worker_attach import profiles_attach
from jobs.sizing.refusal import Refusal


def worker_register(
    *, device: str, kind: str, device_name: str, capacity_bytes: int, host: str | None = None
) -> Worker:
    """The row of this host's worker for `device`, as of now; what an earlier start learned by probing is forgotten."""
    now = timezone.now()
    worker, _ = Worker.objects.update_or_create(
        name=worker_name(device, host),
        defaults={
            "device": device,
            "kind": kind,
            "device_name": device_name[:120],
            "capacity_bytes": capacity_bytes,
            "queue": queue_name(device, host),
            "versions": {},
            "applicable": {},
            "error": None,
            "started_at": now,
            "seen_at": now,
        },
    )
    return worker


def worker_beat(*, name: str) -> bool:
    """False where the row is gone: register again."""
    return bool(Worker.objects.filter(name=name).update(seen_at=timezone.now()))


@transaction.atomic
def worker_probed(*, name: str, probe: Mapping[str, Any]) -> None:
    """Keep what the worker's measuring process said of itself (jobs.running.devices.probe), and which of its answers
    still hold."""
    worker = Worker.objects.filter(name=name).first()
    if worker is None:
        return  # it will register again, and ask again
    found = known_again(worker.device, kept=worker.cards, taken=_others_cards(worker), devices=probe["devices"])
    if found is None:
        refusal = Refusal(
            "device_missing",
            f"The measuring process does not see {worker.device}, or only cards of other workers.",
            "Check the driver, CUDA_VISIBLE_DEVICES and the installed torch.",
        )
        worker_probe_failed(name=name, refusal=refusal)
        return
    Worker.objects.filter(name=name).update(
        kind=found["kind"],
        device_name=str(found["name"])[:120],
        capacity_bytes=found["capacity_bytes"],
        versions=presentable(probe["versions"]),
        applicable=presentable(probe["applicable"]),
        cards=uuids_of(found),
        error=None,
    )
    worker.refresh_from_db()
    profiles_attach(worker=worker)


def _others_cards(worker: Worker) -> set[str]:
    """UUIDs of the cards that this machine's other workers measure on."""
    others = Worker.objects.filter(name__startswith=f"{worker.host}:").exclude(pk=worker.pk)
    return {str(uuid) for other in others for uuid in other.cards.values()}


def worker_probe_failed(*, name: str, refusal: Refusal) -> None:
    Worker.objects.filter(name=name).update(error=presentable(refusal.as_json()))
