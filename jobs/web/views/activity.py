"""Who did what, filtered by whom, by what and by words, a page at a time; all of it in the address."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from jobs.selectors.deed import deeds_list, doers
from jobs.services.deed import What

PAGE = 50


@require_safe
def activity(request: HttpRequest) -> HttpResponse:
    filters = {name: _given(request, name) for name in ("who", "what", "q")}
    found = deeds_list(who=filters["who"], what=filters["what"], words=filters["q"])
    page = Paginator(found, PAGE).get_page(request.GET.get("page"))
    context = {
        "nav": "activity",
        "deeds": list(page.object_list),
        "page": page,
        "filters": filters,
        "is_filtered": any(filters.values()),
        "doers": doers(),
        "whats": sorted(set(What)),
        "query": _address(filters),
    }
    return render(request, "activity/page.html", context)


def _given(request: HttpRequest, name: str) -> str:
    """Without NUL, which PostgreSQL refuses in a text."""
    return request.GET.get(name, "").replace("\0", "").strip()[:150]


def _address(filters: dict[str, str]) -> str:
    """The filters as the start of a page link's query."""
    query = QueryDict(mutable=True)
    query.update({name: value for name, value in filters.items() if value})
    return f"{query.urlencode()}&" if query else ""
