"""Pages for members alone. Of a page that anybody may see nobody is asked who is looking: no session is read."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase


def is_open(view: Callable[..., HttpResponseBase]) -> bool:
    """Whether it was marked as one that needs no sign-in."""
    return not getattr(view, "login_required", True)


class SignInNeeded(LoginRequiredMiddleware):
    def process_view(
        self,
        request: HttpRequest,
        view_func: Callable[..., HttpResponseBase],
        view_args: tuple[Any, ...],
        view_kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        return None if is_open(view_func) else super().process_view(request, view_func, view_args, view_kwargs)
