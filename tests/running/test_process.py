import os
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import monotonic

import pytest

from jobs.procedure.measurement import Cancelled
from jobs.running.process import ROOT, MeasuringProcess, OutOfTime, ProcessDied, ProcessHung
from jobs.sizing.refusal import Refusal

LOAD = {"model": {}, "dtype": "bfloat16", "device": "cpu", "attention": "sdpa"}
# Five times the bounds that hold on a quiet machine.
NOTICED_S = 5 * 0.25
GONE_S = 5 * 1.0


def is_running(pid: int) -> bool:
    """A process that ended and waits to be collected runs no longer."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pid: int, within_s: float) -> None:
    until = monotonic() + within_s
    while is_running(pid) and monotonic() < until:
        os.sched_yield()
    assert not is_running(pid)


def test_the_first_line_says_who_it_is(process: MeasuringProcess) -> None:
    assert process.hello["pid"] == process.pid
    assert process.hello["devices"][0]["device"] == "cpu"


def test_progress_is_told_and_the_data_returned(process: MeasuringProcess) -> None:
    told: list[str] = []
    assert process.request("load", patience_s=30, tell=told.append, **LOAD)["weights_bytes"] == 100
    assert told == ["loading"]


def test_an_error_is_a_refusal_with_its_hint_and_the_process_goes_on(process: MeasuringProcess) -> None:
    with pytest.raises(Refusal) as refused:
        process.request("refuse", patience_s=30)
    assert refused.value.as_json() == {"code": "gated", "message": "No.", "hint": "Ask."}
    assert process.request("load", patience_s=30, **LOAD)


def test_a_crash_says_its_signal_and_its_last_words(process: MeasuringProcess) -> None:
    with pytest.raises(ProcessDied) as died:
        process.request("segfault", patience_s=30)
    assert died.value.signal_number == signal.SIGSEGV
    assert died.value.how == "signal SIGSEGV"
    assert "its last words" in died.value.last_words
    assert not process.is_alive


def test_an_exit_says_its_code(process: MeasuringProcess) -> None:
    with pytest.raises(ProcessDied) as died:
        process.request("exit", patience_s=30)
    assert (died.value.exit_code, died.value.signal_number) == (3, None)


def test_a_request_to_a_dead_process_says_that_it_died(process: MeasuringProcess) -> None:
    process.kill()
    with pytest.raises(ProcessDied) as died:
        process.request("load", patience_s=30, **LOAD)
    assert died.value.signal_number == signal.SIGKILL


def test_silence_beyond_the_patience_is_a_hang_and_the_process_is_gone(process: MeasuringProcess) -> None:
    with pytest.raises(ProcessHung):
        process.request("hang", patience_s=0.3)
    assert not is_running(process.pid)


def test_a_deadline_ends_it(process: MeasuringProcess) -> None:
    with pytest.raises(OutOfTime):
        process.request("hang", patience_s=30, deadline=monotonic() + 0.3)
    assert not is_running(process.pid)


def test_a_cancel_is_noticed_and_the_process_gone(process: MeasuringProcess) -> None:
    asked_at: list[float] = []

    def cancelled() -> bool:
        asked_at.append(monotonic())
        return len(asked_at) > 3

    with pytest.raises(Cancelled):
        process.request("hang", patience_s=60, cancelled=cancelled)
    assert monotonic() - asked_at[-1] < GONE_S
    assert all(later - earlier < NOTICED_S for earlier, later in pairwise(asked_at))
    assert not is_running(process.pid)


def test_a_cancel_before_the_first_line_ends_the_start(start: Callable[..., MeasuringProcess]) -> None:
    with pytest.raises(Cancelled), start(cancelled=lambda: True):
        pass


def test_nothing_is_left_after_the_block(start: Callable[..., MeasuringProcess]) -> None:
    with start() as process:
        pid = process.pid
        assert os.getpgid(pid) == pid
    assert not is_running(pid)


def test_it_dies_with_the_process_that_started_it() -> None:
    program = (
        "from jobs.running.process import MeasuringProcess\n"
        "process = MeasuringProcess(module='tests.running.fake_measuring').__enter__()\n"
        "print(process.pid, flush=True)\n"
        "process.request('hang', patience_s=600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        pid = int(parent.stdout.readline())
        assert is_running(pid)
        parent.kill()
        parent.wait()
    wait_until_gone(pid, GONE_S)


def test_one_whose_parent_is_already_gone_ends_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "jobs.measuring", "--parent", "1"], cwd=ROOT, stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == 1
