import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.procedure.curve import Correction, Curve
from jobs.sizing.units import MIB

WEIGHTS = 100 * MIB


def estimate(prompt: int) -> tuple[int, int]:
    return WEIGHTS + 1000 * prompt, WEIGHTS


def curve(seen: dict[int, int], *, refused: tuple[int, ...] = (), borrowed: Correction | None = None) -> Curve:
    return Curve(
        estimate=estimate,
        weights_bytes=WEIGHTS + MIB,
        seen=seen,
        refused=refused,
        capacity_bytes=110 * MIB,
        borrowed=borrowed or Correction(),
    )


def test_without_measurements_it_is_the_estimate_over_the_weights_as_loaded() -> None:
    assert curve({}).peak_bytes(1_000) == WEIGHTS + MIB + 1_000_000


@settings(deadline=None)
@given(st.dictionaries(st.integers(1, 10_000).map(lambda n: 4 * n), st.integers(0, 50_000_000), min_size=1, max_size=5))
def test_it_goes_through_every_measured_point(rises: dict[int, int]) -> None:
    seen = {prompt: WEIGHTS + rise for prompt, rise in rises.items()}
    made = curve(seen)
    assert all(abs(made.peak_bytes(prompt) - peak) <= 1 for prompt, peak in seen.items())


def test_points_far_apart_tell_offset_and_ratio() -> None:
    seen = {prompt: WEIGHTS + MIB + 3 * MIB + 1_200 * prompt for prompt in (1_000, 400_000)}
    assert curve(seen).peak_bytes(1_000_000) == pytest.approx(WEIGHTS + 4 * MIB + 1_200_000_000, rel=1e-3)


def test_points_close_together_tell_an_offset_alone() -> None:
    """Half a MiB of noise between neighbours is no slope."""
    seen = {1_000: WEIGHTS + MIB + 1_000_000, 1_064: WEIGHTS + MIB + 1_564_000}
    assert curve(seen).correction.ratio == pytest.approx(1.0, abs=0.01)


def test_one_point_tells_an_offset() -> None:
    seen = {1_000: WEIGHTS + MIB + 1_500_000}
    assert curve(seen).peak_bytes(2_000) == WEIGHTS + MIB + 2_500_000


def test_a_ratio_beyond_belief_is_bounded() -> None:
    assert Correction.fit([(0.0, 0.0), (1e9, 1e11)], Correction()).ratio == 5.0


def test_a_refused_point_needs_more_than_the_capacity() -> None:
    assert curve({1_000: WEIGHTS + MIB + 1_000_000}, refused=(4_000,)).peak_bytes(4_000) == 110 * MIB + 1


def test_a_strategy_without_points_borrows_the_baselines_correction() -> None:
    assert curve({}, borrowed=Correction(ratio=1.5)).peak_bytes(1_000) == WEIGHTS + MIB + 1_500_000
