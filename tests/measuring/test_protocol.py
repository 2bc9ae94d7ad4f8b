"""The real process, spoken to line by line."""

import json
import subprocess
import sys
from typing import Any

from jobs.running.process import ROOT


def spoken(*lines: str, before: str = "") -> list[dict[str, Any]]:
    """All that a process answers to these lines, each of which must be JSON."""
    program = f"{before}\nimport runpy\nrunpy.run_module('jobs.measuring', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_what_libraries_print_never_reaches_the_answers() -> None:
    noisy = (
        "import os, torch\n"
        "count = torch.cuda.is_available\n"
        "def loud():\n"
        "    print('Downloading…'); os.write(1, b'from C\\n'); os.system('echo from a child')\n"
        "    return count()\n"
        "torch.cuda.is_available = loud\n"
    )
    answers = spoken(
        '{"id": 1, "do": "load", "model": {"kind": "architecture", "name": "x"}, "device": "no"}', before=noisy
    )
    assert [answer["event"] for answer in answers] == ["hello", "error"]


def test_nonsense_is_answered_and_the_process_goes_on_until_quit() -> None:
    lines = "not json", "[1]", '{"id": 7, "do": "fly"}', '{"id": 8, "do": "measure"}', '{"id": 9, "do": "quit"}', "{}"
    answers = spoken(*lines)
    assert [answer.get("id") for answer in answers] == [None, None, None, 7, 8]
    codes = [answer["error"]["code"] for answer in answers[1:]]
    assert codes == ["bad_request", "bad_request", "bad_request", "load_failed"]
