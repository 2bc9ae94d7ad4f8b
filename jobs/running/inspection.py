"""A model's inspection, made in a measuring process and brought back as a record."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext

from jobs.running.process import MeasuringProcess
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.record import InspectionRecord

PATIENCE_S = 180.0
DEFAULT_TOKENS = (131_072,)
"""The rungs go up to here; what lies beyond is reckoned on from the last ones."""
DEFAULT_STRATEGIES = ("default",)


def inspect_model(
    spec: ModelSpec,
    *,
    dtypes: Sequence[str] = ("bfloat16",),
    sequences: Sequence[int] = (1,),
    tokens: Sequence[int] = DEFAULT_TOKENS,
    strategies: Sequence[str] = DEFAULT_STRATEGIES,
    attention: str = "sdpa",
    cancelled: Callable[[], bool] = lambda: False,
    tell: Callable[[str], None] = lambda text: None,
    process: MeasuringProcess | None = None,
) -> InspectionRecord:
    """Ask `process`, or one that lives for this request alone.

    Raises Refusal (the model cannot be inspected), ProcessDied, ProcessHung or Cancelled.
    """
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
        )
    return InspectionRecord.from_json(data)
