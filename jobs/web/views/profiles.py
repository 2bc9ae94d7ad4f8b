"""All profiles, filtered by words and by the state of the latest run, a page at a time."""

from django.core.paginator import Paginator
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from jobs.models import Profile, Run, RunState
from jobs.selectors.profile import profiles_list
from jobs.web.presenters.profile_rows import profile_rows

PAGE = 25


@require_safe
def profiles(request: HttpRequest) -> HttpResponse:
    words, state = _given(request, "q")[:100], _given(request, "state")
    page = Paginator(_filtered(words, state), PAGE).get_page(request.GET.get("page"))
    context = {
        "nav": "profiles",
        "profiles": profile_rows(page.object_list),
        "page": page,
        "q": words,
        "state": state,
        "states": RunState.choices,
        "query": _address(words, state),
    }
    return render(request, "profiles/list.html", context)


def _given(request: HttpRequest, name: str) -> str:
    """Without NUL, which PostgreSQL refuses in a text."""
    return request.GET.get(name, "").replace("\0", "").strip()


def _filtered(words: str, state: str) -> QuerySet[Profile]:
    found = profiles_list().order_by("-created_at", "-pk")
    if words:
        found = found.filter(Q(name__icontains=words) | Q(model_entry__name__icontains=words))
    if state:
        latest = Run.objects.filter(profile=OuterRef("pk")).order_by("-queued_at", "-pk").values("state")[:1]
        found = found.annotate(latest_state=Subquery(latest)).filter(latest_state=state)
    return found


def _address(words: str, state: str) -> str:
    """The filters as the start of a page link's query."""
    query = QueryDict(mutable=True)
    for name, value in (("q", words), ("state", state)):
        if value:
            query[name] = value
    return f"{query.urlencode()}&" if query else ""
