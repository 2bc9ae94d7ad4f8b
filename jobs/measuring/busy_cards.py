"""A card that others compute on: its memory is not ours to promise, and its speed is not what a service would see."""

from collections.abc import Callable, Sequence
from time import monotonic, sleep

from jobs.measuring.card_use import NOTICEABLE_BYTES
from jobs.measuring.nvml import Holder, Nvml
from jobs.sizing.refusal import Refusal
from jobs.sizing.units import GIB, bytes_text

PATIENCE_S = 300.0
ASK_EVERY_S = 2.0
TELL_EVERY_S = 10.0
# More than a driver and a display keep for themselves: somebody computes whom the driver does not name in here.
UNNAMED_BYTES = GIB


def wait_until_free(
    uuids: dict[str, str],
    nvml: Nvml,
    *,
    own_pids: Sequence[int],
    own_context: bool,
    tell: Callable[[str], None],
    clock: Callable[[], float] = monotonic,
    pause: Callable[[float], None] = sleep,
) -> None:
    """Return as soon as nobody else computes on the cards (`uuids`: name -> UUID).

    own_context: whether this process holds memory there already. Raises Refusal("device_busy") after 5 minutes.
    """
    began = told_at = clock()
    first = True
    while (busy := _first_busy(uuids, nvml, own_pids, own_context)) is not None:
        now = clock()
        if now - began > PATIENCE_S:
            raise Refusal(
                "device_busy",
                f"{busy} They did not end within {PATIENCE_S / 60:.0f} minutes.",
                "End them, choose another device, or run it again when the card is free.",
            )
        if first or now - told_at >= TELL_EVERY_S:
            first, told_at = False, now
            tell(f"{busy} Waiting for the card.")
        pause(ASK_EVERY_S)


def _first_busy(uuids: dict[str, str], nvml: Nvml, own_pids: Sequence[int], own_context: bool) -> str | None:
    for name, uuid in uuids.items():
        sentence = _busy(name, uuid, nvml, own_pids, own_context)
        if sentence:
            return sentence
    return None


def _busy(name: str, uuid: str, nvml: Nvml, own_pids: Sequence[int], own_context: bool) -> str | None:
    holders = nvml.holders(uuid) or ()
    others = [
        holder
        for holder in holders
        if holder.pid not in own_pids and (holder.used_bytes is None or holder.used_bytes >= NOTICEABLE_BYTES)
    ]
    if others:
        return f"{name} is in use by {', '.join(map(_who, others))}."
    if own_context:
        return None
    named = sum(holder.used_bytes or 0 for holder in holders) + nvml.displayed_bytes(uuid)
    unnamed = (nvml.used_bytes(uuid) or 0) - named
    if unnamed >= UNNAMED_BYTES:
        return f"{name} has {bytes_text(unnamed)} in use by processes that its driver does not name here."
    return None


def _who(holder: Holder) -> str:
    size = "" if holder.used_bytes is None else f", {bytes_text(holder.used_bytes)}"
    return f"{holder.words}{size}"
