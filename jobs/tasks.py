"""What wake-ups call: fetch, then a service. The number says who rang; the database says what there is to do."""

import logging

from celery import shared_task
from django.conf import settings

from jobs import device_worker  # noqa: F401  (a worker's start and end are heard from here on)
from jobs.models import Worker
from jobs.models.worker import worker_name
from jobs.services.claim import run_claim
from jobs.services.execute import run_execute
from jobs.services.model_reading import model_entry_inspect
from jobs.services.notice_sending import notice_deliver
from jobs.services.password_reset import password_reset_mail
from jobs.services.prompt_count import prompt_count_make

logger = logging.getLogger(__name__)


@shared_task
def run_wake(run_id: int) -> None:
    """Work off this device's queue, the oldest first, until nothing waits, or a run was taken
    away: then this worker is about to end. Ringing twice changes nothing."""
    worker = Worker.objects.filter(name=worker_name(settings.KVPORTAL_DEVICE)).first()
    if worker is None:
        logger.warning("run %s rang, but no device is registered here", run_id)
        return
    while (claim := run_claim(worker=worker)) and run_execute(claim=claim):
        pass


@shared_task
def model_inspect(entry_id: int) -> None:
    model_entry_inspect(entry_id)


@shared_task
def prompts_count(count_id: int) -> None:
    prompt_count_make(count_id)


@shared_task
def password_reset(email: str) -> None:
    password_reset_mail(email)


@shared_task
def notice_send(notice_id: int, attempts: int) -> None:
    notice_deliver(notice_id=notice_id, attempts=attempts)
