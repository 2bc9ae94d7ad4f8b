"""One model over several cards: the device "cuda:0,cuda:1", each card holding an even share of the capacity.

Figures are of all cards together unless they say of which; a point fits only if every card is within its share, so the
fullest card decides. Before anything is measured, an even split of all bytes is the estimate.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.procedure.measurement import Measurement

PLACEMENT = "balanced"  # whole layers one after another, as evenly as they go
# Of a card's free memory; the rest is for its part of the cache and the activations.
WEIGHTS_PART = 0.9


def card_names(device: str) -> tuple[str, ...]:
    """`("cuda:0", "cuda:1")` of "cuda:0,cuda:1"; one name of any other device."""
    return tuple(device.split(","))


def is_spread(device: str) -> bool:
    return len(card_names(device)) > 1


def together(name: str, cards: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Several cards as one device: each counts with the capacity of the smallest. None where one is no GPU."""
    if any(card["kind"] != "cuda" for card in cards):
        return None
    names = dict.fromkeys(str(card["name"]) for card in cards)
    return {
        "device": name,
        "kind": "cuda",
        "name": f"{len(cards)} × {next(iter(names))}" if len(names) == 1 else " + ".join(str(c["name"]) for c in cards),
        "capacity_bytes": len(cards) * min(int(card["capacity_bytes"]) for card in cards),
        "cards": [dict(card) for card in cards],
    }


def device_of(name: str, devices: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The device called `name` of those listed, or several of them as one; None where one is missing or twice."""
    listed = {str(one["device"]): one for one in devices}
    names = card_names(name)
    if not set(names) <= set(listed) or len(set(names)) != len(names):
        return None
    found = [listed[one] for one in names]
    return dict(found[0]) if len(found) == 1 else together(name, found)


def cards_in(device: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The cards of a device as `device_of` tells it: several, or the one that it is."""
    return list(device.get("cards", [device]))


def fullest(measurement: Measurement) -> tuple[str, int] | None:
    """The card with the highest peak, and that; None where the model is on one device."""
    by_device = measurement.by_device or {}
    if len(by_device) < 2:
        return None
    name = max(by_device, key=lambda card: int(by_device[card]["peak_bytes"]))
    return name, int(by_device[name]["peak_bytes"])
