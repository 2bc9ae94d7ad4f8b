"""Runs set side by side, as an address names them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from jobs.models import Measurement, Profile, Run

MOST_COMPARED = 6
MOST_PK = 2**63 - 1
RUN, PROFILE = "run", "profile"


@dataclass(frozen=True, kw_only=True)
class Named:
    """“run” or “profile”, and its number as the address has it."""

    kind: str
    number: str


@dataclass(frozen=True, kw_only=True)
class Found:
    """runs, in the order in which they were named, each once; missing: what is not there, or twice, in sentences."""

    runs: Sequence[Run]
    missing: Sequence[str]


def runs_compared(named: Sequence[Named]) -> Found:
    """A profile stands for its latest answer, so that an address stays good when there is a later one.

    Two queries, however many are named.
    """
    profiles = _rows(Profile.objects.only("name", "answer_run"), named, PROFILE)
    answers = [profile.answer_run_id for profile in profiles.values()]
    runs = {run.pk: run for run in _runs().filter(Q(pk__in=_numbers(named, RUN)) | Q(pk__in=answers))}
    missing: list[str] = []
    found: dict[int, Run] = {}
    again: list[int] = []
    for name in named:
        profile = profiles.get(_number(name.number)) if name.kind == PROFILE else None
        run = runs.get(profile.answer_run_id or 0 if profile else _number(name.number) if name.kind == RUN else 0)
        if run is None:
            missing.append(_missing(name, profile))
        elif run.pk in found:
            again.append(run.pk)
        else:
            found[run.pk] = run
    most = list(found.values())
    missing += [f"Run {run.pk} is left out: at most {MOST_COMPARED} are compared." for run in most[MOST_COMPARED:]]
    missing += [f"Two of what was chosen are the same run, run {pk}: it is shown once." for pk in dict.fromkeys(again)]
    return Found(runs=most[:MOST_COMPARED], missing=list(dict.fromkeys(missing)))


def measurements_by_run(runs: Iterable[Run]) -> dict[int, list[dict[str, Any]]]:
    """The contract's MEASUREMENTs of each, as they were made, in one query."""
    made: dict[int, list[dict[str, Any]]] = {run.pk: [] for run in runs}
    for row in Measurement.objects.filter(run__in=made).order_by("pk").only("run_id", "data"):
        made[row.run_id].append(row.data)
    return made


def runs_to_compare(words: str) -> QuerySet[Run]:
    """Those with an answer, the newest first, without what lists do not print; words: of the profile or its model."""
    found = Run.objects.filter(answered=True).select_related("profile", "model_entry").order_by("-queued_at", "-pk")
    if words:
        found = found.filter(Q(profile__name__icontains=words) | Q(model_entry__name__icontains=words))
    return found.defer("stages", "question", "environment", "error", *_HEAVY)


_HEAVY = ("model_entry__record", "model_entry__spec", "profile__question", "profile__notes")


def _runs() -> QuerySet[Run]:
    return Run.objects.select_related("model_entry", "profile__worker", "worker").defer(*_HEAVY[:2])


def _rows(rows: QuerySet[Profile], named: Sequence[Named], kind: str) -> dict[int, Profile]:
    numbers = _numbers(named, kind)
    return {row.pk: row for row in rows.filter(pk__in=numbers)} if numbers else {}


def _numbers(named: Sequence[Named], kind: str) -> list[int]:
    return [_number(name.number) for name in named if name.kind == kind]


def _number(text: str) -> int:
    """0, which no row has, for what is no number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= MOST_PK else 0


def _missing(name: Named, profile: Profile | None) -> str:
    if profile is not None:
        return f"“{profile.name}” (profile {profile.pk}) has no answer yet."
    if not _number(name.number):
        return f"“{name.number[:20]}” is no {name.kind}’s number."
    return f"There is no {name.kind} {name.number}."
