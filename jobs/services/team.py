"""Members change their role, leave, and come back. The last administrator stays."""

from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from jobs.models import Membership, Role
from jobs.selectors.permission import role_of
from jobs.selectors.team import administrators
from jobs.services.deed import What, deed_record
from jobs.services.flags import flags_set
from jobs.services.session import sessions_end
from jobs.sizing.refusal import Refusal


@transaction.atomic
def role_change(*, by: User, user: User, role: Role) -> User:
    """At once. Raises Refusal("last_admin")."""
    member = _locked(user)
    before = role_of(member) if member.is_active else None
    if role != Role.ADMIN:
        _refuse_without_admin(member)
    flags_set(member, role)
    member.save(update_fields=["is_staff", "is_superuser"])
    Membership.objects.update_or_create(user=member, defaults={"role": role})
    if before != role:
        deed_record(user=by, what=What.CHANGED_ROLE, on=member.get_username(), about=f"to {role.label}")
    return member


@transaction.atomic
def account_end(*, by: User, user: User) -> User:
    """Nobody signs in with it any more, and it is signed out everywhere. Raises Refusal("last_admin")."""
    member = _locked(user)
    if not member.is_active:
        return member
    _refuse_without_admin(member)
    member.is_active = False
    member.save(update_fields=["is_active"])
    sessions_end(user=member)
    deed_record(user=by, what=What.ENDED, on=f"the account of {member.get_username()}")
    return member


@transaction.atomic
def account_restore(*, by: User, user: User) -> User:
    """With the role and the password that it had."""
    member = _locked(user)
    if not member.is_active:
        member.is_active = True
        member.save(update_fields=["is_active"])
        deed_record(user=by, what=What.REOPENED, on=f"the account of {member.get_username()}")
    return member


@transaction.atomic
def password_link_make(*, by: User, user: User) -> tuple[str, str]:
    """The two parts of an address that lets this member choose a new password, once and for a day."""
    if not user.is_active:
        raise Refusal("account_ended", f"The account of {user.get_username()} is ended.", "Restore it first.")
    deed_record(user=by, what=What.MADE_PASSWORD_LINK, on=user.get_username())
    return urlsafe_base64_encode(force_bytes(user.pk)), default_token_generator.make_token(user)


def _locked(user: User) -> User:
    """Every administrator's row and the member's, in one order: of two at once the second waits and then sees what the
    first one did."""
    ids = {*administrators().values_list("pk", flat=True), user.pk}
    list(User.objects.select_for_update().filter(pk__in=ids).order_by("pk"))
    return User.objects.get(pk=user.pk)


def _refuse_without_admin(member: User) -> None:
    if administrators().filter(pk=member.pk).exists() and not administrators().exclude(pk=member.pk).exists():
        raise Refusal(
            "last_admin",
            f"{member.get_username()} is the team's last administrator.",
            "Make somebody else an administrator first.",
        )
