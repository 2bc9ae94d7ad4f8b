"""A config may ask for more than a machine has: its reading is refused, and the process goes on."""

import resource
from typing import Any

import pytest

from jobs.measuring.inspect import Inspection
from jobs.measuring.reading_bound import bounded_reading
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal
from tests.measuring.tiny_configs import SIZES

PLENTY = 2**26


def test_what_needs_more_is_refused_and_the_limit_is_lifted() -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises(Refusal) as refused, bounded_reading("deep", most_bytes=PLENTY):
        bytearray(4 * PLENTY)
    assert refused.value.code == "too_large"
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    assert len(bytearray(2 * PLENTY)) == 2 * PLENTY


def test_a_refusal_that_memory_caused_says_so_and_another_stays() -> None:
    for cause, code in ((MemoryError(), "too_large"), (ValueError("odd"), "broken_config"), (None, "broken_config")):
        with pytest.raises(Refusal) as refused, bounded_reading("deep"):
            raise Refusal("broken_config", "It cannot be built.", "Check it.") from cause
        assert refused.value.code == code


def test_a_config_that_asks_for_countless_objects_is_refused_and_the_next_one_is_read() -> None:
    def parameters(**more: Any) -> int:
        fields = {**SIZES, "model_type": "llama", **more}
        spec = ModelSpec(kind=ModelKind.ARCHITECTURE, name="many", config=fields, random_weights=True)
        inspection = Inspection(spec, attention="sdpa", tell=lambda text: None)
        return inspection.record(dtypes=["bfloat16"], sequences=[1], tokens=[16], strategies=["default"]).parameters

    with pytest.raises(Refusal) as refused, bounded_reading("many", most_bytes=PLENTY):
        parameters(num_labels=10**9)
    assert refused.value.code == "too_large"
    with bounded_reading("few"):
        assert parameters() > 0
