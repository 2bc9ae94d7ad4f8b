"""Prefills that fill up whole pieces of the prompt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.sizing.pieces import PIECES, TELLING_RUNGS, pieces_of
from jobs.sizing.record import Phase, Point
from jobs.sizing.working import working_bytes
from tests.sizing.records import strategy
from tests.sizing.test_working import with_rungs

RUNGS = (*TELLING_RUNGS, 64, 256, 4096, 8192, 131_070, 131_072)


def scanned(tokens: int, piece: int, piece_bytes: int = 100_000, token_bytes: int = 700) -> int:
    """A pass over whole pieces, and a little for each token that is there."""
    return 5_000 + -(-tokens // piece) * piece * piece_bytes // 64 + tokens * token_bytes


@given(piece=st.sampled_from(PIECES), tokens=st.integers(1, 200_000))
def test_what_is_needed_between_two_whole_pieces_is_exact(piece: int, tokens: int) -> None:
    of = with_rungs({rung: scanned(rung, piece) for rung in RUNGS})
    found = working_bytes(
        of, phase=Phase.PREFILL, tokens=tokens, sequences=1, dtype="bfloat16", strategy=strategy("default")
    )
    assert found == pytest.approx(scanned(tokens, piece), rel=1e-6, abs=2)


@given(piece=st.sampled_from(PIECES), tokens=st.integers(1, 100_000))
def test_a_mask_beside_them_hides_no_pieces(piece: int, tokens: int) -> None:
    def size(n: int) -> int:
        return scanned(n, piece) + 2 * n * n

    found = pieces_of(tuple(Point(rung, size(rung)) for rung in sorted(RUNGS)))
    assert found
    assert found.piece_tokens == piece
    working = working_bytes(
        with_rungs({rung: size(rung) for rung in RUNGS}),
        phase=Phase.PREFILL,
        tokens=tokens,
        sequences=1,
        dtype="bfloat16",
        strategy=strategy("default"),
    )
    assert working == pytest.approx(size(tokens), rel=1e-5, abs=100)


@pytest.mark.parametrize("square", [0, 3])
def test_a_pass_over_every_token_alone_has_no_pieces(square: int) -> None:
    points = tuple(Point(tokens, 1_000 * tokens + square * tokens * tokens) for tokens in sorted(RUNGS))
    assert pieces_of(points) is None


def test_a_step_that_is_no_piece_has_none_either() -> None:
    stepped = tuple(Point(tokens, 1_000 * tokens + (tokens > 1024) * 37_000) for tokens in sorted(RUNGS))
    assert pieces_of(stepped) is None


def test_a_ladder_without_the_telling_rungs_tells_nothing() -> None:
    points = tuple(Point(tokens, scanned(tokens, 256)) for tokens in (1, 16, 64, 1024, 2048))
    assert pieces_of(points) is None
