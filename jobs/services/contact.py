"""How a member is reached."""

from django.contrib.auth.models import User
from django.db import transaction

from jobs.models import Membership, Role
from jobs.selectors.permission import role_of


@transaction.atomic
def contact_change(*, user: User, email: str, email_told: bool) -> None:
    """The address for messages and for a forgotten password, and whether the end of runs is told there."""
    User.objects.filter(pk=user.pk).update(email=email)
    made = {"role": role_of(user) or Role.VIEWER, "email_told": email_told}  # an account made by hand has none
    Membership.objects.update_or_create(user=user, defaults={"email_told": email_told}, create_defaults=made)
