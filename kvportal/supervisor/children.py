"""All children of one portal: started in order, watched, stopped in order."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from jobs.sizing.refusal import Refusal
from kvportal.supervisor.child import Child, rotate_log
from kvportal.supervisor.service import Service

POLL_S = 0.1
STOP_PATIENCE_S = 3.8
BROKER_PATIENCE_S = 0.6
MOST_FAILURES = 4  # of a vital service, without a steady minute between


class Children:
    def __init__(self, *, logs_dir: Path, say: Callable[[str], None]) -> None:
        self._logs_dir = logs_dir
        self._say = say
        self._broker: Child | None = None
        self._children: list[Child] = []

    def start_broker(self, service: Service) -> None:
        self._broker = self._started(service, {})

    def start(self, service: Service, environment: Mapping[str, str]) -> None:
        self._children.append(self._started(service, environment))

    def watch(self) -> None:
        """Start again what has ended; raises Refusal("will_not_run") for a vital service that will not stay up."""
        for child in self.all:
            sentence = child.watch()
            if sentence is None:
                continue
            if child.service.vital and child.failures >= MOST_FAILURES:
                raise Refusal(
                    "will_not_run",
                    f"{child.service.subject} ended {child.failures} times in a row, so the portal stops.",
                    child.last_words(),
                )
            self._say(sentence)

    @property
    def all(self) -> list[Child]:
        return [*([self._broker] if self._broker else []), *self._children]

    def stop(self) -> None:
        """Everything at once, and the broker last, so that a worker's goodbye finds it."""
        _end(self._children, STOP_PATIENCE_S)
        if self._broker:
            _end([self._broker], BROKER_PATIENCE_S)

    def kill(self) -> None:
        for child in self.all:
            child.kill()

    def _started(self, service: Service, environment: Mapping[str, str]) -> Child:
        child = Child(service, environment=environment, logs_dir=self._logs_dir)
        rotate_log(child.log_path)
        child.start()
        return child


def _end(children: list[Child], patience_s: float) -> None:
    for child in children:
        child.ask_to_stop()
    until_s = time.monotonic() + patience_s
    while any(child.runs for child in children) and time.monotonic() < until_s:
        time.sleep(POLL_S / 2)
    for child in children:
        child.kill()
