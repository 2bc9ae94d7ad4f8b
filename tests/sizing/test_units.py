"""Sizes as people write and read them."""

import pytest

from jobs.sizing.refusal import Refusal
from jobs.sizing.units import bytes_text, column_text, dtype_bytes, gib, parse_size


@pytest.mark.parametrize(
    ("text", "size"), [("280MiB", 280 * 2**20), ("1.5 GiB", 3 * 2**29), ("24gib", 24 * 2**30), ("512B", 512)]
)
def test_a_size_is_read_in_binary_units(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GiB", "-1GiB", "0MiB", "5", "3 GB", "1e9GiB", "9999999GiB", "１GiB", "1GiB1GiB"])
def test_what_is_no_size_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse_size(text)
    assert refused.value.code == "bad_size"
    assert "GiB" in refused.value.hint


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (2**20, "1 MiB"), (2_097_152_000, "1.95 GiB"), (1536, "1.50 KiB")]
)
def test_bytes_are_said_in_the_largest_unit_that_fits(size: int, text: str) -> None:
    assert bytes_text(size) == text


def test_gib_keeps_its_unit_for_columns() -> None:
    assert gib(2**29) == "0.50 GiB"


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        dtype_bytes("int3")
    assert refused.value.code == "unknown_dtype"


@pytest.mark.parametrize(
    ("text", "told"), [("24 GB", "24 GB as vendors count is 22.35 GiB"), ("1tb", "1 TB as vendors count is 931.32 GiB")]
)
def test_a_vendor_s_decimal_size_is_refused_with_what_it_is(text: str, told: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse_size(text)
    assert told in refused.value.hint


@pytest.mark.parametrize("text", ["0 GB", "99999999999999 TB", "GB"])
def test_a_decimal_size_of_nothing_sensible_is_not_reckoned(text: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse_size(text)
    assert "vendors" not in refused.value.hint


@pytest.mark.parametrize(
    ("size", "largest", "text"),
    [(2**20 // 2, 2**30, "0.5 MiB"), (2**30, 2**32 - 1, "1,024.0 MiB"), (2**30, 2**32, "1.00 GiB")],
)
def test_figures_beside_each_other_share_the_unit_that_serves_the_largest(size: int, largest: int, text: str) -> None:
    assert column_text(size, largest) == text
