"""Speaks the measuring process's protocol without a model, and has the fault that a measurement's stage names
(or, while loading, the precision).

`python -m tests.running.fake_measuring --parent PID`; faults: see FAULTS. The peak it reports is the answer's tokens.
"""

import json
import os
import signal
import sys
import time
from typing import Any

from jobs.measuring.parent import die_with_parent

LOADED = {
    "weights_bytes": 100,
    "parameters": 50,
    "load_s": 0.0,
    "random_weights": True,
    "device": {"device": "cpu", "name": "fake", "kind": "cpu", "capacity_bytes": 1000},
    "environment": {},
}


def say(request_id: Any, event: str, **fields: Any) -> None:
    sys.stdout.write(json.dumps({"id": request_id, "event": event, **fields}) + "\n")
    sys.stdout.flush()


def die_by(number: int) -> None:
    sys.stderr.write("its last words\n")
    sys.stderr.flush()
    signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
    os.kill(os.getpid(), number)


def forever() -> None:
    while True:
        time.sleep(1)


FAULTS = {
    "segfault": lambda enforce: die_by(signal.SIGSEGV),
    "segfault under the limit": lambda enforce: die_by(signal.SIGSEGV) if enforce else None,
    "abort under the limit": lambda enforce: die_by(signal.SIGABRT) if enforce else None,
    "killed": lambda enforce: die_by(signal.SIGKILL),
    "hang": lambda enforce: forever(),
    "exit": lambda enforce: sys.exit(3),
}


def measurement(ask: dict[str, Any]) -> dict[str, Any]:
    peak = ask["answer_tokens"]
    fits = peak <= ask["capacity_bytes"]
    return {
        "strategy": ask["strategy"],
        "context": ask["prompt_tokens"] + ask["answer_tokens"],
        "prompt": ask["prompt_tokens"],
        "answer": ask["answer_tokens"],
        "sequences": ask["sequences"],
        "stage": ask["stage"],
        "outcome": "ok" if fits else "out_of_memory",
        "error": None if fits else {"code": "out_of_memory", "message": "above"},
        "peak_bytes": peak,
        "settings": {"pid": os.getpid(), "enforce": ask["enforce"]},
    }


def answer(request: dict[str, Any]) -> None:
    request_id, do = request["id"], request["do"]
    if do == "load":
        say(request_id, "progress", message="loading")
        FAULTS.get(request["dtype"], lambda enforce: None)(False)
        say(request_id, "result", data=LOADED)
    elif do == "environment":
        say(request_id, "result", data=dict(os.environ))
    elif do == "refuse":
        say(request_id, "error", error={"code": "gated", "message": "No.", "hint": "Ask."})
    elif do == "measure":
        if request["stage"] in FAULTS:
            FAULTS[request["stage"]](request["enforce"])
        say(request_id, "result", data=measurement(request), restart=request["stage"] == "restart")
    elif do in FAULTS:
        FAULTS[do](True)


def main() -> None:
    die_with_parent(int(sys.argv[2]))
    say(None, "hello", pid=os.getpid(), versions={}, devices=[LOADED["device"]])
    for line in sys.stdin:
        answer(json.loads(line))


if __name__ == "__main__":
    main()
