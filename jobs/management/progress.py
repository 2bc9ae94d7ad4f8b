"""A run's events as lines for a person: on a terminal with what goes on at the bottom, elsewhere line by line."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from jobs.procedure.events import Event, EventKind
from jobs.procedure.words import bytes_text, seconds_text, speed_text, tokens_text
from jobs.sizing.strategy import Strategy

CLEAR_LINE = "\r\x1b[K"
LABEL_WIDTH, CONTEXT_WIDTH = 26, 16
STAGE_TITLES = {
    "download": "Download",
    "budgets": "1 Budgets",
    "baseline": "2 Baseline",
    "changes": "3 Changes",
    "limit": "4 Limit",
}


class Stream(Protocol):
    def write(self, text: str) -> object: ...
    def flush(self) -> object: ...
    def isatty(self) -> bool: ...


@dataclass(kw_only=True)
class Progress:
    stream: Stream
    going_on: str = ""

    def event(self, event: Event) -> None:
        match event.kind:
            case EventKind.STAGE_STARTED:
                self._line(STAGE_TITLES[event.data["stage"]])
            case EventKind.STAGE_FINISHED if event.data["stage"] == "download":
                self._line(f"  {_downloaded(event.data['result'])}")
            case EventKind.MEASURING:
                self.tell(_point(event.data))
            case EventKind.MEASUREMENT:
                self._line(f"  {measurement_line(event.data)}")
            case EventKind.LOADED:
                self._line(f"  loaded in {seconds_text(event.data['load_s'])}: {_weights(event.data)}")
            case EventKind.LOG:
                self._line(f"  {event.data['message']}")

    def tell(self, text: str) -> None:
        """What goes on right now: shown on a terminal alone, until the next line."""
        self.going_on = text
        if self.stream.isatty():
            self.stream.write(f"{CLEAR_LINE}  … {text}")
            self.stream.flush()

    def say(self, text: str) -> None:
        """A line that stays."""
        self._line(text)

    def done(self) -> None:
        if self.going_on and self.stream.isatty():
            self.stream.write(CLEAR_LINE)
            self.stream.flush()
        self.going_on = ""

    def _line(self, text: str) -> None:
        self.done()
        self.stream.write(f"{text}\n")
        self.stream.flush()


def _downloaded(result: Mapping[str, Any]) -> str:
    whole, fresh = result["bytes"], result["fetched_bytes"]
    if not fresh:
        return f"nothing to download: all {bytes_text(whole)} were here"
    return f"{bytes_text(fresh)} of {bytes_text(whole)} downloaded in {seconds_text(result['seconds'])}"


def measurement_line(data: Mapping[str, Any]) -> str:
    if data["outcome"] != "ok":
        return f"{_point(data)}{data['outcome'].replace('_', ' ')}"
    figures = [bytes_text(data["peak_bytes"])]
    if data["ttft_s"] is not None:
        figures.append(f"first token {seconds_text(data['ttft_s'])}")
    if data["decode_tokens_per_s"] is not None:
        figures.append(speed_text(data["decode_tokens_per_s"]))
    return _point(data) + ", ".join(figures)


def _point(data: Mapping[str, Any]) -> str:
    label = Strategy.parse(data["strategy"]).label
    return f"{label:<{LABEL_WIDTH}}{tokens_text(data['context']):<{CONTEXT_WIDTH}}"


def _weights(data: Mapping[str, Any]) -> str:
    kind = " (random weights: an architecture only)" if data["random_weights"] else ""
    return f"weights {bytes_text(data['weights_bytes'])} on {data['device'].get('name', 'the device')}{kind}"
