from dataclasses import replace
from math import inf

import pytest

from jobs.procedure.measurement import Measurement
from jobs.procedure.what_if import NOISE_BYTES, Conditions, Finished, Fit, Predicted
from jobs.sizing.budgets import RunPeak
from jobs.sizing.record import InspectionRecord
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import GIB, MIB
from tests.procedure.worlds import STRATEGIES, Truth, World, answered, question, record, strategies

HQQ = Strategy.parse("quantized:hqq:4")


def a_tenth_more(strategy: Strategy, prompt: int, estimated: RunPeak) -> int:
    """The allocator takes 3 MiB, and everything beside the weights a tenth more than estimated."""
    return estimated.weights_bytes + 3 * MIB + round(1.1 * (estimated.peak_bytes - estimated.weights_bytes))


def of_several_sequences() -> InspectionRecord:
    whole = record()
    more = [replace(rung, sequences=2, working_bytes=2 * rung.working_bytes) for rung in whole.rungs]
    return replace(whole, rungs=(*whole.rungs, *more))


def finished(truth: Truth, **changes: object) -> tuple[Finished, World]:
    asked = question(prompt_tokens=2_048, capacity_bytes=320 * MIB, strategies=strategies("quantized:hqq:4"), **changes)
    world = World(asked=asked, record=of_several_sequences(), truth=truth)
    run = answered(world)
    rows = [Measurement.from_json(row) for name in STRATEGIES for row in run.measured(name)]
    left = Finished(
        question=asked,
        record=world.record,
        weights_bytes=run.stages["budgets"]["weights"]["measured_bytes"],
        capacity_bytes=320 * MIB,
        measurements=rows,
        strategies=[HQQ],
    )
    return left, world


def conditions(**changes: int | float) -> Conditions:
    asked = {"prompt_tokens": 1_024, "sequences": 1, "headroom_percent": 0, "capacity_bytes": 320 * MIB}
    return Conditions(**asked | changes)  # type: ignore[arg-type]


def row(rows: list[Predicted], strategy: Strategy) -> Predicted:
    return next(row for row in rows if row.strategy == strategy)


@pytest.mark.parametrize("prompt", [128, 640, 1_024, 3_000, 8_192])
def test_the_truth_at_another_context_lies_within_the_band(prompt: int) -> None:
    left, world = finished(a_tenth_more)
    for found in left.what_if(conditions(prompt_tokens=prompt)):
        assert abs(world.peak(found.strategy, prompt) - found.peak_bytes) <= found.band_bytes, found


def test_the_truth_with_more_sequences_lies_within_the_band() -> None:
    left, world = finished(a_tenth_more)
    world.asked = replace(world.asked, sequences=2)
    found = row(left.what_if(conditions(sequences=2)), BASELINE)
    assert abs(world.peak(BASELINE, 1_024) - found.peak_bytes) <= found.band_bytes


def test_the_band_widens_with_each_doubling_beyond_what_was_measured() -> None:
    left, _ = finished(a_tenth_more)
    learned = left.learned(BASELINE)
    parts = [learned.band_bytes(prompt, 1) / learned.peak_bytes(prompt, 1) for prompt in (1_000, 8_192, 32_768)]
    assert parts == sorted(parts)
    assert learned.band_bytes(1_000, 2) > learned.band_bytes(1_000, 1)


def test_a_measured_context_is_as_sure_as_a_reading() -> None:
    left, world = finished(a_tenth_more)
    measured = next(iter(left.learned(BASELINE).curve.seen))
    found = row(left.what_if(conditions(prompt_tokens=measured)), BASELINE)
    assert found.band_bytes == NOISE_BYTES
    assert abs(found.peak_bytes - world.peak(BASELINE, measured)) <= 1


def test_the_longest_context_is_a_range_between_sure_and_likely() -> None:
    left, world = finished(a_tenth_more)
    found = row(left.what_if(conditions(capacity_bytes=400 * MIB)), BASELINE)
    assert found.sure_context is not None
    assert found.likely_context is not None
    assert found.sure_context <= found.likely_context
    assert world.peak(BASELINE, found.sure_context - 32) <= 400 * MIB
    assert world.peak(BASELINE, found.likely_context - 32) == pytest.approx(400 * MIB, rel=0.02)


