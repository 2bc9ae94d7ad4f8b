"""How long prompts are, counted in a measuring process by the model's own tokenizer."""

from collections.abc import Callable, Sequence

from jobs.procedure.prompt_lengths import PromptLengths
from jobs.running.process import MeasuringProcess
from jobs.sizing.model_spec import ModelSpec

PATIENCE_S = 180.0


def count_prompts(
    spec: ModelSpec,
    texts: Sequence[str],
    *,
    process: MeasuringProcess,
    cancelled: Callable[[], bool] = lambda: False,
    tell: Callable[[str], None] = lambda text: None,
) -> PromptLengths:
    """Raises Refusal (no_tokenizer, or what keeps the Hub from answering), ProcessDied, ProcessHung or Cancelled."""
    data = process.request(
        "tokenize", patience_s=PATIENCE_S, cancelled=cancelled, tell=tell, model=spec.as_json(), prompts=list(texts)
    )
    return PromptLengths.from_json(data)
