"""Sizes of real models' configs against what is known of them, and what one `manage.py size` costs."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import Any

from jobs.sizing.units import GIB, KIB
from tests.bench.row import Row, at_most, benchmark
from tests.operations.portal_process import ROOT

MODELS = ROOT.parent / "shared" / "models"
LENGTHS = {"1k(1024)": 1024, "8k(8192)": 8192, "16000": 16_000, "32k(32768)": 32_768, "128000": 128_000}
LENGTHS["128k(131072)"] = 131_072
SECONDS_TARGET = 15.0
CPU_SECONDS_TARGET = 15.0
MEMORY_TARGET_GIB = 1.0


@benchmark("sizing")
def real_models() -> Iterator[Row]:
    """Says nothing but so where there are no configs beside this checkout."""
    truth_file = MODELS / "truth.json"
    if not truth_file.is_file():
        sys.stderr.write(f"sizing: there is no {truth_file}, so no real configs are compared.\n")
        return
    truth = json.loads(truth_file.read_text(encoding="utf-8"))["models"]
    answers = {name: Sized(name) for name in truth}
    wrong = {name: answer.differences(truth[name]) for name, answer in answers.items()}
    for name, differences in wrong.items():
        if differences:
            sys.stderr.write(f"sizing: {name}: {'; '.join(differences)}\n")
    off = sum(bool(differences) for differences in wrong.values())
    yield at_most("sizing", f"configs of {len(truth)} whose size is off by a byte or more", off, "", 0)
    slowest = max(answers.values(), key=lambda answer: answer.elapsed_s)
    yield at_most("sizing", f"slowest size, {slowest.name}", slowest.elapsed_s, "s", SECONDS_TARGET)
    busiest = max(answers.values(), key=lambda answer: answer.cpu_s)
    yield at_most("sizing", f"most CPU time of a size, {busiest.name}", busiest.cpu_s, "s", CPU_SECONDS_TARGET)
    largest = max(answers.values(), key=lambda answer: answer.peak_gib)
    yield at_most("sizing", f"peak memory of a size, {largest.name}", largest.peak_gib, "GiB", MEMORY_TARGET_GIB)


class Sized:
    """One `manage.py size --json`, in a process of its own and with nothing kept from earlier.

    cpu_s: of it and the measuring process that it starts; peak_gib: the larger of the two's resident memory.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        command = [sys.executable, "manage.py", "size", str(MODELS / name), "--json", "--tokens"]
        with tempfile.TemporaryDirectory() as data, tempfile.TemporaryFile() as out:
            began_s = time.perf_counter()
            process = subprocess.Popen(
                [*command, *map(str, LENGTHS.values())],
                cwd=ROOT,
                env=os.environ | {"DATA": data},
                stdout=out,
                stderr=subprocess.DEVNULL,
            )
            _, status, usage = os.wait4(process.pid, 0)
            self.elapsed_s = time.perf_counter() - began_s
            process.returncode = self.code = os.waitstatus_to_exitcode(status)
            out.seek(0)
            self.answer: dict[str, Any] = json.loads(out.read())
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.peak_gib = usage.ru_maxrss * KIB / GIB

    def differences(self, truth: Mapping[str, Any]) -> list[str]:
        if "kv_at" not in truth:
            refusal = self.answer.get("error", {})
            good = self.code == 2 and all(refusal.get(part) for part in ("code", "message", "hint"))
            return [] if good else [f"is answered with {self.code} {self.answer}, and transformers cannot build it"]
        if self.code != 0:
            return [f"is refused: {self.answer}"]
        held = {point["tokens"]: point["kv_bytes"] for point in self.answer["points"]}
        layers = self.answer["layers"]
        pairs = {
            "parameters": (self.answer["parameters"], truth["params_exact"]),
            "native context": (self.answer["native_context"], truth.get("native_max_context")),
            "growing layers": (layers["growing"], truth["growing_layers"]),
            "windowed layers": (layers["windowed"], truth["windowed_layers"]),
            "fixed layers": (layers["fixed"], truth["fixed_state_layers"]),
        } | {f"KV at {tokens}": (held[tokens], truth["kv_at"][label]) for label, tokens in LENGTHS.items()}
        return [f"{what} {said}, not {true}" for what, (said, true) in pairs.items() if said != true]
