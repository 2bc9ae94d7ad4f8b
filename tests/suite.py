"""`python -m tests.suite`: the whole suite as `make test` runs it, ending in one line for all of it.

First everything over SQLite, then what touches the database once more over a real PostgreSQL.
"""

import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests import real_model

ROOT = Path(__file__).resolve().parent.parent
DATA_TESTS = ("tests/models", "tests/services", "tests/selectors", "tests/live")
CLOSING_LINE = re.compile(r"^=*\s*((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s")
COUNTED = re.compile(r"(\d+) ([a-z]+)")
WORKERS = min(2, os.cpu_count() or 1)  # more would only share the same cores; a file's tests stay together
AT_ONCE = ["-n", str(WORKERS), "--dist", "loadfile"] if WORKERS > 1 else []
PATIENT_THREADS = {"GOMP_SPINCOUNT": "1000"}  # a torch thread that waits leaves its core to the other worker


def main() -> int:
    began_s = time.monotonic()
    if not _real_model():
        return 1
    counts: Counter[str] = Counter()
    codes = [_run("SQLite", counts, [*AT_ONCE, "tests"], {})]
    if data_tests := [path for path in DATA_TESTS if (ROOT / path).exists()]:
        codes.append(_run("PostgreSQL", counts, data_tests, {"KVPORTAL_TEST_DATABASE": "postgres"}))
    print(closing_line(counts, time.monotonic() - began_s), flush=True)  # noqa: T201  (what the caller reads)
    return int(any(codes))


def _real_model() -> bool:
    """Without a network its tests say that they were skipped; a continuous integration run may not skip them."""
    try:
        real_model.make()
    except real_model.CannotFetch as reason:
        real_model.say(f"The real model could not be fetched, so its tests are skipped: {reason}")
        return os.environ.get("CI") != "true"
    return True


def _run(database: str, counts: Counter[str], arguments: list[str], environment: dict[str, str]) -> int:
    real_model.say(f"\nOver {database}:")
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", *arguments],
        cwd=ROOT,
        env={**PATIENT_THREADS, **os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    last = ""
    assert process.stdout
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        last = line if CLOSING_LINE.match(line) else last
    counts.update(counted(last))
    return process.wait()


def counted(line: str) -> dict[str, int]:
    """`12 passed, 1 skipped in 3.4s` as numbers by outcome."""
    found = CLOSING_LINE.match(line)
    return {outcome.removesuffix("s"): int(number) for number, outcome in COUNTED.findall(found[1])} if found else {}


def closing_line(counts: Counter[str], elapsed_s: float) -> str:
    failed = counts["failed"] + counts["error"]
    return f"{counts['passed']} passed, {failed} failed, {counts['skipped']} skipped in {elapsed_s:.2f}s"


if __name__ == "__main__":
    sys.exit(main())
