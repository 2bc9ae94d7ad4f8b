"""The peak that an inspection predicts, against the rise of resident memory of a real warm run on this CPU."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jobs.measuring.inspect import inspect_model_spec
from jobs.sizing import architectures
from jobs.sizing.budgets import run_peak
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import MIB

ROOT = Path(__file__).parents[2]
NAME = "SmolLM2-135M"
NEW_TOKENS = 3


def measured(dtype: str, prompts: list[int], settings: dict[str, Any]) -> list[int]:
    """Bytes that resident memory rose by on the second pass of each prompt length."""
    asked = {
        "config": architectures.config(NAME),
        "dtype": dtype,
        "sequences": 1,
        "settings": settings,
        "prompts": prompts,
    }
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("peak_child.py")), json.dumps(asked)],
        env=os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        timeout=280,
    )
    found: list[int] = json.loads(done.stdout)
    return found


def predicted(dtype: str, prompts: list[int], strategy: str) -> list[int]:
    spec = ModelSpec(kind=ModelKind.ARCHITECTURE, name=NAME, config=architectures.config(NAME))
    record = inspect_model_spec(spec, dtypes=[dtype], sequences=[1], tokens=[2048], strategies=[strategy])
    peaks = [
        run_peak(
            record,
            prompt_tokens=prompt,
            answer_tokens=NEW_TOKENS,
            sequences=1,
            dtype=dtype,
            strategy=Strategy.parse(strategy),
        )
        for prompt in prompts
    ]
    return [peak.peak_bytes - peak.weights_bytes for peak in peaks]


@pytest.mark.parametrize(("dtype", "prompts"), [("bfloat16", [512]), ("float32", [512, 1024])])
def test_the_predicted_peak_is_within_3_percent_or_3_mib_of_the_measured_one(dtype: str, prompts: list[int]) -> None:
    for prompt, real, said in zip(
        prompts, measured(dtype, prompts, {}), predicted(dtype, prompts, "default"), strict=True
    ):
        assert abs(said - real) <= max(3 * MIB, 0.03 * real), (prompt, said / MIB, real / MIB)


def test_a_quantized_cache_s_peak_is_predicted_too() -> None:
    settings = {"cache_implementation": "quantized", "cache_config": {"backend": "fp8"}}
    (real,), (said,) = measured("float32", [512], settings), predicted("float32", [512], "quantized:fp8")
    assert abs(said - real) <= max(3 * MIB, 0.03 * real), (said / MIB, real / MIB)
