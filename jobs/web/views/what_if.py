"""Other conditions than a finished run's own, answered at once from what it measured."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from jobs.models import Run
from jobs.procedure.what_if import Finished
from jobs.selectors.run import run_get
from jobs.selectors.what_if import finished_of
from jobs.sizing.strategy import BASELINE
from jobs.web.forms.what_if import WhatIfForm
from jobs.web.found import found_or_404
from jobs.web.presenters import what_if as presenter
from jobs.web.presenters.fit_map import fit_map
from jobs.web.presenters.take_away import picture_line

PREDICTED = "run/what_if_predicted.html"


@require_safe
@never_cache
def what_if(request: HttpRequest, pk: int) -> HttpResponse:
    run = _found(pk)
    finished = finished_of(run)
    context = {"nav": "profiles", "run": run, "finished": finished, "picture": picture_line(run)}
    if finished:
        grid = reverse("run-what-if-grid", args=[pk])
        context |= _answered(request, run, finished) | {"grid": grid, "figures": f"{grid}?{request.GET.urlencode()}"}
    return render(request, "run/what_if.html", context)


@require_safe
@never_cache
def grid(request: HttpRequest, pk: int) -> JsonResponse:
    """For the page's script while a slider is moved: the map's figure, and all else that was predicted as its part of
    the page.
    """
    run = _found(pk)
    finished = finished_of(run)
    if finished is None:
        raise Http404
    context = _answered(request, run, finished)
    page = {"predicted": render_to_string(PREDICTED, context | {"run": run}, request)}
    if "map" in context:
        page |= {"fits": context["map"].figure, "summary": context["map"].summary}
    return JsonResponse(page)


def _answered(request: HttpRequest, run: Run, finished: Finished) -> dict[str, Any]:
    """The form, and what it asks for where it can be read."""
    form = WhatIfForm(request.GET, finished=finished, recommended=_recommended(run, finished))
    if not form.is_valid():
        return {"form": form}
    return {
        "form": form,
        "answer": presenter.what_if(finished, form.conditions(), run),
        "map": fit_map(finished, form.mapped(), form.conditions()),
        "measure_query": urlencode({"from": run.profile_id} | form.given()),
    }


def _recommended(run: Run, finished: Finished) -> str:
    name = (run.stages.get("limit") or {}).get("strategy")
    return name if name in {str(strategy) for strategy in finished.strategies} else str(BASELINE)


def _found(pk: int) -> Run:
    return found_or_404(run_get, pk)
