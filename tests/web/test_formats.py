import pytest

from jobs.sizing.strategy import strategy_label
from jobs.sizing.units import GIB
from jobs.web import formats


@pytest.mark.parametrize(
    ("given", "printed"),
    [(None, "–"), (0, "0 B"), (2**20, "1 MiB"), (2**30, "1 GiB"), (2_097_152_000, "1.95 GiB")],
)
def test_bytes_are_binary_units(given: int | None, printed: str) -> None:
    assert formats.size(given) == printed


@pytest.mark.parametrize(
    ("given", "printed"),
    [(None, "–"), (0, "0"), (1234567, "1,234,567"), (2.5, "2.5"), (10.0, "10"), (1234.56, "1,235")],
)
def test_numbers_have_separators(given: float | None, printed: str) -> None:
    assert formats.number(given) == printed


@pytest.mark.parametrize(
    ("given", "printed"), [(None, "–"), (0.0004, "0.4 ms"), (0.42, "0.42 s"), (12.34, "12.3 s"), (1234.5, "1,234.5 s")]
)
def test_measured_seconds_keep_their_digits(given: float | None, printed: str) -> None:
    assert formats.seconds(given) == printed


@pytest.mark.parametrize(
    ("given", "printed"), [(None, "–"), (0.9, "0 s"), (59.9, "59 s"), (185, "3 min 05 s"), (3720, "1 h 02 min")]
)
def test_long_times_read_like_a_clock(given: float | None, printed: str) -> None:
    assert formats.duration(given) == printed


@pytest.mark.parametrize(
    ("given", "signed", "printed"),
    [
        (None, True, "–"),
        (0.1234, False, "12.3 %"),
        (-0.5, False, "−50.0 %"),
        (0.5, True, "+50.0 %"),
        (0.0, True, "0.0 %"),
    ],
)
def test_percentages_have_a_true_sign(given: float | None, signed: bool, printed: str) -> None:
    assert formats.percent(given, signed=signed) == printed


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        (None, "–"),
        (999, "999"),
        (134_515_008, "135 M"),
        (999_885_952, "1 B"),
        (8_030_261_248, "8.03 B"),
        (1.1e12, "1.1 T"),
    ],
)
def test_parameters_are_short(given: int | None, printed: str) -> None:
    assert formats.parameters(given) == printed


@pytest.mark.parametrize(
    ("name", "series"),
    [
        ("default", "default"),
        ("quantized:hqq:4", "hqq-4"),
        ("quantized:fp8", "fp8"),
        ("offloaded_static", "offloaded-static"),
        ("chunked:512", "chunked"),
        ("quantized:hqq:4+chunked:512", "other"),
    ],
)
def test_a_strategy_has_one_colour(name: str, series: str) -> None:
    assert formats.strategy_series(name) == series


def test_a_strategy_of_another_release_is_shown_as_it_is() -> None:
    assert strategy_label("quantized:new:1") == "quantized:new:1"


@pytest.mark.parametrize(
    ("given", "printed"), [(None, "–"), (0, "0.00 GiB"), (2**29, "0.50 GiB"), (2**41, "2048.00 GiB")]
)
def test_compared_bytes_keep_one_unit(given: int | None, printed: str) -> None:
    assert formats.gib(given) == printed


def test_a_typed_name_loses_what_would_turn_its_surroundings_about() -> None:
    turned = "".join(map(chr, (0x202A, 0x202E, 0x2066, 0x2069, 0x200E, 0x200F, 0x061C)))
    assert formats.plain_name(f"a{turned}b") == "ab"
    assert formats.plain_name("عقود 2026") == "عقود 2026"


@pytest.mark.parametrize(
    ("count", "printed"),
    [(None, "–"), (964, "about 964"), (1_009, "about 1,000"), (24_264, "about 24,200"), (107_328, "about 107,000")],
)
def test_an_estimated_context_keeps_three_figures_and_is_never_rounded_up(count: int | None, printed: str) -> None:
    assert formats.about(count) == printed


@pytest.mark.parametrize(
    ("count", "largest", "printed"),
    [
        (1, GIB, "< 0.1 MiB"),
        (1, 8 * GIB, "< 0.01 GiB"),
        (0, GIB, "0.0 MiB"),
        (3 * GIB, 8 * GIB, "3.00 GiB"),
        (None, GIB, "–"),
    ],
)
def test_what_is_there_is_never_printed_as_nothing(count: int | None, largest: int, printed: str) -> None:
    assert formats.beside(count, largest) == printed
