"""Measuring processes without a model: started in milliseconds."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from jobs.running.process import MeasuringProcess

FAKE = "tests.running.fake_measuring"


@pytest.fixture
def start() -> Callable[..., MeasuringProcess]:
    return partial(MeasuringProcess, module=FAKE)


@pytest.fixture
def process(start: Callable[..., MeasuringProcess]) -> Iterator[MeasuringProcess]:
    with start() as started:
        yield started
