"""The team's members as rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from django.contrib.auth.models import User

from jobs.models import Role
from jobs.selectors.permission import role_kept, role_of


@dataclass(frozen=True, kw_only=True)
class MemberRow:
    """`fixed`: the last administrator, who can be neither given another role nor ended."""

    pk: int
    name: str
    role: Role
    is_you: bool
    ended: bool
    joined_at: datetime
    seen_at: datetime | None
    fixed: bool


def member_rows(members: Iterable[User], *, you: User) -> list[MemberRow]:
    """Each with its `membership` and `seen_at`, as the selector has them."""
    known = list(members)
    admins = [member for member in known if role_of(member) == Role.ADMIN]
    return [_row(member, you=you, fixed=admins == [member]) for member in known]


def _row(member: User, *, you: User, fixed: bool) -> MemberRow:
    return MemberRow(
        pk=member.pk,
        name=member.get_username(),
        role=role_kept(member),
        is_you=member == you,
        ended=not member.is_active,
        joined_at=member.date_joined,
        seen_at=cast("Any", member).seen_at,
        fixed=fixed,
    )
