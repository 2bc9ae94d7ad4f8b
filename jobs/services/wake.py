"""Wake-ups: Celery carries them, the database holds what there is to do. A lost one is sent again by the sweep."""

import logging

from django.utils import timezone
from kombu.exceptions import OperationalError

from jobs.models import ModelEntry, Notice, PromptCount, Run
from kvportal.celery import INSPECT_QUEUE, app

logger = logging.getLogger(__name__)


def run_wake_send(*, run_id: int, queue: str) -> bool:
    Run.objects.filter(pk=run_id).update(woken_at=timezone.now())
    return _send("jobs.tasks.run_wake", run_id, queue=queue)


def model_inspect_send(*, entry_id: int) -> bool:
    ModelEntry.objects.filter(pk=entry_id).update(woken_at=timezone.now())
    return _send("jobs.tasks.model_inspect", entry_id, queue=INSPECT_QUEUE)


def prompts_count_send(*, count_id: int) -> bool:
    PromptCount.objects.filter(pk=count_id).update(woken_at=timezone.now())
    return _send("jobs.tasks.prompts_count", count_id, queue=INSPECT_QUEUE)


def password_reset_send(*, email: str) -> bool:
    """The one message that is not sent again: who asked is told, and asks again."""
    return _send("jobs.tasks.password_reset", email, queue=INSPECT_QUEUE, again="not sent again", named="…")


def notice_send(*, notice_id: int, attempts: int) -> bool:
    """attempts: those made so far, so that of two messages for one attempt the second does nothing."""
    Notice.objects.filter(pk=notice_id).update(woken_at=timezone.now())
    return _send("jobs.tasks.notice_send", notice_id, attempts, queue=INSPECT_QUEUE)


def _send(
    task: str, *about: int | str, queue: str, again: str = "the sweep will send it again", named: str = ""
) -> bool:
    """False where the broker could not be reached."""
    try:
        app.send_task(task, args=[*about], queue=queue, retry=False)
    except (OperationalError, OSError) as error:
        logger.warning("%s(%s) was not sent, %s: %s", task, named or about[0], again, error)
        return False
    return True
