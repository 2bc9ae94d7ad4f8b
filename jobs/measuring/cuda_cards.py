"""The cards that this process measures on: found free, their contexts made and weighed, their memory watched."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from jobs.measuring.busy_cards import wait_until_free
from jobs.measuring.card_use import CardUse
from jobs.measuring.cuda_memory import ALLOCATOR_SETTINGS, CudaMemory
from jobs.measuring.devices import LEAST_BFLOAT16, torch_devices
from jobs.measuring.nvml import Nvml
from jobs.measuring.weights import held_tensors, storage_bytes
from jobs.procedure.several_cards import cards_in
from jobs.sizing.refusal import Refusal

NOT_SEEN = "Start the process for that card alone; of a card cut up by MIG a process sees one slice."


class CudaCards:
    """Keeps each card's use as long as the process: what was in use before its context can be read only once."""

    def __init__(self, nvml: Nvml | None) -> None:
        self._nvml = nvml
        self._uses: dict[str, CardUse] = {}
        self._opened: tuple[CardUse, ...] = ()

    def open(self, device: Mapping[str, Any], *, dtype: str, tell: Callable[[str], None]) -> str:
        """Wait until nobody else computes on the device's cards and make the contexts; torch's names of them.

        device: as `devices.device` tells it. Raises Refusal: unsupported_dtype, device_busy, load_failed.
        """
        cards = cards_in(device)
        refuse_emulated(cards, dtype)
        found = _torch_devices(device)
        self._wait(cards, tell)
        self._opened = tuple(map(self._opened_use, cards, found))
        if not all(use.context_is_known for use in self._opened):
            tell("What the CUDA context takes is not known without NVML, so the working memory leaves it out.")
        return ",".join(map(str, found))

    def memory(self, model: torch.nn.Module) -> CudaMemory:
        """Of the cards opened last, with `model` on them."""
        weights = {use.name: _weights_on(model, use.torch_device) for use in self._opened}
        return CudaMemory(self._opened, weights_bytes=weights)

    def environment(self, device: Mapping[str, Any]) -> dict[str, Any]:
        """What a measurement on these cards depends on, and the contexts' bytes after loading."""
        cards = cards_in(device)
        known = all(use.context_is_known for use in self._opened)
        return {
            "device_uuid": ",".join(str(card["uuid"]) for card in cards),
            "compute_capability": ",".join(str(card.get("compute_capability")) for card in cards),
            "cuda_context_bytes": sum(use.context_bytes for use in self._opened) if known else None,
            "allocator": next((os.environ[name] for name in ALLOCATOR_SETTINGS if os.environ.get(name)), "default"),
        }

    def _wait(self, cards: Sequence[Mapping[str, Any]], tell: Callable[[str], None]) -> None:
        if self._nvml is None:
            return
        uuids = {str(card["device"]): str(card["uuid"]) for card in cards}
        own = [use.pid for use in self._uses.values() if use.pid is not None]
        open_already = not self._uses.keys().isdisjoint(uuids.values())
        wait_until_free(uuids, self._nvml, own_pids=[os.getpid(), *own], own_context=open_already, tell=tell)

    def _opened_use(self, card: Mapping[str, Any], found: torch.device) -> CardUse:
        uuid = str(card["uuid"])
        if uuid not in self._uses:
            use = CardUse(name=str(card["device"]), uuid=uuid, torch_device=found, nvml=self._nvml)
            use.open_context()
            self._uses[uuid] = use
        return self._uses[uuid]


def refuse_emulated(cards: Sequence[Mapping[str, Any]], dtype: str) -> None:
    """Raises Refusal for bfloat16 on a card that has none: torch would convert at every step, at another speed."""
    if dtype != "bfloat16":
        return
    for card in cards:
        major, _, minor = str(card.get("compute_capability") or "").partition(".")
        if major and (int(major), int(minor or 0)) < LEAST_BFLOAT16:
            raise Refusal(
                "unsupported_dtype",
                f"{card['name']} has compute capability {major}.{minor}, and bfloat16 needs 8.0: torch would only "
                "emulate it, slowly.",
                "Use float16 there.",
            )


def _weights_on(model: torch.nn.Module, card: torch.device) -> int:
    """What the model keeps there, tied weights once."""
    return storage_bytes(tensor for tensor in held_tensors(model) if tensor.device == card)


def _torch_devices(device: Mapping[str, Any]) -> list[torch.device]:
    try:
        return torch_devices(str(device["device"]))
    except KeyError as unseen:
        raise Refusal("load_failed", f"The measuring process does not see {unseen.args[0]}.", NOT_SEEN) from None
