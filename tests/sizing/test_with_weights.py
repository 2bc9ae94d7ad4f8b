"""Weights packed while they are loaded, from the same record as the plain ones."""

from dataclasses import replace

import pytest

from jobs.sizing.budgets import run_peak, weights_bytes
from jobs.sizing.coverage import together
from jobs.sizing.record import InspectionRecord, StoredWeights
from jobs.sizing.refusal import Refusal
from jobs.sizing.stored import AS_STORED, ON_THE_FLY, stays_packed, stored_json, stored_sentence, with_weights
from tests.sizing.records import GROWING, record, strategy

BNB4 = StoredWeights(
    method="bitsandbytes",
    bits=4,
    source="on_the_fly",
    file_bytes=None,
    device_bytes={"bfloat16": 300},
    dequantized=False,
    pass_elements=70,
)
BNB8 = replace(BNB4, bits=8, device_bytes={"bfloat16": 550}, pass_elements=0)
BOTH = replace(record(GROWING), on_the_fly={"bnb4": BNB4, "bnb8": BNB8})


def peak(of: InspectionRecord) -> int:
    return run_peak(
        of, prompt_tokens=64, answer_tokens=4, sequences=1, dtype="bfloat16", strategy=strategy("default")
    ).peak_bytes


def test_one_record_answers_for_plain_weights_and_for_both_ways_of_packing_them() -> None:
    assert [weights_bytes(with_weights(BOTH, name), "bfloat16") for name in (AS_STORED, *ON_THE_FLY)] == [
        1000,
        300,
        550,
    ]


def test_packing_in_4_bits_costs_the_largest_weight_unpacked_while_it_is_multiplied_with() -> None:
    assert peak(with_weights(BOTH, "bnb4")) == peak(BOTH) - 700 + 2 * 70
    assert peak(with_weights(BOTH, "bnb8")) == peak(BOTH) - 450


def test_random_weights_are_packed_too_once_they_are_drawn() -> None:
    drawn = replace(BOTH, random_weights=True)
    assert stays_packed(with_weights(drawn, "bnb4"), "cpu")
    assert peak(with_weights(drawn, "bnb4")) == peak(with_weights(BOTH, "bnb4"))
    packed_in_its_files = replace(drawn, stored=replace(BNB4, source="quantization_config"))
    assert not stays_packed(packed_in_its_files, "cpu")


def test_what_is_packed_already_or_cannot_be_is_refused() -> None:
    packed = replace(record(GROWING), stored=replace(BNB4, method="fp8", source="safetensors"))
    for of, said in ((packed, "are packed already, as fp8"), (record(GROWING), "cannot be packed so")):
        with pytest.raises(Refusal, match=said) as refused:
            with_weights(of, "bnb4")
        assert refused.value.code == "bad_weights"
        assert with_weights(of, AS_STORED) == of


def test_a_kept_record_comes_back_whole_and_gathers_precisions() -> None:
    assert InspectionRecord.from_json(BOTH.as_json()) == BOTH
    wide = replace(BOTH, on_the_fly={"bnb4": replace(BNB4, device_bytes={"float32": 310})})
    assert together(BOTH, wide).on_the_fly["bnb4"].device_bytes == {"bfloat16": 300, "float32": 310}


def test_a_reader_is_told_the_packing_and_that_a_gguf_file_is_not_llama_cpps_memory() -> None:
    told = stored_json(with_weights(BOTH, "bnb4"), "bfloat16")
    assert told is not None
    assert stored_sentence(told, "bfloat16").startswith("bitsandbytes, 4 bits, 1000 B unpacked")
    gguf = replace(
        record(GROWING), stored=replace(BNB4, method="gguf", source="gguf", file_bytes=200, dequantized=True)
    )
    told = stored_json(gguf, "bfloat16")
    assert told is not None
    assert "dequantized to bfloat16 when loaded: not your llama.cpp's memory" in stored_sentence(told, "bfloat16")
