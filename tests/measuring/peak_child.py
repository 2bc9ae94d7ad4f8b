"""Run as a process of its own: the real peak of a prefill and a few decode steps on a CPU, beyond the weights.

Reads {"config", "dtype", "sequences", "settings", "prompts"} from the first argument, writes a list of bytes.
Start it with MALLOC_MMAP_THRESHOLD_=65536, so that what is freed goes back to the kernel.
"""

import ctypes
import gc
import json
import sys
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

NEW_TOKENS = 3


def resident_peak_bytes() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def reset_peak() -> None:
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def generate(model: Any, ids: torch.Tensor, settings: dict[str, Any]) -> None:
    model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=NEW_TOKENS,
        min_new_tokens=NEW_TOKENS,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
        **settings,
    )


def main() -> None:
    asked = json.loads(sys.argv[1])
    torch.manual_seed(0)
    fields = asked["config"]
    config = AutoConfig.for_model(fields.pop("model_type"), **fields)
    model = AutoModelForCausalLM.from_config(config, dtype=getattr(torch, asked["dtype"])).eval()
    rises = []
    for prompt in asked["prompts"]:
        ids = torch.randint(3, config.get_text_config().vocab_size, (asked["sequences"], prompt))
        generate(model, ids, asked["settings"])
        gc.collect()
        reset_peak()
        before = resident_peak_bytes()
        generate(model, ids, asked["settings"])
        rises.append(resident_peak_bytes() - before)
    sys.stdout.write(json.dumps(rises))


if __name__ == "__main__":
    main()
