"""What can be measured on here, and by what name and UUID.

`cuda:N` is torch's number of a card where nothing else is said. A process that was bound to certain cards sees those
alone, from 0 on; MEASURED_DEVICES then holds, in the same order, what they are called outside.
"""

import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from jobs.measuring.nvml import Card, Nvml
from jobs.procedure.several_cards import card_names, device_of

CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
NAMES = "MEASURED_DEVICES"
VISIBLE = "CUDA_VISIBLE_DEVICES"
LEAST_BFLOAT16 = (8, 0)  # compute capability: below it torch only emulates bfloat16


def devices() -> list[dict[str, Any]]:
    """CUDA devices first, the CPU last; capacity_bytes is the whole device's.

    A process sees one slice of a card cut up by MIG: the others are listed by NVML, and can be measured on by a process
    that is bound to them.
    """
    nvml = Nvml.opened()
    cards = nvml.cards() if nvml else ()
    seen = [_seen(index, cards) for index in range(cuda_count())]
    return [*seen, *_other_slices(cards, seen), cpu_device()]


def device(name: str) -> dict[str, Any] | None:
    """The one called `name` ("cpu", "cuda:0", or several as "cuda:0,cuda:1"), or None."""
    return device_of(name, devices())


def torch_devices(name: str) -> list[torch.device]:
    """What torch calls the cards of `name` in this process; raises KeyError for one that it does not see."""
    numbers = {_name(index): index for index in range(cuda_count())}
    return [torch.device("cuda", numbers[one]) for one in card_names(name)]


def cuda_count() -> int:
    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def _seen(index: int, cards: Sequence[Card]) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(index)
    uuid = _uuid(index, properties, cards)
    return {
        "device": _name(index),
        "kind": "cuda",
        "name": properties.name,
        "capacity_bytes": properties.total_memory,
        "uuid": uuid,
        "mig": uuid.startswith("MIG-"),
        "compute_capability": f"{properties.major}.{properties.minor}",
        "multiprocessors": properties.multi_processor_count,
    }


def _other_slices(cards: Sequence[Card], seen: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    if os.environ.get(VISIBLE):
        return []  # whoever chose the cards chose these
    known = {one["uuid"] for one in seen}
    hidden = [card for card in cards if card.slice_of and card.uuid not in known]
    return [
        {
            "device": f"cuda:{number}",
            "kind": "cuda",
            "name": card.name,
            "capacity_bytes": card.capacity_bytes,
            "uuid": card.uuid,
            "mig": True,
        }
        for number, card in enumerate(hidden, start=len(seen))
    ]


def _name(index: int) -> str:
    names = [name for name in os.environ.get(NAMES, "").split(",") if name]
    return names[index] if index < len(names) else f"cuda:{index}"


def _uuid(index: int, properties: Any, cards: Sequence[Card]) -> str:
    """As the driver writes it. A binding names it; of a slice, torch may tell the whole card's."""
    visible = os.environ.get(VISIBLE, "").split(",")
    if index < len(visible) and visible[index].startswith(("GPU-", "MIG-")):
        # CUDA takes the beginning of a UUID for the whole.
        return next((card.uuid for card in cards if card.uuid.startswith(visible[index])), visible[index])
    own = str(getattr(properties, "uuid", ""))
    for card in cards:
        if own and own in (_bare(card.uuid), _bare(card.slice_of or "")):
            return card.uuid
    return f"{'MIG' if ' MIG ' in properties.name else 'GPU'}-{own}"


def _bare(uuid: str) -> str:
    return uuid.removeprefix("GPU-").removeprefix("MIG-")


def cpu_device() -> dict[str, Any]:
    return {"device": "cpu", "kind": "cpu", "name": cpu_name(), "capacity_bytes": host_memory_bytes()}


def cpu_name() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def host_memory_bytes() -> int:
    """Physical memory, or the container's limit where that is less."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = CGROUP_LIMIT.read_text().strip() if CGROUP_LIMIT.exists() else "max"
    return min(physical, int(limit)) if limit.isdigit() else physical
