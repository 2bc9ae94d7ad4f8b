"""Who is in the team."""

from django.contrib.auth.models import User
from django.db.models import Max, Q, QuerySet

from jobs.models import Role


def administrators() -> QuerySet[User]:
    """Whoever may administer, as jobs.selectors.permission.role_of has it."""
    return User.objects.filter(Q(is_superuser=True) | Q(membership__role=Role.ADMIN), is_active=True)


def members_list() -> QuerySet[User]:
    """By name, those whose account was ended last; `seen_at` is when a signed-in browser was seen last."""
    members = User.objects.select_related("membership").annotate(seen_at=Max("signed_in__seen_at"))
    return members.order_by("-is_active", "username")


def member_get(pk: int) -> User:
    """Raises User.DoesNotExist."""
    return User.objects.select_related("membership").get(pk=pk)
