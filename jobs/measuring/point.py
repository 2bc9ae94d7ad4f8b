"""One question to one loaded model, while it is being measured."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import GenerationConfig

from jobs.measuring.cpu_memory import CpuMemory
from jobs.measuring.cuda_memory import CudaMemory
from jobs.measuring.generating import Pass
from jobs.measuring.loading import LoadedModel
from jobs.measuring.prompts import Prompts
from jobs.measuring.timing import Stopwatch
from jobs.procedure.measurement import Ask

DeviceMemory = CpuMemory | CudaMemory


@dataclass(kw_only=True)
class Point:
    """An Ask and what was seen of it so far.

    generating: seconds within all calls of generate(); warm_s: within those of the warm-up.
    short_peak_bytes: the peak of the prompt and one decode step; None where the shape was warm already.
    """

    loaded: LoadedModel
    memory: DeviceMemory
    ask: Ask
    enforce: bool
    tell: Callable[[str], None]
    config: GenerationConfig
    prompts: Prompts
    prompt_ids: torch.Tensor
    leaked_bytes: int
    passes: list[Pass] = field(default_factory=list)
    generating: Stopwatch = field(default_factory=Stopwatch)
    warm_s: float = 0.0
    short_peak_bytes: int | None = None

    @property
    def shape(self) -> tuple[Any, ...]:
        """What must be the same for an earlier pass to have warmed this one."""
        ask = self.ask
        return (str(ask.strategy), ask.prompt_tokens, ask.answer_tokens, ask.sequences, ask.seed)
