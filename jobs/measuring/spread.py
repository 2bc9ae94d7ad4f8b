"""One model over several cards: whole layers one after another, split evenly by accelerate."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from jobs.procedure.several_cards import PLACEMENT, WEIGHTS_PART, card_names, is_spread
from jobs.sizing.refusal import Refusal


def placement(device: str) -> dict[str, Any]:
    """What from_pretrained is given beside the model: nothing for one device."""
    return {"device_map": PLACEMENT, "max_memory": _room(_numbers(device))} if is_spread(device) else {}


def spread_over(model: Any, device: str) -> Any:
    """A model in CPU RAM, its layers moved to the cards."""
    from accelerate import dispatch_model

    found = layer_map(model, _room(_numbers(device)))
    refuse_leftover(found)
    return dispatch_model(model, device_map=found)


def layer_map(model: Any, room: Mapping[int, int]) -> dict[str, Any]:
    """Part of the model -> number of the card, or "cpu" or "disk" for what has no room. room: bytes of each card."""
    from accelerate import infer_auto_device_map
    from accelerate.utils import get_balanced_memory

    whole = sorted(model._no_split_modules or ())
    balanced = get_balanced_memory(model, max_memory=dict(room), no_split_module_classes=whole)
    return dict(infer_auto_device_map(model, max_memory=balanced, no_split_module_classes=whole))


def refuse_leftover(found: Mapping[str, Any]) -> None:
    """Raises Refusal where layers were left over for CPU RAM or a disk: that would be another measurement."""
    left = sorted(name for name, place in found.items() if str(place) in ("cpu", "disk"))
    if left:
        raise Refusal(
            "load_failed",
            f"The weights do not fit on these cards: no room is left for {len(left)} parts, the first {left[0]}.",
            "Name more cards, or use a smaller precision.",
        )


def refuse_packing(packing: Any, device: str) -> None:
    """Raises Refusal for random weights to be packed over several cards: they are packed on one."""
    if packing and is_spread(device):
        raise Refusal(
            "not_supported",
            "Random weights that are packed while they are loaded cannot be spread over several cards.",
            "Name one card, or a model with real weights.",
        )


def first_of(device: str) -> str:
    """Where the prompt goes: the card of the first layers."""
    return card_names(device)[0]


def _numbers(device: str) -> list[int]:
    return [int(name.removeprefix("cuda:")) for name in card_names(device)]


def _room(cards: Sequence[int]) -> dict[int, int]:
    return {card: int(torch.cuda.mem_get_info(card)[0] * WEIGHTS_PART) for card in cards}
