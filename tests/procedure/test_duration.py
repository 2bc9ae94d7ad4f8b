from dataclasses import replace

import pytest

from jobs.procedure.duration import CPU, Duration, point_s, run_duration
from jobs.procedure.question import Depth
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import GIB
from tests.procedure.worlds import question, record, strategies

SMALL = 134_515_008
FOUR = strategies("static", "quantized:hqq:8", "quantized:hqq:4", "quantized:quanto:4")


@pytest.mark.parametrize(
    ("low_s", "high_s", "text"),
    [
        (170, 290, "about 3 to 5 min"),
        (14, 31.5, "about 14 to 32 s"),
        (0.2, 0.6, "about 1 s"),
        (3_000, 6_900, "about 50 to 115 min"),
        (5_000, 10_000, "about 1 to 3 h"),
        (300, 300, "about 5 min"),
        (216_000, 507_600, "about 2 to 6 days"),
        (1e8, 3e8, "about 1,157 to 3,473 days"),
    ],
)
def test_a_range_is_said_in_a_unit_that_fits(low_s: float, high_s: float, text: str) -> None:
    assert Duration(low_s=low_s, high_s=high_s).text == text


@pytest.mark.parametrize(
    ("strategy", "prompt", "seconds"),
    [("default", 224, 1.5), ("default", 1_024, 3.1), ("quantized:hqq:4", 1_024, 4.4), ("quantized:quanto:4", 224, 1.8)],
)
def test_a_pass_on_two_cores_takes_about_what_was_measured(strategy: str, prompt: int, seconds: float) -> None:
    """One measured pass: the point without its warm-up."""
    asked = question()
    both = point_s(CPU, asked, Strategy.parse(strategy), prompt, parameters=SMALL)
    once = both - point_s(CPU, replace(asked, answer_tokens=0), Strategy.parse(strategy), prompt, parameters=SMALL) / 2
    assert once == pytest.approx(seconds, rel=0.35)


def test_memory_that_is_no_limit_makes_a_short_run() -> None:
    asked = question(strategies=FOUR)
    limited = run_duration(asked, record(), parameters=SMALL, device_kind="cpu")
    roomy = run_duration(replace(asked, capacity_bytes=GIB), record(), parameters=SMALL, device_kind="cpu")
    assert roomy.high_s < limited.low_s


def test_full_takes_longer_than_quick_and_more_strategies_longer_than_fewer() -> None:
    asked = question(strategies=FOUR)
    quick = run_duration(asked, record(), parameters=SMALL, device_kind="cpu")
    full = run_duration(replace(asked, depth=Depth.FULL), record(), parameters=SMALL, device_kind="cpu")
    fewer = run_duration(replace(asked, strategies=FOUR[:1]), record(), parameters=SMALL, device_kind="cpu")
    assert fewer.high_s < quick.high_s < full.high_s


def test_a_time_cap_bounds_it() -> None:
    asked = question(strategies=FOUR, time_cap_s=60.0)
    assert run_duration(asked, record(), parameters=SMALL, device_kind="cpu").high_s == 60


def test_a_model_that_was_not_inspected_yet_has_a_length_too() -> None:
    known = run_duration(question(strategies=FOUR), record(), parameters=SMALL, device_kind="cpu")
    unknown = run_duration(question(strategies=FOUR), None, parameters=SMALL, device_kind="cpu")
    assert known.low_s / 2 < unknown.low_s < known.low_s * 2


def test_a_gpu_is_faster_than_a_cpu() -> None:
    asked = question(strategies=FOUR)
    cpu = run_duration(asked, None, parameters=8_000_000_000, device_kind="cpu")
    assert run_duration(asked, None, parameters=8_000_000_000, device_kind="cuda").high_s < cpu.low_s


def test_a_workload_far_beyond_memory_is_not_paid_for() -> None:
    """The baseline goes no further than twice what the capacity leaves."""
    near = run_duration(question(strategies=FOUR), record(), parameters=SMALL, device_kind="cpu")
    far = run_duration(question(strategies=FOUR, prompt_tokens=500_000), record(), parameters=SMALL, device_kind="cpu")
    assert far.high_s < 4 * near.high_s
