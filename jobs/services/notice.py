"""Who is told of a run that ended: rows in the transaction that ends it, sent after it by a worker."""

from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from jobs.models import Channel, Notice, NoticeState, Notify, Run, RunState
from jobs.procedure.limit_change import Found, limit_changed
from jobs.selectors.notice import answer_before
from jobs.services.wake import notice_send

MOST_ATTEMPTS = 4
WAITS_S = (30, 60, 300, 1800)  # after so many attempts, before it is asked for again
FAILURES = frozenset({RunState.FAILED, RunState.LOST})


def notices_make(*, run_id: int) -> None:
    """In the transaction that ends the run; each is sent once that is written."""
    run = Run.objects.select_related("profile").defer("stages", "question", "environment", "profile__question")
    ended = run.get(pk=run_id)
    if not worth_telling(ended):
        return
    for channel, to in [*_mails(ended), *_webhooks(ended)]:
        notice, made = Notice.objects.get_or_create(run=ended, channel=channel, to=to)
        if made:
            transaction.on_commit(partial(notice_send, notice_id=notice.pk, attempts=0))


def worth_telling(run: Run) -> bool:
    """A run that was cancelled is told of only where everything is."""
    notify = run.profile.notify
    if notify == Notify.ALWAYS:
        return True
    if notify == Notify.FAILURE:
        return run.state in FAILURES
    return notify == Notify.CHANGED and run.state == RunState.DONE and run.answered and _changed(run)


def notices_sweep(*, now: datetime) -> int:
    """Asks again for those that are due; how many. One whose last attempt was never heard of has failed."""
    due = Q()
    for attempts, wait_s in enumerate(WAITS_S):
        since = now - timedelta(seconds=wait_s)
        due |= Q(attempts=attempts) & (Q(woken_at__lt=since) | Q(woken_at=None))
    waiting = Notice.objects.filter(state=NoticeState.WAITING)
    for notice in (found := list(waiting.filter(due).only("attempts"))):
        notice_send(notice_id=notice.pk, attempts=notice.attempts)
    silent = waiting.filter(attempts__gte=MOST_ATTEMPTS, woken_at__lt=now - timedelta(seconds=WAITS_S[-1]))
    silent.update(state=NoticeState.FAILED, error="The worker that sent it ended.")
    return len(found)


def _changed(run: Run) -> bool:
    before = answer_before(run)
    return limit_changed(_found(before) if before else None, _found(run))


def _found(run: Run) -> Found:
    return Found(context=run.limit_context, strategy=run.limit_strategy, fits=bool(run.fits))


def _mails(run: Run) -> list[tuple[Channel, str]]:
    """To the profile's owner and to whoever asked for the run, where they want it; to each address once."""
    if not settings.EMAIL_URL:
        return []
    people = User.objects.filter(pk__in=[run.profile.owner_id, run.submitted_by_id], is_active=True)
    told = people.exclude(email="").exclude(membership__email_told=False).order_by("pk")
    return [(Channel.EMAIL, to) for to in dict.fromkeys(told.values_list("email", flat=True))]


def _webhooks(run: Run) -> list[tuple[Channel, str]]:
    address = run.profile.webhook or settings.WEBHOOK_URL
    return [(Channel.WEBHOOK, address)] if address else []
