"""What a record can answer, and two records as one."""

from dataclasses import replace

from jobs.sizing.coverage import covers, missing, together
from jobs.sizing.record import InspectionRecord, Phase, StoredWeights
from tests.sizing.records import FIXED, GROWING, STRATEGIES, record, strategy

ALL = tuple(strategy(name) for name in STRATEGIES)
WHOLE = record(GROWING)


def without(of: InspectionRecord, name: str, phase: Phase | None = None) -> InspectionRecord:
    kept = [rung for rung in of.rungs if rung.strategy != name or (phase and rung.phase is not phase)]
    return replace(of, rungs=tuple(kept))


def test_a_whole_record_covers_every_strategy() -> None:
    assert covers(WHOLE, dtype="bfloat16", strategies=ALL)


def test_a_precision_as_wide_is_covered_and_another_is_not() -> None:
    assert covers(WHOLE, dtype="float16", strategies=ALL)
    assert missing(WHOLE, dtype="float32", strategies=ALL) == ALL


def test_attention_and_padding_need_passes_of_their_own() -> None:
    assert not covers(WHOLE, dtype="bfloat16", strategies=ALL, attention="eager")
    assert not covers(WHOLE, dtype="bfloat16", strategies=ALL, padded=True)


def test_a_strategy_is_missing_where_one_of_its_phases_is() -> None:
    static, moved, chunked = (strategy(name) for name in ("static", "offloaded_static", "static+chunked:8"))
    asked = (static, moved, chunked, strategy("default"))
    no_prefill, no_decode = (without(WHOLE, "static", phase) for phase in Phase)
    assert missing(no_prefill, dtype="bfloat16", strategies=asked) == (static, moved)
    assert missing(no_decode, dtype="bfloat16", strategies=asked) == (static, moved, chunked)


def test_offloading_is_served_by_its_plain_kind() -> None:
    of = without(WHOLE, "default")
    assert strategy("offloaded") in missing(of, dtype="bfloat16", strategies=ALL)
    assert strategy("offloaded_static") not in missing(of, dtype="bfloat16", strategies=ALL)


def test_a_strategy_that_the_model_cannot_take_is_not_missing() -> None:
    of = replace(without(WHOLE, "quantized:fp8"), refusals={"quantized": "no"})
    assert covers(of, dtype="bfloat16", strategies=(strategy("quantized:fp8"),))


def test_two_records_of_one_model_are_one_and_the_fresh_figures_stand() -> None:
    changed = replace(WHOLE.rungs[0], working_bytes=7)
    wide = replace(changed, dtype="float32")
    stored = StoredWeights(
        method="fp8", bits=8, source="gguf", file_bytes=1, device_bytes={"bfloat16": 1}, dequantized=False
    )
    kept = replace(WHOLE, stored=stored)
    fresh = replace(
        WHOLE, rungs=(changed, wide), weights_bytes={"float32": 2}, stored=replace(stored, device_bytes={"float32": 2})
    )
    both = together(kept, fresh)
    assert set(both.rungs) == {*WHOLE.rungs[1:], changed, wide}
    assert both.weights_bytes == {"bfloat16": 1000, "float32": 2}
    assert both.stored and both.stored.device_bytes == {"bfloat16": 1, "float32": 2}


def test_a_record_of_another_config_or_other_libraries_replaces_the_kept_one() -> None:
    for other in (replace(record(FIXED), config_hash="1" * 64), replace(WHOLE, versions={"transformers": "1"})):
        assert together(WHOLE, other) is other
