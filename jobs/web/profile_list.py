"""The table of profiles, as home and the page of profiles alike have it."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from jobs.web.filters.profiles import ProfileFilter
from jobs.web.presenters.profile_rows import profile_rows

PAGE = 25


def profile_list(request: HttpRequest) -> dict[str, Any]:
    """For the template that prints it: one page of what the address asks for."""
    chosen = ProfileFilter(request)
    page = Paginator(chosen.found, PAGE).get_page(request.GET.get("page"))
    return {"filter": chosen, "page": page, "profiles": profile_rows(page.object_list)}
