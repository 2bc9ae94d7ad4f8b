"""Django's own flags follow the role: an administrator of the portal may use /admin/, nobody else may."""

from django.contrib.auth.models import User

from jobs.models import Role


def flags_set(user: User, role: Role) -> None:
    """On the object alone; it is not saved."""
    user.is_staff = user.is_superuser = role == Role.ADMIN
