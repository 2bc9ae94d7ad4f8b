"""A stand-in for MEASURING_PYTHON: a program that speaks the measuring protocol and measures nothing.

It lies in a folder of its own; `plan.json` beside it says at which contexts it never answers, and `pids` holds a line
for each process started: "PID" and, at each measurement, "PID CONTEXT".
"""

import json
import sys
from pathlib import Path

from tests.factories import VERSIONS

PROGRAM = """#!{python}
import ctypes, json, os, signal, sys
from pathlib import Path

ctypes.CDLL(None).prctl(1, signal.SIGKILL)
HERE = Path(__file__).parent
PLAN = json.loads((HERE / "plan.json").read_text())
VERSIONS = {versions}
DEVICE = {{"device": "cpu", "kind": "cpu", "name": "A stand-in", "capacity_bytes": 2**30}}

def note(text):
    with (HERE / "pids").open("a") as pids:
        pids.write(text + "\\n")

def say(**line):
    print(json.dumps(line), flush=True)

def measure(ask):
    context = ask["prompt_tokens"] + ask["answer_tokens"]
    note(f"{{os.getpid()}} {{context}}")
    if context in PLAN["silent_at"]:
        signal.pause()
    same = {{name: ask[name] for name in ("strategy", "stage", "sequences")}}
    return same | {{
        "context": context, "prompt": ask["prompt_tokens"], "answer": ask["answer_tokens"], "outcome": "ok",
        "error": None, "peak_bytes": 2000 + 100 * context, "kv_bytes": 64 * context, "kv_prefill_bytes": 64 * context,
        "working_bytes": 1000, "host_bytes": 0, "ttft_s": 0.1, "decode_tokens_per_s": 10.0, "total_s": 1.0,
        "repeats": 1, "spread": None, "settings": {{"do_sample": False}},
    }}

ANSWERS = {{
    "fetch": lambda request: {{"revision": "c" * 40, "bytes": 7, "fetched_bytes": 7, "seconds": 0.0}},
    "load": lambda request: {{
        "weights_bytes": 2000, "parameters": 1000, "load_s": 0.1, "random_weights": True, "device": DEVICE,
        "environment": VERSIONS,
    }},
    "measure": measure,
    "warm": lambda request: {{"applicable": {{"default": True}}, "quanto": True}},
}}
note(str(os.getpid()))
say(id=None, event="hello", pid=os.getpid(), versions=VERSIONS, devices=[DEVICE])
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "quit":
        break
    say(id=request["id"], event="result", data=ANSWERS[request["do"]](request))
"""


class MeasuringPython:
    """`path` is what MEASURING_PYTHON takes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "python"
        self.path.write_text(PROGRAM.format(python=sys.executable, versions=json.dumps(VERSIONS)))
        self.path.chmod(0o755)
        self.stay_silent_at()

    def stay_silent_at(self, *contexts: int) -> None:
        (self.folder / "plan.json").write_text(json.dumps({"silent_at": contexts}))

    def lines(self) -> list[list[int]]:
        """What was noted, each complete line as its numbers."""
        notes = self.folder / "pids"
        whole = notes.read_text().split("\n")[:-1] if notes.exists() else []
        return [[int(word) for word in line.split()] for line in whole]

    def pids(self) -> set[int]:
        return {line[0] for line in self.lines()}

    def measured(self) -> list[int]:
        """The contexts asked for, in order."""
        return [line[1] for line in self.lines() if len(line) == 2]
