from dataclasses import replace
from typing import Any

import pytest

from jobs.procedure.difference import Difference, Weight, weightiest
from jobs.procedure.freshness import Basis, differences, versions_in
from jobs.procedure.question import Question
from jobs.procedure.question_differences import ELSEWHERE, FIELDS, question_differences
from jobs.procedure.releases import Step, step_between
from jobs.sizing.units import GIB, MIB
from tests.procedure.worlds import question, strategies

ASKED = question(device="cuda:0", capacity_bytes=None).as_json()
VERSIONS = {"transformers": "5.23.0", "torch": "2.13.0+cu130", "cuda": "13.0", "driver": "580.65.06", "hqq": "0.2.8"}
WAS = Basis(
    question=ASKED,
    versions=VERSIONS,
    device_name="NVIDIA L4",
    device_bytes=24 * GIB,
    commit="abc1234" + "0" * 33,
    config_hash="c" * 64,
    config_by="5.23.0",
)


def found(strategy: str = "default", **now: Any) -> list[tuple[str, str]]:
    told = differences(WAS, replace(WAS, **now), strategy=strategy)
    return [(difference.sentence, str(difference.weight)) for difference in told]


@pytest.mark.parametrize(
    ("was", "now", "step"),
    [
        ("5.23.0", "5.23.0", Step.SAME),
        ("5.23.0", "5.23.1", Step.PATCH),
        ("5.23", "5.23.0", Step.PATCH),
        ("5.23.0", "5.24.0", Step.MINOR),
        ("4.57.6", "5.0.0", Step.MINOR),
        ("5.9.0", "5.10.0", Step.MINOR),
        ("0.2.8", "0.2.8.post1", Step.PATCH),
        ("2.13.0+cpu", "2.13.0+cu130", Step.PATCH),
        ("2.13.0+cpu", "2.13.0", Step.SAME),
        ("2.13.0+cpu", "2.13.1", Step.PATCH),
        ("2.13.0+cpu", "2.14.0", Step.MINOR),
        ("2.13.0+cu130", "2.13.0+cu130.dev", Step.PATCH),
        ("5.24.0.dev0", "5.24.0", Step.MINOR),
        ("5.24.0rc1", "5.24.0", Step.MINOR),
        ("main", "5.24.0", Step.MINOR),
    ],
)
def test_a_step_is_told_by_the_numbers(was: str, now: str, step: Step) -> None:
    assert step_between(was, now) is step_between(now, was) is step


@pytest.mark.parametrize(
    ("library", "now", "weight"),
    [
        ("transformers", "5.24.0", "stale"),
        ("transformers", "6.0.0", "stale"),
        ("transformers", "5.23.1", "doubt"),
        ("torch", "2.14.0", "doubt"),
        ("cuda", "13.1", "doubt"),
        ("driver", "590.1", "doubt"),
    ],
)
def test_a_library_s_release_makes_stale_or_casts_doubt(library: str, now: str, weight: str) -> None:
    name = {"cuda": "CUDA"}.get(library, library)
    assert found(versions=VERSIONS | {library: now}) == [(f"{name} {VERSIONS[library]} → {now}", weight)]


@pytest.mark.parametrize(
    ("strategy", "now", "told"),
    [
        ("default", "0.3.0", []),
        ("quantized:quanto:4", "0.3.0", []),
        ("quantized:hqq:4", "0.3.0", [("hqq 0.2.8 → 0.3.0", "stale")]),
        ("quantized:hqq:4+chunked:512", "0.2.9", [("hqq 0.2.8 → 0.2.9", "doubt")]),
        ("quantized:hqq:4", "", [("hqq 0.2.8 → not installed", "stale")]),
    ],
)
def test_a_quantizing_library_counts_where_the_recommended_cache_is_its(
    strategy: str, now: str, told: list[tuple[str, str]]
) -> None:
    assert found(strategy, versions=VERSIONS | {"hqq": now}) == told


def test_a_packing_library_counts_where_the_weights_are_packed_by_it() -> None:
    packed = replace(WAS, question=ASKED | {"weights": "bnb4"}, versions={"bitsandbytes": "0.49.0"})
    told = differences(packed, replace(packed, versions={"bitsandbytes": "0.50.0"}), strategy="default")
    assert [difference.sentence for difference in told] == ["bitsandbytes 0.49.0 → 0.50.0"]


