"""A model's inspection, made in a measuring process and brought back as a record."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace

from jobs.running.inspection_code import inspection_code
from jobs.running.kept_records import files_of
from jobs.running.process import MeasuringProcess, ProcessDied, ProcessHung
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal

PATIENCE_S = 180.0
DEFAULT_TOKENS = (131_072,)
"""The rungs go up to here; what lies beyond is reckoned on from the last ones."""
DEFAULT_SEQUENCES = (1, 2)
"""What more sequences need is reckoned on from these."""
DEFAULT_STRATEGIES = ("default",)


def inspect_model(
    spec: ModelSpec,
    *,
    dtypes: Sequence[str] = ("bfloat16",),
    sequences: Sequence[int] = DEFAULT_SEQUENCES,
    tokens: Sequence[int] = DEFAULT_TOKENS,
    strategies: Sequence[str] = DEFAULT_STRATEGIES,
    attention: str = "sdpa",
    padded: Sequence[bool] = (False,),
    cancelled: Callable[[], bool] = lambda: False,
    tell: Callable[[str], None] = lambda text: None,
    process: MeasuringProcess | None = None,
) -> InspectionRecord:
    """Ask `process`, or one that lives for this request alone.

    The record's versions say by what code it was made, and from which files.

    Raises Refusal (the model cannot be inspected), ProcessDied, ProcessHung or Cancelled.
    """
    files = files_of(spec)  # as they stand before: what changes while they are read makes the record old at once
    living = nullcontext(process) if process is not None else MeasuringProcess(cancelled=cancelled)
    with living as running:
        data = running.request(
            "inspect",
            patience_s=PATIENCE_S,
            cancelled=cancelled,
            tell=tell,
            model=spec.as_json(),
            dtypes=list(dtypes),
            sequences=list(sequences),
            tokens=list(tokens),
            strategies=list(strategies),
            attention=attention,
            padded=list(padded),
        )
    record = InspectionRecord.from_json(data)
    return replace(record, versions={**record.versions, **files, "inspection": inspection_code()})


@contextmanager
def deaths_refused(spec: ModelSpec) -> Iterator[None]:
    """Inside, a measuring process that ends without an answer becomes Refusal("not_inspected")."""
    try:
        yield
    except (ProcessDied, ProcessHung) as death:
        raise Refusal(
            "not_inspected",
            f"The process that reads “{spec.name}” ended without an answer ({death}).",
            "Try again; if it ends again, the model needs more memory to be read than this machine has.",
        ) from death
