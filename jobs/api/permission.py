"""What may be done: by the token's scope first, then by its user's role, as on the pages."""

from collections.abc import Iterable
from typing import Any

from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from jobs.models import ApiToken, TokenScope
from jobs.selectors.permission import Act, may


class InScope(BasePermission):
    """A token that reads is good for what changes nothing: safe methods, and views that say so (`only_reads`)."""

    code = "scope_forbids"
    message = "This token reads only: make one that may write too."

    def has_permission(self, request: Request, view: Any) -> bool:
        if not request.user or not request.user.is_authenticated:
            return False
        if request.method in SAFE_METHODS or getattr(view, "only_reads", False):
            return True
        return isinstance(request.auth, ApiToken) and request.auth.scope == TokenScope.WRITE


def refuse_unless(request: Request, act: Act, *, owners: Iterable[int | None] = ()) -> None:
    """Raises PermissionDenied: the role does not allow it."""
    if not may(request.user, act, owners=owners):
        raise PermissionDenied("Your role does not allow this, or it is somebody else's.", code="role_forbids")
