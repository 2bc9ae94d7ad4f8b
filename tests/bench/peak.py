"""Peak memory, predicted by inspection and measured in a measuring process, each shape warmed first."""

from collections.abc import Iterator
from typing import Any

from jobs.procedure.measurement import Ask, Measurement
from jobs.running.inspection import DEFAULT_SEQUENCES, inspect_model
from jobs.running.process import MeasuringProcess
from jobs.sizing import architectures
from jobs.sizing.budgets import run_peak
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import MIB
from tests.bench.peak_variants import CONFIGS, Point, Subject, subjects
from tests.bench.row import Row, benchmark

REAL = "SmolLM2-135M"
REAL_POINTS = tuple(Point(tokens=tokens) for tokens in (160, 2044))
ANSWER_TOKENS = 4
PADDING = "tests.bench.padding_measuring"
PATIENCE_S = 600.0
ONE_SEQUENCE, SEVERAL_SEQUENCES, QUANTIZED = (1.5, MIB), (3.0, 2 * MIB), (5.0, 4 * MIB)
"""Percent of what lies beyond the weights, or bytes: the bound holds where either does."""


@benchmark("peak")
def predicted_and_measured() -> Iterator[Row]:
    real = Subject(model_type=REAL, dtype="bfloat16", attention="sdpa", points=REAL_POINTS)
    with MeasuringProcess() as inspecting:
        for subject in (real, *subjects()):
            with MeasuringProcess(module=PADDING) as measuring:
                yield from rows_of(subject, inspecting=inspecting, measuring=measuring)


def rows_of(subject: Subject, *, inspecting: MeasuringProcess, measuring: MeasuringProcess) -> Iterator[Row]:
    """A row for each point. `measuring` runs PADDING; it may be the same process as `inspecting`."""
    config = architectures.config(REAL) if subject.model_type == REAL else CONFIGS[subject.model_type]
    spec = ModelSpec(
        kind=ModelKind.ARCHITECTURE,
        name=subject.model_type,
        config={"model_type": subject.model_type} | config,
        random_weights=True,
    )
    records = {padded: _inspected(subject, spec, inspecting, padded) for padded in {p.padded for p in subject.points}}
    loaded = measuring.request(
        "load",
        patience_s=PATIENCE_S,
        model=spec.as_json(),
        dtype=subject.dtype,
        device="cpu",
        attention=subject.attention,
    )
    for point in subject.points:
        measured = _measured(point, measuring, loaded)
        yield _row(subject, point, _predicted(records[point.padded], subject, point), measured, loaded["weights_bytes"])


def _inspected(subject: Subject, spec: ModelSpec, inspecting: MeasuringProcess, padded: bool) -> InspectionRecord:
    """As the portal inspects: at no length measured here, so that what lies between the rungs is tried too."""
    points = [point for point in subject.points if point.padded == padded]
    return inspect_model(
        spec,
        dtypes=[subject.dtype],
        sequences=DEFAULT_SEQUENCES if any(point.sequences > 1 for point in points) else (1,),
        strategies=sorted({point.strategy for point in points}),
        attention=subject.attention,
        padded=[padded],
        process=inspecting,
    )


def _measured(point: Point, process: MeasuringProcess, loaded: dict[str, Any]) -> Measurement:
    ask = Ask(
        stage="baseline",
        strategy=Strategy.parse(point.strategy),
        prompt_tokens=point.tokens,
        answer_tokens=ANSWER_TOKENS,
        sequences=point.sequences,
        capacity_bytes=loaded["device"]["capacity_bytes"],
    )
    data = process.request("measure", patience_s=PATIENCE_S, enforce=False, padded=point.padded, **ask.as_json())
    return Measurement.from_json(data)


def _predicted(record: InspectionRecord, subject: Subject, point: Point) -> int:
    """Bytes beyond the weights."""
    peak = run_peak(
        record,
        prompt_tokens=point.tokens,
        answer_tokens=ANSWER_TOKENS,
        sequences=point.sequences,
        dtype=subject.dtype,
        strategy=Strategy.parse(point.strategy),
        attention=subject.attention,
        padded=point.padded,
    )
    return peak.peak_bytes - peak.weights_bytes


def _row(subject: Subject, point: Point, predicted_bytes: int, measured: Measurement, weights_bytes: int) -> Row:
    """The error is of what lies beyond the weights, where all the doubt is."""
    name = f"{subject.model_type} {subject.dtype} {subject.attention} {point.tokens}x{point.sequences} {point.strategy}"
    name += " padded" if point.padded else ""
    target_percent, target_bytes = _bound(point)
    if measured.peak_bytes is None:
        told = f"{name}: not measured, {measured.error}"
        return Row(area="peak", name=told, value=100.0, unit="%", target=target_percent, holds=False)
    measured_bytes = measured.peak_bytes - weights_bytes
    off_bytes = predicted_bytes - measured_bytes
    percent = 100 * abs(off_bytes) / measured_bytes
    told = f"{name}: predicted {predicted_bytes / MIB:.1f}, measured {measured_bytes / MIB:.1f} MiB"
    holds = percent <= target_percent or abs(off_bytes) <= target_bytes
    return Row(area="peak", name=told, value=percent, unit="%", target=target_percent, holds=holds)


def _bound(point: Point) -> tuple[float, int]:
    if Strategy.parse(point.strategy).is_quantized:
        return QUANTIZED
    return ONE_SEQUENCE if point.sequences == 1 else SEVERAL_SEQUENCES
