"""A notice is sent: at most four times, each attempt counted before it is made."""

import logging
import smtplib

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import F
from django.utils import timezone

from jobs.models import Channel, Notice, NoticeState
from jobs.selectors.notice import answer_before, notice_get
from jobs.services.notice import MOST_ATTEMPTS
from jobs.services.notice_text import mail_body, told_of, webhook_message
from jobs.services.webhook import Reach, WebhookFailed, webhook_post
from jobs.sizing.refusal import Refusal

logger = logging.getLogger(__name__)


class NotSent(Exception):
    """Why, in a sentence without a secret."""


def notice_deliver(*, notice_id: int, attempts: int, reach: Reach | None = None) -> bool:
    """attempts: as many as were made when it was asked for, so that a message that was asked for twice, or was heard
    of late, is sent once. False where it was not sent: the sweep asks again, or it has failed."""
    mine = Notice.objects.filter(pk=notice_id, state=NoticeState.WAITING, attempts=attempts)
    if attempts >= MOST_ATTEMPTS or not mine.update(attempts=F("attempts") + 1, woken_at=timezone.now()):
        return False
    notice = notice_get(notice_id)
    try:
        _send(notice, reach)
    except NotSent as reason:
        state = NoticeState.FAILED if notice.attempts >= MOST_ATTEMPTS else NoticeState.WAITING
        Notice.objects.filter(pk=notice_id).update(state=state, error=str(reason)[:300])
        logger.warning(
            "notice %s was not sent (attempt %s of %s): %s", notice_id, notice.attempts, MOST_ATTEMPTS, reason
        )
        return False
    Notice.objects.filter(pk=notice_id).update(state=NoticeState.SENT, error="", sent_at=timezone.now())
    return True


def _send(notice: Notice, reach: Reach | None) -> None:
    """Raises NotSent."""
    told = told_of(notice.run, answer_before(notice.run))
    if notice.channel == Channel.EMAIL:
        _mail(told.subject, mail_body(told), notice.to)
        return
    try:
        webhook_post(address=notice.to, message=webhook_message(told, notice.run), reach=reach)
    except (WebhookFailed, Refusal) as reason:
        raise NotSent(str(reason)) from None


def _mail(subject: str, body: str, to: str) -> None:
    if not settings.EMAIL_URL:
        raise NotSent("No mail server is set where this would have been sent.")
    message = EmailMessage(subject, body, to=[to], headers={"Auto-Submitted": "auto-generated"})
    try:
        message.send()
    except smtplib.SMTPException as error:
        raise NotSent(f"The mail server refused it ({type(error).__name__}).") from None
    except OSError as error:
        raise NotSent(f"The mail server was not reached ({type(error).__name__}).") from None
