"""The peak that an inspection predicts, against the rise of resident memory of a real warm run on this CPU.

A few of the small architectures that `make bench` measures at greater lengths, in one process.
"""

from collections.abc import Iterator

import pytest

from jobs.running.process import MeasuringProcess
from tests.bench.peak import PADDING, rows_of
from tests.bench.peak_variants import Point, Subject

ONE, PADDED = Point(tokens=776), Point(tokens=600, sequences=3, padded=True)
STRATEGIES = ("static", "chunked:512", "quantized:fp8")
SUBJECTS = (
    Subject(
        model_type="llama",
        dtype="bfloat16",
        attention="sdpa",
        points=(ONE, *(Point(tokens=1024, strategy=name) for name in STRATEGIES)),
    ),
    Subject(model_type="llama", dtype="float32", attention="eager", points=(PADDED,)),
    Subject(model_type="gemma3_text", dtype="float32", attention="sdpa", points=(PADDED,)),
    Subject(model_type="deepseek_v3", dtype="bfloat16", attention="sdpa", points=(PADDED,)),
    Subject(model_type="llama4_text", dtype="bfloat16", attention="sdpa", points=(ONE,)),
)


@pytest.fixture(scope="module")
def process() -> Iterator[MeasuringProcess]:
    with MeasuringProcess(module=PADDING) as one:
        yield one


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda s: f"{s.model_type}-{s.dtype}-{s.attention}")
def test_a_predicted_peak_is_within_its_bound_of_the_measured_one(subject: Subject, process: MeasuringProcess) -> None:
    rows = list(rows_of(subject, inspecting=process, measuring=process))
    assert [row.name for row in rows if not row.holds] == []
