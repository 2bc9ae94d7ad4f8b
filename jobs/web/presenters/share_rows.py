"""Links to shared answers as rows of a list."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.utils import timezone

from jobs.models import Share
from jobs.selectors.permission import Act, may


@dataclass(frozen=True, kw_only=True)
class ShareRow:
    """state: open, expired or revoked. ends_at: None for a link without an end."""

    pk: int
    title: str
    run_pk: int
    profile: str
    by: str
    made_at: datetime
    ends_at: datetime | None
    state: str
    views: int
    viewed_at: datetime | None
    may_revoke: bool


def share_rows(shares: Iterable[Share], user: User) -> list[ShareRow]:
    now = timezone.now()
    return [_row(share, user, now) for share in shares]


def _row(share: Share, user: User, now: datetime) -> ShareRow:
    state = _state(share, now)
    return ShareRow(
        pk=share.pk,
        title=share.title,
        run_pk=share.run_id,
        profile=share.run.profile.name,
        by=str(share.shared_by or ""),
        made_at=share.shared_at,
        ends_at=share.expires_at,
        state=state,
        views=share.views,
        viewed_at=share.viewed_at,
        may_revoke=state == "open" and may(user, Act.CHANGE, owners=[share.shared_by_id]),
    )


def _state(share: Share, now: datetime) -> str:
    if share.revoked_at:
        return "revoked"
    return "expired" if share.expires_at and share.expires_at <= now else "open"
