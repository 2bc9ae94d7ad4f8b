from typing import Any

import pytest

from jobs.procedure.measurement import Measurement, Outcome
from jobs.procedure.several_cards import card_names, device_of, fullest, is_spread, together
from jobs.procedure.verdict import Bounds, Limiter, judge
from jobs.sizing.units import GIB

CPU = {"device": "cpu", "kind": "cpu", "name": "Epyc", "capacity_bytes": 64 * GIB}


def card(number: int, capacity_bytes: int = 24 * GIB, name: str = "A card") -> dict[str, Any]:
    return {
        "device": f"cuda:{number}",
        "kind": "cuda",
        "name": name,
        "capacity_bytes": capacity_bytes,
        "uuid": f"GPU-{number}",
    }


def measured(peaks: dict[str, int]) -> Measurement:
    return Measurement(
        strategy="default",
        context=100,
        prompt=96,
        answer=4,
        sequences=1,
        outcome=Outcome.OK,
        peak_bytes=sum(peaks.values()),
        by_device={name: {"peak_bytes": peak} for name, peak in peaks.items()},
    )


def test_a_device_of_several_cards_names_each() -> None:
    assert card_names("cuda:0,cuda:1") == ("cuda:0", "cuda:1")
    assert (is_spread("cuda:0,cuda:1"), is_spread("cuda:0"), is_spread("cpu")) == (True, False, False)


def test_several_cards_have_the_smallest_s_capacity_times_their_number() -> None:
    found = together("cuda:0,cuda:1", [card(0), card(1, 16 * GIB, "Another")])
    assert found is not None
    assert (found["capacity_bytes"], found["name"], len(found["cards"])) == (32 * GIB, "A card + Another", 2)


@pytest.mark.parametrize("name", ["cuda:0,cpu", "cuda:0,cuda:0", "cuda:0,cuda:7", "cuda:7"])
def test_a_processor_a_card_named_twice_and_one_that_is_not_there_make_no_device(name: str) -> None:
    assert device_of(name, [card(0), card(1), CPU]) is None


def test_one_name_is_the_device_itself() -> None:
    assert device_of("cpu", [card(0), CPU]) == CPU


def test_the_fullest_card_is_told_where_there_are_several() -> None:
    assert fullest(measured({"cuda:0": 3, "cuda:1": 5})) == ("cuda:1", 5)
    assert fullest(measured({"cuda:0": 3})) is None


BOUNDS = Bounds(capacity_bytes=48 * GIB, headroom_bytes=4 * GIB)  # 22 GiB of each of two cards


def test_a_point_fits_only_if_the_fullest_card_is_within_its_share() -> None:
    verdict = judge(measured({"cuda:0": 23 * GIB, "cuda:1": 10 * GIB}), BOUNDS)
    assert verdict is not None
    assert verdict.limiter is Limiter.MEMORY
    assert verdict.reason == "cuda:0 needs 23 GiB of the 22 GiB that the headroom leaves each card"


def test_a_point_whose_cards_are_all_within_their_share_fits() -> None:
    verdict = judge(measured({"cuda:0": 22 * GIB, "cuda:1": 21 * GIB}), BOUNDS)
    assert verdict is not None
    assert verdict.acceptable
