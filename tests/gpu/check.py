"""What needs CUDA, in one go under 8 minutes: `python -m tests.gpu.check [--out build/gpu-check.json]`.

Needs torch and transformers alone; without a CUDA device it says so and ends well. It runs every strategy on a
mid-size architecture with random weights, then a capacity that is too small, then a device-side assert, and writes
what it measured. `--rehearse` runs the same code on a CPU with a tiny model, so that the script itself is tested.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import torch

from jobs.measuring.cpu_memory import CpuMemory
from jobs.measuring.cuda_cards import CudaCards
from jobs.measuring.cuda_memory import CudaMemory
from jobs.measuring.devices import device as device_called
from jobs.measuring.libraries import versions
from jobs.measuring.loading import LoadedModel, load_model
from jobs.measuring.measure import Measurer
from jobs.measuring.nvml import Nvml
from jobs.measuring.outcomes import failure_of
from jobs.procedure.measurement import Ask, Measurement, Outcome
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.strategy import BASELINE, Strategy

TIME_S = 420.0
STRATEGIES = (
    "default",
    "static",
    "offloaded",
    "offloaded_static",
    "chunked:512",
    "quantized:hqq:8",
    "quantized:hqq:4",
    "quantized:quanto:4",
    "quantized:fp8",
)
ANSWER_TOKENS = 32
MID_SIZE: dict[str, Any] = {
    "model_type": "llama",
    "vocab_size": 32768,
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": True,
}
TINY = MID_SIZE | {
    "vocab_size": 512,
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 8,
}
PROMPTS = {"cuda": (2048, 16384), "cpu": (64, 512)}
BFLOAT16 = 2


class Check:
    """Measures on one device until its time is up, and keeps a row for each thing that must hold."""

    def __init__(self, device: str) -> None:
        self.kind = device.partition(":")[0]
        self._ends_at = monotonic() + TIME_S
        self.rows: list[dict[str, Any]] = []
        config = MID_SIZE if self.kind == "cuda" else TINY
        heads, width = config["num_key_value_heads"], config["head_dim"]
        self.token_bytes = config["num_hidden_layers"] * heads * 2 * width * BFLOAT16
        self.device = device_called(device) or {}
        self.whole_bytes = int(self.device["capacity_bytes"])
        cards = CudaCards(Nvml.opened())
        if self.kind == "cuda":
            cards.open(self.device, dtype="bfloat16", tell=say)
        self.loaded = load_model(
            ModelSpec(kind=ModelKind.ARCHITECTURE, name="check", config=config),
            dtype="bfloat16",
            device=device,
            attention="sdpa",
            tell=say,
        )
        self.memory = _memory(self.loaded, cards)
        self._measurer = Measurer(self.loaded, self.memory)

    def run(self) -> None:
        for prompt_tokens in PROMPTS[self.kind]:
            for name in STRATEGIES:
                self._keep(self.measure(name, prompt_tokens))
        self._out_of_memory()
        self._usable_afterwards()
        if self.kind == "cuda":
            self._device_assert()

    def measure(self, strategy: str, prompt_tokens: int, capacity_bytes: int | None = None) -> Measurement | None:
        if monotonic() > self._ends_at:
            return None
        ask = Ask(
            stage="check",
            strategy=Strategy.parse(strategy),
            prompt_tokens=prompt_tokens,
            answer_tokens=ANSWER_TOKENS,
            sequences=1,
            capacity_bytes=capacity_bytes or self.whole_bytes,
        )
        return self._measurer.measure(ask, enforce=True, tell=say).measurement

    def _keep(self, found: Measurement | None) -> None:
        """Every strategy ends as a recorded outcome, and the normal cache in the bytes of its formula."""
        if found is None:
            return
        holds = found.outcome is not Outcome.OUT_OF_MEMORY
        if found.strategy == str(BASELINE):
            holds = found.outcome is Outcome.OK and found.kv_bytes == (found.context - 1) * self.token_bytes
        self._row(f"{found.strategy} at {found.context}", holds, found.as_json() | {"settings": None})

    def _out_of_memory(self) -> None:
        """Half of what the cache needs beside the weights: refused for real."""
        longest = PROMPTS[self.kind][-1]
        room_bytes = longest * self.token_bytes // 2
        self.memory.start()
        capacity_bytes = self.memory.peak_bytes() + room_bytes
        found = self.measure("default", longest, capacity_bytes)
        if found is not None:
            self._row("a capacity that is too small", found.outcome is Outcome.OUT_OF_MEMORY, found.error)

    def _usable_afterwards(self) -> None:
        found = self.measure("default", PROMPTS[self.kind][0])
        if found is not None:
            self._row("usable after running out of memory", found.outcome is Outcome.OK, found.error)

    def _device_assert(self) -> None:
        """Last: it leaves the process's CUDA context unusable."""
        ids = torch.full((1, 8), 10**6, device=self.loaded.device)
        try:
            self.loaded.model(ids)
            torch.cuda.synchronize()
        except RuntimeError as error:
            failure = failure_of(error, strategy=BASELINE, capacity_bytes=self.whole_bytes, limited=True)
            self._row("an assert on the device is no lack of memory", failure.code == "device_assert", failure.error)
        else:
            self._row("an assert on the device is no lack of memory", False, None)

    def _row(self, name: str, holds: bool, measured: Any) -> None:
        device_wide = {"allocated_peak_bytes": self.memory.peak_bytes()}
        if isinstance(self.memory, CudaMemory) and not name.startswith("an assert"):
            device_wide |= self.memory.figures()
        self.rows.append({"name": name, "holds": holds, "measured": measured, **device_wide})
        say(f"{'holds' if holds else 'FAILS'}: {name}")


def _memory(loaded: LoadedModel, cards: CudaCards) -> CpuMemory | CudaMemory:
    return CpuMemory(weights_bytes=loaded.weights_bytes) if loaded.device == "cpu" else cards.memory(loaded.model)


def say(message: str) -> None:
    sys.stderr.write(f"{message}\n")


def report(check: Check) -> dict[str, Any]:
    return {
        "device": check.device,
        "versions": versions(),
        "weights_bytes": check.loaded.weights_bytes,
        "rows": check.rows,
    }


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=Path("build/gpu-check.json"))
    options.add_argument("--rehearse", action="store_true")
    return options.parse_args()


def failures(rows: list[dict[str, Any]]) -> Iterator[str]:
    return (row["name"] for row in rows if not row["holds"])


def main() -> int:
    given = arguments()
    if not given.rehearse and not torch.cuda.is_available():
        say("gpu-check: there is no CUDA device here, so nothing was checked.")
        return 0
    check = Check("cpu" if given.rehearse else "cuda:0")
    check.run()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(report(check), indent=2))
    failed = list(failures(check.rows))
    say(f"gpu-check: {len(check.rows)} rows in {given.out}, {len(failed)} fail.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
