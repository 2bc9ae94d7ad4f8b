import pytest

from jobs.procedure.measurement import Measurement, Outcome
from jobs.procedure.verdict import Bounds, Limiter, judge
from jobs.sizing.units import GIB, MIB
from tests.procedure.worlds import question

BOUNDS = Bounds(
    capacity_bytes=1000, headroom_bytes=100, min_decode_tokens_per_s=10, max_ttft_s=2, host_capacity_bytes=500
)


def point(outcome: Outcome = Outcome.OK, **figures: object) -> Measurement:
    usual = {"peak_bytes": 900, "ttft_s": 2.0, "decode_tokens_per_s": 10.0, "host_bytes": 500}
    error = None if outcome is Outcome.OK else {"code": "strategy_failed", "message": "the reason"}
    return Measurement(
        strategy="default",
        context=288,
        prompt=256,
        answer=32,
        sequences=1,
        outcome=outcome,
        **({"error": error} | usual | figures),  # type: ignore[arg-type]
    )


def test_a_point_at_every_bound_is_acceptable() -> None:
    verdict = judge(point(), BOUNDS)
    assert verdict is not None
    assert verdict.acceptable


@pytest.mark.parametrize(
    ("figures", "limiter"),
    [
        ({"peak_bytes": 901}, Limiter.MEMORY),
        ({"host_bytes": 501}, Limiter.HOST_MEMORY),
        (
            {"outcome": Outcome.OUT_OF_MEMORY, "error": {"code": "out_of_host_memory", "message": "CPU RAM"}},
            Limiter.HOST_MEMORY,
        ),
        ({"ttft_s": 2.01}, Limiter.TTFT),
        ({"decode_tokens_per_s": 9.9}, Limiter.SPEED),
    ],
)
def test_what_stands_in_the_way_is_named(figures: dict[str, float], limiter: Limiter) -> None:
    verdict = judge(point(**figures), BOUNDS)
    assert verdict is not None
    assert (verdict.acceptable, verdict.limiter) == (False, limiter)


def test_a_peak_within_the_capacity_but_not_beside_the_headroom_does_not_fit() -> None:
    verdict = judge(point(peak_bytes=950), BOUNDS)
    assert verdict is not None
    assert "headroom" in verdict.reason


def test_out_of_memory_is_limited_by_memory() -> None:
    verdict = judge(point(Outcome.OUT_OF_MEMORY, peak_bytes=None), BOUNDS)
    assert verdict is not None
    assert verdict.limiter is Limiter.MEMORY


def test_a_strategys_own_failure_is_no_limit_of_memory() -> None:
    verdict = judge(point(Outcome.FAILED, peak_bytes=None), BOUNDS)
    assert verdict is not None
    assert (verdict.acceptable, verdict.limiter) == (False, None)
    assert "the reason" in verdict.reason


def test_a_skipped_point_says_nothing() -> None:
    assert judge(point(Outcome.SKIPPED), BOUNDS) is None


def test_an_answer_of_one_token_has_no_speed_to_be_too_low() -> None:
    verdict = judge(point(decode_tokens_per_s=None), BOUNDS)
    assert verdict is not None
    assert verdict.acceptable


def test_without_a_capacity_the_whole_device_counts_and_the_headroom_is_a_part_of_it() -> None:
    bounds = Bounds.of(question(capacity_bytes=None, headroom_percent=10), 10 * GIB)
    assert (bounds.capacity_bytes, bounds.headroom_bytes, bounds.budget_bytes) == (10 * GIB, GIB, 9 * GIB)
    assert Bounds.of(question(capacity_bytes=280 * MIB), 10 * GIB).budget_bytes == 280 * MIB
