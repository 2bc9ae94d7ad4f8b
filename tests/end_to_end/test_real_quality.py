"""What quantized caches cost a real model: in the order of their bits, and 2 bits beyond the usual bound."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from jobs.procedure.defaults import MAX_KL
from jobs.procedure.measurement import Ask, Measurement
from jobs.procedure.quality import Quality, QualityAsk, QualityOutcome
from jobs.running.process import MeasuringProcess
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import GIB, MIB
from tests import real_model

PATIENCE_S = 300.0
CONTEXT_TOKENS = 512
# float32: in bfloat16 rounding alone makes a mean KL of 0.002, more than 8 bits cost.
DTYPE = "float32"
BEST_FIRST = (
    ("quantized:hqq:8",),
    ("quantized:fp8",),
    ("quantized:hqq:4", "quantized:quanto:4"),
    ("quantized:quanto:2",),
)


@dataclass
class Scoring:
    """Each strategy's quality, and one small measurement before and after all of them."""

    qualities: dict[str, Quality] = field(default_factory=dict)
    measured: list[Measurement] = field(default_factory=list)


def _measure(process: MeasuringProcess) -> Measurement:
    ask = Ask(
        stage="baseline", strategy=BASELINE, prompt_tokens=256, answer_tokens=4, sequences=1, capacity_bytes=2 * GIB
    )
    return Measurement.from_json(process.request("measure", patience_s=PATIENCE_S, enforce=True, **ask.as_json()))


@pytest.fixture(scope="module")
def scoring() -> Iterator[Scoring]:
    if not real_model.is_ready():
        if os.environ.get("CI") == "true":
            pytest.fail("the real model is not there: python -m tests.real_model")
        pytest.skip("the real model is not there: python -m tests.real_model")
    spec = ModelSpec(kind=ModelKind.FOLDER, name="SmolLM2-135M-Instruct", path=str(real_model.FOLDER))
    done = Scoring()
    with MeasuringProcess(environment=os.environ | {"OMP_NUM_THREADS": "1"}) as process:
        how = {"dtype": DTYPE, "device": "cpu", "attention": "sdpa"}
        process.request("load", patience_s=PATIENCE_S, model=spec.as_json(), **how)
        done.measured.append(_measure(process))
        for name in (name for alike in BEST_FIRST for name in alike):
            ask = QualityAsk(strategy=Strategy.parse(name), context_tokens=CONTEXT_TOKENS)
            found = process.request("quality", patience_s=PATIENCE_S, **ask.as_json())
            done.qualities[name] = Quality.from_json(found)
        done.measured.append(_measure(process))
    yield done


def test_fewer_bits_cost_more(scoring: Scoring) -> None:
    assert all(quality.outcome is QualityOutcome.OK for quality in scoring.qualities.values()), scoring.qualities
    kls = [[scoring.qualities[name].mean_kl or 0.0 for name in alike] for alike in BEST_FIRST]
    assert all(max(less) < min(more) for less, more in pairwise(kls)), kls
    assert kls[0][0] < 0.001
    assert kls[-1][0] > 1


def test_2_bits_are_beyond_the_usual_bound_and_nothing_else_is(scoring: Scoring) -> None:
    above = {name for name, quality in scoring.qualities.items() if quality.is_above(MAX_KL)}
    assert above == {"quantized:quanto:2"}
    assert not any(quality.straddles(MAX_KL) for quality in scoring.qualities.values())


def test_a_row_says_on_how_many_tokens_of_what_text_and_how_sure_it_is(scoring: Scoring) -> None:
    qualities = scoring.qualities.values()
    assert {(quality.scored_tokens, quality.context) for quality in qualities} == {(256, CONTEXT_TOKENS)}
    assert len({quality.text_sha256 for quality in qualities}) == 1
    for quality in qualities:
        assert quality.kl_low is not None
        assert quality.kl_high is not None
        assert quality.kl_low <= (quality.mean_kl or 0) <= quality.kl_high
    best, worst = scoring.qualities["quantized:hqq:8"], scoring.qualities["quantized:quanto:2"]
    assert (best.same_top or 0) > 0.95
    assert (worst.same_top or 1) < 0.6
    assert (worst.loss_difference or 0) > 1


def test_scoring_leaves_nothing_for_the_next_measurement(scoring: Scoring) -> None:
    before, after = scoring.measured
    assert (before.outcome, after.outcome) == ("ok", "ok")
    assert after.fresh_process is None
    assert abs((after.peak_bytes or 0) - (before.peak_bytes or 0)) < 2 * MIB
    assert (after.leaked_bytes or 0) < 4 * MIB
