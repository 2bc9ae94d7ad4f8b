from typing import Any

import pytest

from jobs.running.devices import cards_of, known_again
from jobs.running.environment import measuring_environment

CPU = {"device": "cpu", "kind": "cpu", "name": "Epyc", "capacity_bytes": 100}


def cards(*uuids: str) -> list[dict[str, Any]]:
    """Cards in the order of their numbers today, and the CPU."""
    found = [
        {"device": f"cuda:{number}", "kind": "cuda", "name": f"Card {uuid}", "capacity_bytes": 10, "uuid": uuid}
        for number, uuid in enumerate(uuids)
    ]
    return [*found, CPU]


def uuid_of(device: str, kept: dict[str, str], taken: set[str], devices: list[dict[str, Any]]) -> str | None:
    found = known_again(device, kept=kept, taken=taken, devices=devices)
    return None if found is None else ",".join(cards_of(device, found.get("cards", [found])).values())


@pytest.mark.parametrize(
    ("kept", "taken", "today", "expected"),
    [
        ({}, set(), ("A", "B"), "A"),  # the first start: by its number
        ({"cuda:0": "B"}, {"A"}, ("A", "B"), "B"),  # numbered anew: by its UUID
        ({"cuda:0": "Z"}, {"B"}, ("A", "B"), "A"),  # its card is gone: the one of that number
        ({}, {"A"}, ("A", "B"), "B"),  # that number is another worker's card now: one that nobody has
        ({}, {"A", "B"}, ("A", "B"), None),
        ({"cuda:0": "A"}, set(), (), None),
    ],
)
def test_a_worker_s_card_is_known_by_its_uuid_before_its_number(
    kept: dict[str, str], taken: set[str], today: tuple[str, ...], expected: str | None
) -> None:
    assert uuid_of("cuda:0", kept, taken, cards(*today)) == expected


def test_a_card_that_is_found_again_keeps_its_name() -> None:
    found = known_again("cuda:0", kept={"cuda:0": "B"}, taken=(), devices=cards("A", "B"))
    assert found is not None
    assert (found["device"], found["name"]) == ("cuda:0", "Card B")


def test_each_of_several_cards_is_known_by_its_own_uuid() -> None:
    kept = {"cuda:0": "B", "cuda:1": "A"}
    assert uuid_of("cuda:0,cuda:1", kept, set(), cards("A", "B")) == "B,A"
    assert uuid_of("cuda:0,cuda:1", {}, set(), cards("A", "B")) == "A,B"
    assert uuid_of("cuda:0,cuda:1", {}, set(), cards("A")) is None


def test_a_processor_has_no_uuid_and_needs_none() -> None:
    assert known_again("cpu", kept={}, taken=(), devices=cards("A")) == CPU
    assert cards_of("cpu", [CPU]) == {}


def test_a_card_whose_uuid_is_not_told_is_known_by_its_number() -> None:
    card = {"device": "cuda:0", "kind": "cuda", "name": "Card", "capacity_bytes": 10}
    assert known_again("cuda:0", kept={"cuda:0": "A"}, taken=(), devices=[card]) == card


def test_a_process_bound_to_cards_sees_those_alone_under_their_names() -> None:
    given = {"CUDA_VISIBLE_DEVICES": "0,1,2,3"}
    bound = measuring_environment(given, python="/v/bin/python", cards={"cuda:3": "GPU-b", "cuda:1": "MIG-a"})
    assert bound["CUDA_VISIBLE_DEVICES"] == "GPU-b,MIG-a"
    assert bound["MEASURED_DEVICES"] == "cuda:3,cuda:1"


def test_a_process_that_is_bound_to_nothing_sees_what_its_parent_saw() -> None:
    unbound = measuring_environment({"CUDA_VISIBLE_DEVICES": "1", "MEASURED_DEVICES": "cuda:9"}, python="/v/bin/python")
    assert unbound["CUDA_VISIBLE_DEVICES"] == "1"
    assert "MEASURED_DEVICES" not in unbound