def test_a_measured_context_that_should_fit_is_no_longer_than_the_longest() -> None:
    left, _ = finished(a_tenth_more)
    learned = left.learned(HQQ)
    measured = max(learned.curve.seen)
    budget = learned.peak_bytes(measured, 1) + NOISE_BYTES
    found = row(left.what_if(conditions(prompt_tokens=measured, capacity_bytes=budget)), HQQ)
    assert found.fit == Fit.YES
    assert found.sure_context is not None
    assert found.likely_context is not None
    assert measured + 32 <= found.sure_context <= found.likely_context


def test_more_capacity_and_less_headroom_never_shorten_the_context() -> None:
    left, _ = finished(a_tenth_more)
    reached = [
        row(left.what_if(conditions(capacity_bytes=size * MIB, headroom_percent=part)), BASELINE).sure_context or 0
        for size, part in ((300, 5), (300, 0), (400, 0), (2_048, 0))
    ]
    assert reached == sorted(reached)
    assert len(set(reached)) == len(reached)


def test_nothing_fits_in_less_than_the_weights() -> None:
    left, _ = finished(a_tenth_more)
    found = row(left.what_if(conditions(capacity_bytes=200 * MIB)), BASELINE)
    assert (found.fit, found.sure_context, found.likely_context) == (Fit.NO, None, None)


def test_what_lies_within_the_band_is_called_unsure() -> None:
    left, _ = finished(a_tenth_more)
    edge = left.learned(BASELINE).peak_bytes(1_020, 1)
    fits = {
        mib: row(left.what_if(conditions(prompt_tokens=1_020, capacity_bytes=edge + mib * MIB)), BASELINE).fit
        for mib in (-40, 0, 40)
    }
    assert fits == {-40: Fit.NO, 0: Fit.UNSURE, 40: Fit.YES}


def test_points_that_do_not_lie_on_the_curve_widen_the_band() -> None:
    def bent(strategy: Strategy, prompt: int, estimated: RunPeak) -> int:
        return estimated.peak_bytes + (20 * MIB if 400 < prompt < 900 else 0)

    smooth, _ = finished(a_tenth_more)
    rough, _ = finished(bent)
    assert rough.learned(BASELINE).band_bytes(1_900, 1) > 2 * smooth.learned(BASELINE).band_bytes(1_900, 1)


def test_the_models_own_maximum_ends_it() -> None:
    left, _ = finished(a_tenth_more)
    short = replace(left, record=replace(left.record, native_context=4_096))
    found = row(short.what_if(conditions(capacity_bytes=64 * GIB)), BASELINE)
    assert found.likely_context is not None
    assert found.likely_context <= 4_096
    assert found.ends == "native_context"


@pytest.mark.parametrize(("prompt", "fit"), [(4_064, Fit.YES), (4_068, Fit.BEYOND), (4_065, Fit.BEYOND)])
def test_what_is_longer_than_the_models_own_maximum_never_should_fit(prompt: int, fit: Fit) -> None:
    left, _ = finished(a_tenth_more)
    short = replace(left, record=replace(left.record, native_context=4_096))
    assert {found.fit for found in short.what_if(conditions(prompt_tokens=prompt, capacity_bytes=64 * GIB))} == {fit}


def test_offloading_tells_the_cpu_ram_it_would_need() -> None:
    left, _ = finished(a_tenth_more)
    offloaded = Strategy.parse("offloaded")
    rungs = [replace(rung, strategy="offloaded") for rung in left.record.rungs if rung.strategy == "default"]
    known = replace(left.record, rungs=(*left.record.rungs, *rungs))
    found = row(replace(left, record=known, strategies=[offloaded]).what_if(conditions()), offloaded)
    assert found.host_bytes == (1_024 + 32 - 1) * 23_040


def test_a_bound_of_no_bytes_is_no_reason_to_divide_by_zero() -> None:
    left, _ = finished(a_tenth_more)
    assert all(found.band_bytes < inf for found in left.what_if(conditions(prompt_tokens=1, headroom_percent=90)))
