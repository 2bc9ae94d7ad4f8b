"""Working memory between the rungs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.sizing.record import InspectionRecord, PeakRung, Phase
from jobs.sizing.refusal import Refusal
from jobs.sizing.working import rung_name, working_bytes
from tests.sizing.records import GROWING, record, strategy

LADDER = (1, 16, 64, 256, 1024, 4096, 16384)


def with_rungs(sizes: dict[int, int], sequences: int = 1) -> InspectionRecord:
    rungs = tuple(
        PeakRung(
            phase=Phase.PREFILL,
            strategy="default",
            dtype="bfloat16",
            attention="sdpa",
            sequences=sequences,
            tokens=tokens,
            working_bytes=size,
        )
        for tokens, size in sizes.items()
    )
    return replace(record(GROWING), rungs=rungs)


def working(of: InspectionRecord, tokens: int, sequences: int = 1, dtype: str = "bfloat16") -> int:
    return working_bytes(
        of, phase=Phase.PREFILL, tokens=tokens, sequences=sequences, dtype=dtype, strategy=strategy("default")
    )


@given(
    constant=st.integers(0, 10**6),
    linear=st.integers(0, 10**5),
    square=st.integers(0, 100),
    tokens=st.integers(1, 200_000),
)
def test_what_grows_with_the_tokens_and_their_square_is_exact_between_and_beyond_the_rungs(
    constant: int, linear: int, square: int, tokens: int
) -> None:
    def size(n: int) -> int:
        return constant + linear * n + square * n * n

    found = working(with_rungs({rung: size(rung) for rung in LADDER}), tokens)
    assert found == pytest.approx(size(tokens), rel=1e-6, abs=1)


@given(
    steps=st.lists(st.integers(0, 10**9), min_size=7, max_size=7), at=st.integers(1, 30_000), more=st.integers(0, 9000)
)
def test_working_memory_never_falls_between_rungs_that_do_not(steps: list[int], at: int, more: int) -> None:
    sizes = {rung: sum(steps[: index + 1]) for index, rung in enumerate(LADDER)}
    of = with_rungs(sizes)
    assert working(of, at) <= working(of, at + more) + 1


@given(
    constant=st.integers(0, 10**7),
    gentle=st.integers(0, 10**3),
    steep=st.integers(0, 10**4),
    square=st.integers(0, 20),
    tokens=st.integers(64, 4096),
)
def test_where_one_piece_overtakes_another_the_working_memory_is_exact_between_three_rungs_of_each(
    constant: int, gentle: int, steep: int, square: int, tokens: int
) -> None:
    """Activations of the prompt's own, and scores that overtake them somewhere between 1,024 and 4,096 tokens."""

    def size(n: int) -> int:
        overtaken_at = 2000
        ahead = (steep + square * (n + overtaken_at)) * (n - overtaken_at)
        return constant + gentle * n + max(0, ahead)

    found = working(with_rungs({rung: size(rung) for rung in (*LADDER, 65_536)}), tokens)
    assert found == pytest.approx(size(tokens), rel=1e-6, abs=1)


def test_a_prompt_within_one_chunk_is_a_plain_prefill() -> None:
    of = with_rungs({256: 100, 512: 200})
    chunked = replace(of.rungs[0], strategy="chunked:512", tokens=1024, working_bytes=999)
    of = replace(of, rungs=(*of.rungs, chunked))
    sizes = [
        working_bytes(
            of,
            phase=Phase.PREFILL,
            tokens=tokens,
            sequences=1,
            dtype="bfloat16",
            strategy=strategy("chunked:512"),
        )
        for tokens in (256, 512, 1024)
    ]
    assert sizes == [100, 200, 999]


def test_a_jump_where_a_window_is_full_stays_between_its_two_rungs() -> None:
    of = with_rungs({1: 1, 64: 64, 511: 511, 512: 512 + 512 * 512, 1024: 1024 + 1024 * 1024, 2048: 2048 + 2048 * 2048})
    assert working(of, 300) == 300
    assert working(of, 700) == pytest.approx(700 + 700 * 700, rel=0.01)


def test_a_number_of_sequences_between_two_is_reckoned_in_proportion() -> None:
    one, three = with_rungs({100: 1000}), with_rungs({100: 3000}, sequences=3)
    of = replace(one, rungs=one.rungs + three.rungs)
    assert working(of, 100, sequences=2) == 2000
    assert working(of, 100, sequences=5) == 5000
    assert working(one, 100, sequences=4) == 4000


def test_a_precision_as_wide_serves_and_another_is_refused() -> None:
    of = with_rungs({100: 1000})
    assert working(of, 100, dtype="float16") == 1000
    with pytest.raises(Refusal) as refused:
        working(of, 100, dtype="float32")
    assert refused.value.code == "not_inspected"


def test_offloading_works_on_the_device_as_its_plain_kind_and_chunks_end_with_the_prompt() -> None:
    assert rung_name(strategy("offloaded+chunked:512"), Phase.PREFILL) == "chunked:512"
    assert rung_name(strategy("offloaded_static"), Phase.DECODE) == "static"
    assert rung_name(strategy("quantized:hqq:4+chunked:512"), Phase.DECODE) == "quantized:hqq:4"
