"""Does what a reader of a run's page does with its generation_config.json, in a process of its own.

`python -m tests.end_to_end.answer_with_settings MODEL SETTINGS PROMPT DTYPE` prints what it took as JSON. MODEL and
SETTINGS are folders, PROMPT a number of tokens. The peak is read as a measurement's is: the weights and the rise of
VmHWM, once the same shapes have run.
"""

import json
import sys
from typing import Any

import torch
from transformers import AutoModelForCausalLM, GenerationConfig

from jobs.measuring.cache_bytes import cache_caught
from jobs.measuring.cpu_memory import CpuMemory
from jobs.measuring.weights import weights_bytes


def main() -> None:
    folder, settings, prompt, dtype = sys.argv[1:]
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype), attn_implementation="sdpa")
    config = GenerationConfig.from_pretrained(settings)
    ids = torch.randint(1000, model.config.vocab_size, (1, int(prompt)), generator=torch.Generator().manual_seed(0))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    memory = CpuMemory(weights_bytes=weights_bytes(model))
    caches: list[Any] = []
    for _ in range(2):  # the first warms
        memory.start()
        with cache_caught(model, lambda cache: caches.append(type(cache).__name__)):
            answer = model.generate(**inputs, generation_config=config)
    told = {
        "cache": caches[-1],
        "peak_bytes": memory.peak_bytes(),
        "new_tokens": answer.shape[1] - ids.shape[1],
        "settings": config.to_diff_dict(),
    }
    print(json.dumps(told, default=str))  # noqa: T201  (what the caller reads)


if __name__ == "__main__":
    main()
