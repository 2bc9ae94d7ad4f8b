"""Whom the end of a profile's runs is told, and what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from jobs.models import Notice, Notify, Profile
from jobs.selectors.notice import notices_of
from jobs.services.webhook_address import webhook_host
from jobs.web.forms.told import ToldForm


@dataclass(frozen=True, kw_only=True)
class NoticeRow:
    run_pk: int
    by: str
    state: str
    error: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class ToldPart:
    """host and team_host: all that is shown of a webhook's address; form is None for who may not change it."""

    when: str
    mails: bool
    host: str
    team_host: str
    notices: Sequence[NoticeRow]
    form: ToldForm | None


def told_part(profile: Profile, *, may_change: bool) -> ToldPart:
    return ToldPart(
        when=Notify(profile.notify).label,
        mails=bool(settings.EMAIL_URL),
        host=webhook_host(profile.webhook),
        team_host=webhook_host(settings.WEBHOOK_URL),
        notices=[_row(notice) for notice in notices_of(profile)],
        form=ToldForm(initial={"notify": profile.notify}) if may_change else None,
    )


def _row(notice: Notice) -> NoticeRow:
    return NoticeRow(
        run_pk=notice.run_id,
        by=webhook_host(notice.to) or notice.get_channel_display(),
        state=notice.state,
        error=notice.error,
        at=notice.sent_at or notice.made_at,
    )
