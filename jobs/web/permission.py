"""Views that not every member may use."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from jobs.models import Role
from jobs.selectors.permission import Act, may, role_of

View = Callable[..., HttpResponse]


def needs(act: Act) -> Callable[[View], View]:
    """403 for whoever's role does not allow it."""

    def decorated(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **given: Any) -> HttpResponse:
            refuse_unless(request, act)
            return view(request, *args, **given)

        return checked

    return decorated


def refuse_unless(request: HttpRequest, act: Act, *, owners: Iterable[int | None] = ()) -> None:
    """Raises PermissionDenied, whose page says that the role does not allow it."""
    if not may(request.user, act, owners=owners):
        raise PermissionDenied


def allowed(request: HttpRequest) -> dict[str, Any]:
    """For templates: what the member's role lets them do, so that no button is offered that answers 403."""
    user = getattr(request, "user", None)  # none where a request was refused before it was asked who sends it
    if user is None or not user.is_authenticated:
        return {}
    role = role_of(user)
    return {"may_ask": role in (Role.MEMBER, Role.ADMIN), "is_admin": role == Role.ADMIN}
