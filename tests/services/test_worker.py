from pathlib import Path

import pytest

from jobs.device_facts import device_facts
from jobs.models import Worker
from jobs.services.worker import worker_beat, worker_probe_failed, worker_probed, worker_register
from jobs.sizing.refusal import Refusal
from tests.factories import VERSIONS

PROBE = {
    "versions": VERSIONS,
    "devices": [{"device": "cpu", "kind": "cpu", "name": "Epyc", "capacity_bytes": 100}],
    "applicable": {"default": True, "offloaded": "The cache lies in CPU RAM already."},
}


def register(device: str = "cpu") -> Worker:
    return worker_register(device=device, kind=device[:4], device_name="A device", capacity_bytes=1, host="box")


@pytest.mark.django_db
def test_a_worker_registers_under_its_host_and_device() -> None:
    worker = register("cuda:0")
    assert (worker.name, worker.queue, worker.host) == ("box:cuda:0", "device.box.cuda:0", "box")


@pytest.mark.django_db
def test_a_restart_takes_the_same_row_and_forgets_what_was_probed() -> None:
    first = register()
    worker_probed(name=first.name, probe=PROBE)
    second = register()
    assert (second.pk, second.versions, second.applicable) == (first.pk, {}, {})
    assert second.started_at > first.started_at


@pytest.mark.django_db
def test_a_beat_is_seen_and_a_row_that_is_gone_is_told() -> None:
    worker = register()
    assert worker_beat(name=worker.name)
    assert Worker.objects.get().seen_at > worker.seen_at
    assert not worker_beat(name="nobody")


@pytest.mark.django_db
def test_a_probe_tells_what_a_worker_can_do() -> None:
    worker = register()
    worker_probed(name=worker.name, probe=PROBE)
    worker.refresh_from_db()
    assert (worker.device_name, worker.capacity_bytes, worker.versions) == ("Epyc", 100, VERSIONS)
    assert worker.applicable == PROBE["applicable"] and worker.error is None


@pytest.mark.django_db
def test_a_device_that_the_measuring_process_lacks_is_an_error() -> None:
    worker = register("cuda:0")
    worker_probed(name=worker.name, probe=PROBE)
    worker.refresh_from_db()
    assert worker.error["code"] == "device_missing" and "cuda:0" in worker.error["message"]


def cards(*uuids: str) -> dict[str, object]:
    found = [
        {"device": f"cuda:{number}", "kind": "cuda", "name": f"Card {uuid}", "capacity_bytes": 10, "uuid": uuid}
        for number, uuid in enumerate(uuids)
    ]
    return {**PROBE, "devices": found}


@pytest.mark.django_db
def test_a_card_that_is_numbered_anew_stays_its_worker_s() -> None:
    first, second = register("cuda:0"), register("cuda:1")
    for worker in (first, second):
        worker_probed(name=worker.name, probe=cards("A", "B"))
    for device in ("cuda:0", "cuda:1"):
        worker_probed(name=register(device).name, probe=cards("B", "A"))
    first.refresh_from_db(), second.refresh_from_db()
    assert (first.cards, first.device_name) == ({"cuda:0": "A"}, "Card A")
    assert (second.cards, second.device_name) == ({"cuda:1": "B"}, "Card B")


@pytest.mark.django_db
def test_a_worker_over_several_cards_has_their_memory_together_and_a_queue_without_a_comma() -> None:
    worker = register("cuda:0,cuda:1")
    worker_probed(name=worker.name, probe=cards("A", "B"))
    worker.refresh_from_db()
    assert (worker.device_name, worker.capacity_bytes) == ("Card A + Card B", 20)
    assert worker.cards == {"cuda:0": "A", "cuda:1": "B"}
    assert worker.queue == "device.box.cuda:0+cuda:1"


@pytest.mark.django_db
def test_a_failed_probe_says_why() -> None:
    worker = register()
    worker_probe_failed(name=worker.name, refusal=Refusal("x", "It died in /srv/venv/torch.", "See the log."))
    worker.refresh_from_db()
    assert worker.error["message"] == "It died in …/torch."


def test_a_processor_is_known_without_torch(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: AMD EPYC\n")
    (tmp_path / "meminfo").write_text("MemTotal:       1024 kB\nMemFree: 1 kB\n")
    facts = device_facts("cpu", cpuinfo=tmp_path / "cpuinfo", meminfo=tmp_path / "meminfo")
    assert facts == {"kind": "cpu", "device_name": "AMD EPYC", "capacity_bytes": 1024 * 1024}


def test_a_machine_that_tells_nothing_still_has_a_processor(tmp_path: Path) -> None:
    facts = device_facts("cpu", cpuinfo=tmp_path / "none", meminfo=tmp_path / "none")
    assert facts["device_name"] and facts["capacity_bytes"] == 0


def test_a_graphics_processor_is_named_until_it_is_asked() -> None:
    assert device_facts("cuda:1") == {"kind": "cuda", "device_name": "GPU 1", "capacity_bytes": 0}
