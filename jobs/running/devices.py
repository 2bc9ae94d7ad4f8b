"""What can be measured on here, asked of a measuring process: this one never touches torch or CUDA.

A card has its number from torch, which may be another after a driver's update or with one card more; its UUID stays.
Whoever measures is bound to UUIDs.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from jobs.procedure.several_cards import card_names, cards_in, device_of
from jobs.running.process import MeasuringProcess

COMPILE_PATIENCE_S = 600.0


def list_devices() -> list[dict[str, Any]]:
    """`[{"device", "kind", "name", "capacity_bytes"}]`, of a card its "uuid" too: CUDA devices first, the CPU last."""
    with MeasuringProcess() as process:
        return list(process.hello["devices"])


def probe(device: str | None = None, *, start: Callable[[], MeasuringProcess] = MeasuringProcess) -> dict[str, Any]:
    """`{"versions", "devices", "applicable": {strategy family: true | reason}}` for `device` (the first by default).

    The first probe after an installation compiles what is compiled at first use, which takes up to 90 s.
    """
    with start() as process:
        chosen = device or process.hello["devices"][0]["device"]
        warmed = process.request("warm", patience_s=COMPILE_PATIENCE_S, device=chosen)
        return {
            "versions": process.hello["versions"],
            "devices": process.hello["devices"],
            "applicable": warmed["applicable"],
        }


def cards_of(device: str, devices: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Name -> UUID of the cards of a device, to bind a process to; empty for a CPU and for what is not listed."""
    return uuids_of(device_of(device, devices) or {})


def uuids_of(found: Mapping[str, Any]) -> dict[str, str]:
    """The same of a device that was found."""
    return {str(card["device"]): str(card["uuid"]) for card in cards_in(found) if card.get("uuid")}


def known_again(
    device: str, *, kept: Mapping[str, str], taken: Collection[str], devices: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """The device a worker measures on, its cards found by UUID before number; None where one is gone for good.

    kept: name -> UUID from an earlier start. taken: UUIDs of this machine's other workers. A card that is still there
    keeps its name whatever its number is now; a name whose card is gone takes the card of that number, or one that
    nobody has.
    """
    free = {str(one["uuid"]): dict(one) for one in devices if one.get("uuid")}
    if device == "cpu" or not free:
        return device_of(device, devices)
    found: list[dict[str, Any]] = []
    for name in card_names(device):
        others = {uuid for uuid in free if uuid in taken or uuid in set(kept.values()) - {kept.get(name)}}
        candidates = [uuid for uuid in free if uuid not in others]
        same = [uuid for uuid in candidates if uuid == kept.get(name)]
        numbered = [uuid for uuid in candidates if free[uuid]["device"] == name]
        if not (same or numbered or candidates):
            return None
        uuid = (same or numbered or candidates)[0]
        found.append(free.pop(uuid) | {"device": name})
    return device_of(device, found)
