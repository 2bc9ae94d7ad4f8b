"""A model's layers over several cards, decided from its sizes alone: nothing is moved to a card here."""

from collections import Counter

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from jobs.measuring.spread import first_of, layer_map, placement, refuse_leftover, refuse_packing
from jobs.sizing.refusal import Refusal
from jobs.sizing.units import GIB, MIB
from tests.measuring.conftest import LLAMA
from tests.measuring.fake_cuda import FakeCard, listed


@pytest.fixture(scope="module")
def model() -> torch.nn.Module:
    """Four layers of 0.9 MiB each and the embedding of half a MiB."""
    fields = dict(LLAMA)
    config = AutoConfig.for_model(fields.pop("model_type"), **fields)
    made: torch.nn.Module = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    return made


def layers_on(found: dict[str, object]) -> Counter[object]:
    return Counter(place for name, place in found.items() if ".layers." in name)


def test_whole_layers_are_split_evenly(model: torch.nn.Module) -> None:
    assert layers_on(layer_map(model, {0: GIB, 1: GIB})) == {0: 2, 1: 2}


def test_what_has_no_room_on_the_cards_is_refused_and_not_offloaded(model: torch.nn.Module) -> None:
    found = layer_map(model, {0: 2 * MIB, 1: 2 * MIB})
    assert set(map(str, found.values())) & {"cpu", "disk"}
    with pytest.raises(Refusal, match="do not fit on these cards"):
        refuse_leftover(found)


def test_what_has_room_is_not_refused(model: torch.nn.Module) -> None:
    refuse_leftover(layer_map(model, {0: GIB, 1: GIB}))


def test_the_room_of_a_card_is_what_is_free_of_it_less_a_part_for_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    listed(FakeCard(total_bytes=10 * GIB), FakeCard(total_bytes=20 * GIB, uuid="GPU-b")).install(monkeypatch)
    given = placement("cuda:0,cuda:1")
    assert given["device_map"] == "balanced"
    assert given["max_memory"] == {0: 9 * GIB, 1: 18 * GIB}


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_one_device_needs_no_placement(device: str) -> None:
    assert placement(device) == {}
    assert first_of(device) == device


def test_random_weights_to_be_packed_are_not_spread() -> None:
    refuse_packing(object(), "cuda:0")
    refuse_packing(None, "cuda:0,cuda:1")
    with pytest.raises(Refusal, match="cannot be spread"):
        refuse_packing(object(), "cuda:0,cuda:1")
