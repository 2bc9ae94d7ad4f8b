"""What has become of a shared answer since, in sentences without a link inside."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.exports.share_text import strategy_text
from jobs.selectors.share_since import Limit, Since
from jobs.web.formats import tokens


@dataclass(frozen=True, kw_only=True)
class Note:
    """tone: warn or good."""

    head: str
    text: str
    tone: str


def day(when: datetime | str) -> str:
    """“1 December 2026”, in UTC."""
    moment = datetime.fromisoformat(when) if isinstance(when, str) else when
    return f"{moment.day} {moment:%B %Y}"


def since_notes(since: Since, taken: Mapping[str, Any]) -> list[Note]:
    found = [_measured(since, taken["limit"]), _decided(since, taken["adopted"]), _asked(since)]
    return [note for note in found if note]


def _measured(since: Since, limit: Mapping[str, Any]) -> Note | None:
    if since.measured_at is None or since.now is None:
        return None
    later = "a later measurement, of a changed question," if since.of_another_question else "a later measurement"
    if not since.superseded:
        return Note(head=f"Confirmed again on {day(since.measured_at)}", text=f"{later} says the same.", tone="good")
    before = _limit(Limit(context=limit["context"], strategy=limit["strategy"]))
    text = f"{later} says {_limit(since.now)}, in place of {before}."
    return Note(head=f"Superseded on {day(since.measured_at)}", text=text, tone="warn")


def _decided(since: Since, adopted: Mapping[str, Any] | None) -> Note | None:
    if since.decided_at is None:
        return None
    if since.adopted is None:
        return Note(head=f"Withdrawn on {day(since.decided_at)}", text="the team took its decision back.", tone="warn")
    before = f", in place of {_limit(Limit(**adopted))}" if adopted else ""
    text = f"the team decided for {_limit(since.adopted)}{before}."
    return Note(head=f"Adopted on {day(since.decided_at)}", text=text, tone="warn" if adopted else "")


def _asked(since: Since) -> Note | None:
    if not since.asked_otherwise:
        return None
    text = "the question was changed, and is not measured anew yet."
    return Note(head="Asked otherwise since", text=text, tone="warn")


def _limit(limit: Limit) -> str:
    if limit.context is None:
        return "that nothing fits"
    return f"{tokens(limit.context)} {strategy_text(limit.strategy)}"
