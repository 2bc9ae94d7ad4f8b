import pytest

from jobs.sizing.units import GIB, MIB
from jobs.web.sliders import Slider, capacity_slider, headroom_slider


def steps_from_least(slider: Slider, value: float) -> float:
    return round((value - slider.least) / slider.step, 6)


@pytest.mark.parametrize(
    ("own_bytes", "least", "own"),
    [
        (320 * MIB, 80, 320),
        (340 * MIB, 85, 340),
        (321 * MIB + 5, 81, 321),
        (3 * MIB, 1, 3),
        (7 * GIB + 3 * MIB, 1843, 7171),
        (24 * GIB, 6.0, 24.0),
        (int(15.77 * GIB), 4.0, 15.8),
    ],
)
def test_a_capacity_slider_has_a_step_at_the_runs_own_capacity(own_bytes: int, least: float, own: float) -> None:
    slider = capacity_slider(own_bytes, own_bytes=own_bytes)
    assert (slider.least, slider.own, slider.value) == (least, own, own)
    assert steps_from_least(slider, own).is_integer()
    assert slider.least > 0 and slider.most > slider.own


@pytest.mark.parametrize(("own", "step"), [(5, 1), (0, 1), (7.5, 0.1), (12.25, 0.01)])
def test_a_headroom_slider_has_a_step_at_the_runs_own_headroom(own: float, step: float) -> None:
    slider = headroom_slider(30, own_percent=own)
    assert (slider.least, slider.most, slider.step, slider.value, slider.own) == (0, 90, step, 30, own)
    assert steps_from_least(slider, own).is_integer()
