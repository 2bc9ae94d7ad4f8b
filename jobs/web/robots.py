"""Pages whose address is a secret stay out of search engines and of other sites' logs."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

View = Callable[..., HttpResponseBase]


def kept_out(view: View) -> View:
    """The address is sent to no other site. Not `no-referrer`: with it a browser sends `Origin: null` along with the
    page's own form, which the check against forged requests refuses."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **given: Any) -> HttpResponseBase:
        response = view(request, *args, **given)
        response.headers["X-Robots-Tag"] = "noindex, nofollow"
        response.headers["Referrer-Policy"] = "same-origin"
        return response

    return answered
