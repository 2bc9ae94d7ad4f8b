"""Whether the revision of a Hub model stands for another commit than it did: the Hub is asked seldom and little."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from jobs.models import EntryState, ModelEntry, Run
from jobs.running.hub_commit import HubUnreached, hub_commit, is_commit
from jobs.services.freshness import profiles_freshen
from jobs.sizing.model_spec import ModelKind

logger = logging.getLogger(__name__)
LOOK_AGAIN_AFTER = timedelta(days=1)
UNREACHED_AGAIN_AFTER = timedelta(hours=1)
MOST_A_ROUND = 3
PINNED = r"^[0-9a-f]{40}$"


def hub_look(
    *, now: datetime | None = None, most: int = MOST_A_ROUND, ask: Callable[[str, str], str | None] = hub_commit
) -> int:
    """Ask about a few models that have answers and were not asked about for a day; returns how many have moved.

    A Hub that does not answer is left alone for an hour, and nothing is taken to have changed.
    """
    now = now or timezone.now()
    moved = 0
    for entry in _due(now)[:most]:
        try:
            commit = ask(entry.name, entry.revision)
        except HubUnreached:
            _due(now).update(looked_at=now - LOOK_AGAIN_AFTER + UNREACHED_AGAIN_AFTER)
            break
        ModelEntry.objects.filter(pk=entry.pk).update(looked_at=now)
        moved += bool(commit and commit_see(entry=entry, commit=commit))
    return moved


def commit_see(*, entry: ModelEntry, commit: str) -> bool:
    """The entry's revision stands for this commit; whether that was another before.

    Its record is made anew by whoever measures it next: it names the commit that it is of.
    """
    if not ModelEntry.objects.filter(~Q(seen_commit=commit), pk=entry.pk).update(seen_commit=commit):
        return False
    if entry.seen_commit:
        logger.info("%s is at commit %s now", entry, commit)
        entry.prompt_counts.all().delete()  # the tokenizer may have changed too
    profiles_freshen(of=Q(model_entry=entry))
    return bool(entry.seen_commit)


def commit_learn(*, run_id: int) -> None:
    """When a run has ended: what it fetched is news of its model, to be looked at where it says otherwise than was
    known: the worker may have had an older commit without a network."""
    run = Run.objects.select_related("model_entry").defer("stages", "model_entry__record")
    entry, environment = (found := run.get(pk=run_id)).model_entry, found.environment
    commit = str(environment.get("model_revision") or "")
    if entry.kind != ModelKind.HUB or is_commit(entry.revision) or not is_commit(commit):
        return
    if commit != entry.seen_commit:
        ModelEntry.objects.filter(pk=entry.pk).update(looked_at=None)
        commit_see(entry=entry, commit=commit)


def _due(now: datetime) -> QuerySet[ModelEntry]:
    """Those never looked at first."""
    unlooked = Q(looked_at=None) | Q(looked_at__lte=now - LOOK_AGAIN_AFTER)
    answered = Q(profiles__answer_run__isnull=False, profiles__archived_at=None)
    due = ModelEntry.objects.filter(unlooked, kind=str(ModelKind.HUB), state=EntryState.READY)
    answers = ModelEntry.objects.filter(answered).values("pk")
    ordered = due.exclude(revision__regex=PINNED).filter(pk__in=answers).order_by(F("looked_at").asc(nulls_first=True))
    return ordered.defer("record", "spec")