def test_a_revision_a_config_and_a_device_make_stale() -> None:
    assert found(commit="def5678" + "0" * 33) == [("model revision abc1234 → def5678", "stale")]
    assert found(config_hash="d" * 64) == [("model config ccccccc → ddddddd", "stale")]
    assert found(device_name="NVIDIA A100") == [("device NVIDIA L4 → NVIDIA A100", "stale")]
    assert found(question=ASKED | {"device": "cuda:1"}) == [], "the same card under another number"
    assert found(question=ASKED | {"device": "cpu"}, device_name="") == [("device cuda:0 → cpu", "stale")]


def test_configs_that_different_transformers_read_are_not_compared() -> None:
    assert found(config_hash="d" * 64, config_by="5.24.0") == []


def test_a_device_s_memory_counts_where_it_decides() -> None:
    assert found(device_bytes=23 * GIB) == [("device memory 24.00 GiB → 23.00 GiB", "stale")]
    assert found(device_bytes=24 * GIB - 100 * MIB) == [("device memory 24.00 GiB → 23.90 GiB", "doubt")]
    assert found(device_bytes=24 * GIB - MIB) == [], "what no page can show"
    own = replace(WAS, question=ASKED | {"capacity_bytes": 20 * GIB})
    assert differences(own, replace(own, device_bytes=23 * GIB), strategy="") == ()
    assert differences(own, replace(own, device_bytes=12 * GIB), strategy="") != ()


def test_what_one_side_does_not_know_is_no_difference() -> None:
    unknown = Basis(question=ASKED, versions={})
    assert differences(WAS, unknown, strategy="quantized:hqq:4") == ()
    assert differences(unknown, WAS, strategy="quantized:hqq:4") == ()


def test_what_makes_stale_comes_first() -> None:
    now = VERSIONS | {"driver": "590.1", "transformers": "5.24.0"}
    told = differences(WAS, replace(WAS, versions=now), strategy="default")
    assert [difference.weight for difference in told] == [Weight.STALE, Weight.DOUBT]
    assert weightiest(told) is Weight.STALE and weightiest(told[1:]) is Weight.DOUBT and weightiest(()) is None
    assert [Difference.from_json(difference.as_json()) for difference in told] == list(told)


def test_every_field_of_a_question_is_compared() -> None:
    assert FIELDS.keys() | ELSEWHERE == Question.__dataclass_fields__.keys()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"prompt_tokens": 4096}, "longest prompt 1,024 tokens → 4,096 tokens"),
        ({"dtype": "float16"}, "precision bfloat16 → float16"),
        ({"weights": "bnb4"}, "weights as stored → 4 bits (bitsandbytes)"),
        ({"sequences": 8}, "sequences at once 1 → 8"),
        ({"capacity_bytes": GIB}, "capacity all of the device → 1 GiB"),
        ({"headroom_percent": 10.0}, "headroom 0 % → 10 %"),
        ({"min_decode_tokens_per_s": 5}, "minimum speed none → 5.0 tokens/s"),
        ({"max_kl": 0.2}, "bound on quality (mean KL) none → 0.20"),
        ({"prompts_sha256": "ab" * 32}, "prompts random tokens → the file abababa"),
        ({"strategies": strategies("static")}, "strategies to try none → static"),
    ],
)
def test_what_was_edited_is_named_in_words(changes: dict[str, Any], told: str) -> None:
    now = question(**{"device": "cuda:0", "capacity_bytes": None} | changes).as_json()
    assert [(one.sentence, one.weight) for one in question_differences(ASKED, now)] == [(told, Weight.STALE)]


def test_how_thoroughly_it_is_measured_casts_doubt_alone() -> None:
    now = ASKED | {"depth": "full", "time_cap_s": 600.0, "compare_anyway": True}
    assert {one.weight for one in question_differences(ASKED, now)} == {Weight.DOUBT}


def test_the_order_of_strategies_is_no_difference_nor_is_a_field_of_another_release() -> None:
    was = ASKED | {"strategies": ["static", "quantized:old"]}
    assert question_differences(was, was | {"strategies": ["quantized:old", "static"]}) == ()
    assert question_differences({name: value for name, value in was.items() if name != "weights"}, was) == ()


def test_versions_are_found_flat_and_nested() -> None:
    assert versions_in({"transformers": "5.24.0", "cpu": "a CPU", "driver": None}) == {"transformers": "5.24.0"}
    assert versions_in({"versions": {"torch": "2.13.0"}, "threads": 8}) == {"torch": "2.13.0"}
