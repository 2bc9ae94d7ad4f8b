"""Two to six runs side by side, their figures as data, their measurements as CSV; and a page to choose them."""

from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from jobs.charts import compared_memory_figure, compared_speed_figure
from jobs.charts.aligned import Overlaid
from jobs.exports.compare import compared_csv
from jobs.models import Run
from jobs.selectors.compare import (
    MOST_COMPARED,
    PROFILE,
    RUN,
    Named,
    measurements_by_run,
    runs_compared,
    runs_to_compare,
)
from jobs.selectors.permission import Act
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import Strategy
from jobs.web.permission import needs
from jobs.web.presenters.compare import choice_rows, comparison, overlaid_runs, picture_line
from jobs.web.views.take_away import CSV, download

LEAST, PAGE, MOST_NAMED = 2, 25, 50
STRATEGY, CHOOSE = "strategy", "choose"


@require_safe
@never_cache
@needs(Act.READ)
def compare(request: HttpRequest) -> HttpResponse:
    found = runs_compared(_named(request))
    named = list(dict.fromkeys(_named(request)))
    context = {"nav": "compare", "named": named, "missing": found.missing, "most": MOST_COMPARED}
    if len(found.runs) < LEAST or CHOOSE in request.GET:
        return _choose(request, found.runs, context)
    pairs = [(name.kind, name.number) for name in named]
    address = urlencode([*pairs, *((STRATEGY, name) for name in _strategies(request))])
    context |= {
        "page": comparison(found.runs, _overlaid(request, found.runs)),
        "picture": picture_line(found.runs),
        "figures": f"{reverse('compare-figures')}?{address}",
        "csv": f"{reverse('compare-csv')}?{address}",
        "other": f"{reverse('compare')}?{urlencode([*pairs, (CHOOSE, '1')])}",
    }
    return render(request, "compare/page.html", context)


@require_safe
@never_cache
@needs(Act.READ)
def figures(request: HttpRequest) -> JsonResponse:
    drawn = _overlaid(request, runs_compared(_named(request)).runs)
    return JsonResponse({"memory": compared_memory_figure(drawn), "speed": compared_speed_figure(drawn)})


@require_safe
@never_cache
@needs(Act.READ)
def as_csv(request: HttpRequest) -> HttpResponse:
    drawn = _overlaid(request, runs_compared(_named(request)).runs)
    name = "-".join(["compared", *(run.name.replace(" ", "-") for run in drawn)])
    return download(compared_csv(drawn), f"{name}.csv", CSV)


def _choose(request: HttpRequest, chosen: Sequence[Run], context: dict[str, object]) -> HttpResponse:
    words = request.GET.get("q", "").replace("\0", "").strip()[:100]
    page = Paginator(runs_to_compare(words), PAGE).get_page(request.GET.get("page"))
    rows = {"chosen": choice_rows(chosen), "rows": choice_rows(run for run in page.object_list if run not in chosen)}
    return render(request, "compare/choose.html", context | rows | {"q": words, "page": page})


def _named(request: HttpRequest) -> list[Named]:
    """In the order of the address."""
    pairs = parse_qsl(request.META.get("QUERY_STRING", ""))
    named = [Named(kind=kind, number=number) for kind, number in pairs if kind in (RUN, PROFILE)]
    return named[:MOST_NAMED]


def _strategies(request: HttpRequest) -> list[str]:
    """Those that are asked for by their names; what is no strategy's name is passed over."""
    return [name for name in dict.fromkeys(request.GET.getlist(STRATEGY)) if _is_strategy(name)]


def _is_strategy(name: str) -> bool:
    try:
        return str(Strategy.parse(name)) == name
    except Refusal:
        return False


def _overlaid(request: HttpRequest, runs: Sequence[Run]) -> list[Overlaid]:
    return overlaid_runs(runs, measurements_by_run(runs), _strategies(request))
