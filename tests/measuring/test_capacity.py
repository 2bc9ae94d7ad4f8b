"""The capacity is real: what does not fit beside the weights is refused while the model runs."""

from pathlib import Path

import pytest

from jobs.procedure.measurement import Outcome
from jobs.sizing.units import GIB, MIB
from tests.measuring.conftest import LLAMA, TOKEN_ELEMENTS, Tiny
from tests.measuring.mapped import mapped_model

PROMPT_TOKENS = 2048
KV_BYTES = {dtype: PROMPT_TOKENS * TOKEN_ELEMENTS * size for dtype, size in (("float32", 4), ("bfloat16", 2))}
WIDE_BYTES = 64 * MIB
# The limit lets 2 MiB more pass, so what must be refused is further beyond.
CLEARLY_BYTES = 4 * MIB


def test_an_answer_that_outgrows_the_capacity_is_refused_while_it_grows(tiny: Tiny) -> None:
    """Where the prompt and a step fit, only the limit itself can tell."""
    weights_bytes = tiny.load(LLAMA).weights_bytes
    answer_tokens = 8 * MIB // (TOKEN_ELEMENTS * 4)
    found = tiny.measure(prompt_tokens=64, answer_tokens=answer_tokens, capacity_bytes=weights_bytes + 3 * MIB)
    assert found.outcome is Outcome.OUT_OF_MEMORY
    assert found.error is not None
    assert "more were refused" in found.error["message"]


def test_what_the_warm_up_shows_to_be_too_large_costs_no_process(tiny: Tiny) -> None:
    """In bfloat16 a refusal would: oneDNN remembers it."""
    weights_bytes = tiny.load(LLAMA, "bfloat16").weights_bytes
    pid = tiny.process.pid
    capacity_bytes = weights_bytes + KV_BYTES["bfloat16"] - CLEARLY_BYTES
    found = tiny.measure(prompt_tokens=PROMPT_TOKENS + 4, capacity_bytes=capacity_bytes)
    assert found.outcome is Outcome.OUT_OF_MEMORY
    assert tiny.measure(prompt_tokens=PROMPT_TOKENS).outcome is Outcome.OK
    assert tiny.process.pid == pid
    assert found.repeats == 0
    assert found.peak_bytes is not None
    whole = tiny.measure(prompt_tokens=PROMPT_TOKENS + 4).peak_bytes
    assert whole is not None
    assert abs(found.peak_bytes - whole) < MIB
    assert (found.generate_s or 0) > (found.warm_s or 0) > 0


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_running_out_of_memory_is_a_measurement_and_the_run_goes_on(tiny: Tiny, dtype: str) -> None:
    weights_bytes = tiny.load(LLAMA, dtype).weights_bytes
    capacity_bytes = weights_bytes + KV_BYTES[dtype] - CLEARLY_BYTES
    found = tiny.measure(prompt_tokens=PROMPT_TOKENS, capacity_bytes=capacity_bytes)
    assert found.outcome is Outcome.OUT_OF_MEMORY
    assert found.error is not None
    assert found.error["code"] == "out_of_memory"
    assert "capacity" in found.error["message"]
    assert found.peak_bytes is None or found.peak_bytes > capacity_bytes
    tiny.load(LLAMA, dtype)  # a fresh process where the refusal poisoned this one
    assert tiny.measure(prompt_tokens=PROMPT_TOKENS).outcome is Outcome.OK


def test_a_float32_process_stays_usable_after_a_refusal(tiny: Tiny) -> None:
    weights_bytes = tiny.load(LLAMA).weights_bytes
    pid = tiny.process.pid
    tiny.measure(prompt_tokens=PROMPT_TOKENS, capacity_bytes=weights_bytes + CLEARLY_BYTES)
    assert tiny.measure(prompt_tokens=PROMPT_TOKENS).outcome is Outcome.OK
    assert tiny.process.pid == pid


def test_what_fits_is_not_refused(tiny: Tiny) -> None:
    tiny.load(LLAMA)
    peak_bytes = tiny.measure(prompt_tokens=PROMPT_TOKENS).peak_bytes
    assert peak_bytes is not None
    again = tiny.measure(prompt_tokens=PROMPT_TOKENS, capacity_bytes=peak_bytes + MIB)
    assert again.outcome is Outcome.OK, again.error


def test_a_peak_above_the_capacity_is_out_of_memory_though_nothing_was_refused(tiny: Tiny) -> None:
    weights_bytes = tiny.load(LLAMA).weights_bytes
    capacity_bytes = weights_bytes + CLEARLY_BYTES
    found = tiny.measure(prompt_tokens=PROMPT_TOKENS, capacity_bytes=capacity_bytes, enforce=False)
    assert found.outcome is Outcome.OUT_OF_MEMORY
    assert found.peak_bytes is not None
    assert found.peak_bytes > capacity_bytes
    assert found.kv_bytes is not None


def test_weights_that_are_mapped_as_they_are_first_used_are_counted_once(tiny: Tiny, tmp_path: Path) -> None:
    """The first pass after loading makes them resident: of the point's own bytes that says nothing."""
    spec = mapped_model(tmp_path)
    tiny.forget()
    fields = {"model": spec.as_json(), "dtype": "float32", "device": "cpu", "attention": "sdpa"}
    weights_bytes = tiny.process.request("load", patience_s=300, **fields)["weights_bytes"]
    found = tiny.measure(prompt_tokens=64, capacity_bytes=weights_bytes + WIDE_BYTES // 2)
    assert found.outcome is Outcome.OK, found.error
    assert (found.peak_bytes or 0) < weights_bytes + WIDE_BYTES // 2


def test_weights_beyond_the_capacity_are_said_at_once(tiny: Tiny) -> None:
    weights_bytes = tiny.load(LLAMA).weights_bytes
    found = tiny.measure(capacity_bytes=weights_bytes)
    assert found.outcome is Outcome.OUT_OF_MEMORY
    assert found.error is not None
    assert "weights alone" in found.error["message"]


def test_the_peak_is_that_of_the_prompt_not_of_an_earlier_longer_one(tiny: Tiny) -> None:
    tiny.load(LLAMA)
    before = tiny.measure(prompt_tokens=512, capacity_bytes=GIB)
    tiny.measure(prompt_tokens=PROMPT_TOKENS)
    after = tiny.measure(prompt_tokens=512, capacity_bytes=GIB)
    assert before.peak_bytes is not None
    assert after.peak_bytes is not None
    assert abs(after.peak_bytes - before.peak_bytes) < MIB


def test_a_static_cache_is_gone_before_the_next_point(tiny: Tiny) -> None:
    tiny.load(LLAMA)
    before = tiny.measure(prompt_tokens=512)
    tiny.measure("static", prompt_tokens=PROMPT_TOKENS)
    after = tiny.measure(prompt_tokens=512)
    assert before.peak_bytes is not None
    assert after.peak_bytes is not None
    assert abs(after.peak_bytes - before.peak_bytes) < MIB
