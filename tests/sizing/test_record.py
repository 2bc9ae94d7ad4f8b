"""A record survives the way through JSON."""

import json
from dataclasses import replace

from jobs.sizing.layer_counts import layer_counts, window_tokens
from jobs.sizing.record import InspectionRecord
from tests.sizing.records import FIXED, GROWING, SHARED, WINDOWED, record


def test_a_record_comes_back_from_json_as_it_went() -> None:
    pooled = replace(FIXED, pool=((512, 128),), buffer=((64, 128),), prompt_elements=7)
    before = record(GROWING, WINDOWED, pooled, SHARED, refusals={"quantized": "no"})
    assert InspectionRecord.from_json(json.loads(json.dumps(before.as_json()))) == before


def test_layers_are_counted_by_kind_and_the_widest_window_is_named() -> None:
    of = record(GROWING, WINDOWED, FIXED, SHARED)
    assert layer_counts(of) == {"growing": 4, "windowed": 3, "fixed": 2, "shared": 5}
    assert (window_tokens(of), window_tokens(record(GROWING))) == (16, None)
