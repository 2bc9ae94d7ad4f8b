"""What is told of a run that ended, as an e-mail and as a webhook's message."""

import re
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import reverse

from jobs.models import Run, RunState
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import Strategy

ENDED = {RunState.FAILED: "Failed", RunState.LOST: "Lost", RunState.CANCELLED: "Cancelled", RunState.DONE: "No answer"}
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")


@dataclass(frozen=True, kw_only=True)
class Told:
    """subject is one line; url leads to the run."""

    subject: str
    lines: tuple[str, ...]
    url: str
    profile_url: str


def told_of(run: Run, before: Run | None) -> Told:
    """before: the profile's answer until then."""
    model, device = one_line(run.model_entry.name), one_line(_device(run))
    lines = [f"Profile: {one_line(run.profile.name)}", *_answer(run), *_before(before), *_error(run)]
    url = settings.PUBLIC_URL + reverse("run", args=[run.pk])
    profile_url = settings.PUBLIC_URL + reverse("profile", args=[run.profile_id])
    subject = f"{_verdict(run)} {model} on {device}"[:200]
    return Told(subject=subject, lines=tuple(lines), url=url, profile_url=profile_url)


def mail_body(told: Told) -> str:
    account = settings.PUBLIC_URL + reverse("account")
    end = (
        "You are told because you own this profile or asked for this run.",
        f"When its runs are told is chosen on the profile's page: {told.profile_url}#told",
        f"Mails to you, of all profiles, are switched off at {account}",
    )
    return "\n".join([told.subject, "", *told.lines, "", told.url, "", "--", *end, ""])


def webhook_message(told: Told, run: Run) -> dict[str, Any]:
    """Slack shows `text`; the rest is for programs."""
    text = "\n".join([f"*{_escaped(told.subject)}*", *map(_escaped, told.lines), told.url])
    return {
        "text": text,
        "run": run.pk,
        "profile": run.profile.name,
        "state": run.state,
        "limit": run.limit_context,
        "strategy": run.limit_strategy or None,
        "url": told.url,
    }


def one_line(text: str) -> str:
    """Without line ends, which would begin another header of a mail, and without marks that nobody sees."""
    return " ".join(UNSEEN.sub(" ", text).split())


def _verdict(run: Run) -> str:
    if run.state != RunState.DONE or not run.answered:
        return f"{ENDED[RunState(run.state)]}:"
    return "Nothing fits:" if run.limit_context is None else f"Max context {run.limit_context:,} for"


def _answer(run: Run) -> list[str]:
    if run.state != RunState.DONE or not run.answered:
        return []
    fits = "The whole workload fits." if run.fits else "The whole workload does not fit."
    strategy = [f"With: {_strategy(run.limit_strategy)}"] if run.limit_strategy else []
    return [*strategy, fits]


def _before(before: Run | None) -> list[str]:
    if before is None:
        return []
    if before.limit_context is None:
        return ["Before: nothing fitted"]
    return [f"Before: {before.limit_context:,} with {_strategy(before.limit_strategy)}"]


def _error(run: Run) -> list[str]:
    error = run.error or {}
    return [one_line(str(error[name])) for name in ("message", "hint") if error.get(name)]


def _device(run: Run) -> str:
    named = (run.device or {}).get("name")
    return str(named or (run.worker.device_name if run.worker else "a device that is gone"))


def _strategy(name: str) -> str:
    """A name from an older release stays as it is."""
    try:
        return Strategy.parse(name).label
    except Refusal:
        return name


def _escaped(text: str) -> str:
    """As Slack asks: otherwise a profile's name could call the whole channel."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
