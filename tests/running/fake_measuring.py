"""Speaks the measuring process's protocol without a model, and has the fault that a measurement's stage names
(or, while loading, the precision).

`python -m tests.running.fake_measuring --parent PID`; faults: see FAULTS. The peak it reports is the answer's tokens.
"""

import hashlib
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
LEAKED_BYTES = 50 * 2**20
MEASURED: list[Any] = []
"""Of this process: a leak is told before any measurement but the first."""


LOADED_WITH: dict[str, Any] = {}
"""What the last load was given beside the model; measurements tell it."""


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


def quote(request_id: Any) -> None:
    """As libraries do: what the process was given in confidence, in every way that it can speak."""
    token, proxy = os.environ["HF_TOKEN"], os.environ["HTTPS_PROXY"]
    text = (
        f"407 from {proxy} for https://cdn.example/x?Signature=abc%2Fdef&Expires=1 with Authorization: Bearer {token}"
    )
    say(request_id, "progress", message=text)
    sys.stderr.write(f"Traceback: {token[:5]}")
    sys.stderr.flush()
    say(request_id, "progress", message=f"{token} alone")
    sys.stderr.write(f"{token[5:]} was cut in two\n{text}\n")
    sys.stderr.flush()
    say(request_id, "error", error={"code": "load_failed", "message": text, "hint": proxy})


FAULTS = {
    "segfault": lambda enforce: die_by(signal.SIGSEGV),
    "segfault under the limit": lambda enforce: die_by(signal.SIGSEGV) if enforce else None,
    "abort under the limit": lambda enforce: die_by(signal.SIGABRT) if enforce else None,
    "killed": lambda enforce: die_by(signal.SIGKILL),
    "hang": lambda enforce: forever(),
    "exit": lambda enforce: sys.exit(3),
}

SCORING_FAULTS = {1: "segfault", 2: "hang"}
"""By the seed of what is to be scored."""

SPENT_BY_SCORING = 3
"""The seed after whose score the process asks to be replaced."""

SPENT: dict[str, dict[str, Any]] = {
    "restart": {},
    "refused": {"outcome": "out_of_memory", "error": {"code": "out_of_memory", "message": "refused"}},
    "device assert": {"outcome": "failed", "error": {"code": "device_assert", "message": "asserted"}},
}
"""After these the process asks to be replaced."""


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
        "settings": {"pid": os.getpid(), "enforce": ask["enforce"], **LOADED_WITH},
    }


def environment(request: dict[str, Any]) -> dict[str, Any]:
    return {"threads": os.environ.get("OMP_NUM_THREADS"), "revision": request["model"].get("revision")}


def answer(request: dict[str, Any]) -> None:
    request_id, do = request["id"], request["do"]
    if do == "quote" or request.get("weights") == "quote":
        quote(request_id)
    elif do == "load":
        LOADED_WITH["prompts"] = request.get("prompts")
        say(request_id, "progress", message="loading")
        FAULTS.get(request["dtype"], lambda enforce: None)(False)
        say(request_id, "result", data=LOADED | {"environment": environment(request)})
    elif do == "fetch":
        say(request_id, "progress", message="Downloading: half.")
        FAULTS.get(request["weights"], lambda enforce: None)(False)
        say(request_id, "result", data={"revision": "c" * 40, "bytes": 7, "fetched_bytes": 7, "seconds": 0.0})
    elif do == "quality":
        FAULTS.get(SCORING_FAULTS.get(request["seed"], ""), lambda enforce: None)(True)
        data = {"strategy": request["strategy"], "context": request["context_tokens"], "outcome": "ok", "mean_kl": 0.5}
        say(request_id, "result", data=data, restart=request["seed"] == SPENT_BY_SCORING)
    elif do == "environment":
        say(request_id, "result", data=dict(os.environ))
    elif do == "digests":
        digests = {name: hashlib.sha256(value.encode()).hexdigest() for name, value in os.environ.items()}
        say(request_id, "result", data=digests)
    elif do == "refuse":
        say(request_id, "error", error={"code": "gated", "message": "No.", "hint": "Ask."})
    elif do == "measure" and request["stage"] == "leak" and MEASURED:
        say(request_id, "result", data={"leaked_bytes": LEAKED_BYTES}, restart=True)
    elif do == "measure":
        MEASURED.append(request_id)
        if request["stage"] in FAULTS:
            FAULTS[request["stage"]](request["enforce"])
        data = measurement(request) | SPENT.get(request["stage"], {})
        say(request_id, "result", data=data, restart=request["stage"] in SPENT)
    elif do in FAULTS:
        FAULTS[do](True)


def main() -> None:
    die_with_parent(int(sys.argv[2]))
    say(None, "hello", pid=os.getpid(), versions={}, devices=[LOADED["device"]])
    for line in sys.stdin:
        answer(json.loads(line))


if __name__ == "__main__":
    main()
