"""JSON lines in and out (docs/measuring-protocol.md), kept apart from whatever libraries print or ask."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from jobs.sizing.refusal import Refusal


def take_standard_streams() -> tuple[TextIO, TextIO]:
    """The real standard input and output for the protocol; fd 0 then reads nothing and fd 1 goes to fd 2."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


class Answers:
    """Writes the lines that answer one request after another."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._id: Any = None

    def begin(self, request_id: Any) -> None:
        self._id = request_id

    def _line(self, event: str, **fields: Any) -> None:
        self._out.write(json.dumps({"id": self._id, "event": event, **fields}) + "\n")
        self._out.flush()

    def hello(self, data: Mapping[str, Any]) -> None:
        self._line("hello", **data)

    def tell(self, message: str) -> None:
        self._line("progress", message=message)

    def result(self, data: Mapping[str, Any], *, restart: bool = False) -> None:
        self._line("result", data=data, restart=restart)

    def refuse(self, refusal: Refusal, *, restart: bool = False) -> None:
        self._line("error", error=refusal.as_json(), restart=restart)


def requests_in(lines: TextIO) -> Iterator[dict[str, Any]]:
    """Each request; a line that is none becomes one that nothing answers to."""
    for line in lines:
        try:
            request = json.loads(line)
        except json.JSONDecodeError:
            request = None
        yield request if isinstance(request, dict) else {"id": None, "do": "?"}
