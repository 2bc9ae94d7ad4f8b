"""Other conditions than a finished run's own, answered at once from what it measured."""

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from jobs.models import Run
from jobs.selectors.run import run_get
from jobs.selectors.what_if import finished_of
from jobs.web.forms.what_if import WhatIfForm
from jobs.web.presenters import what_if as presenter


@require_safe
@never_cache
def what_if(request: HttpRequest, pk: int) -> HttpResponse:
    run = _found(pk)
    finished = finished_of(run)
    context = {"nav": "profiles", "run": run, "finished": finished}
    if finished:
        form = WhatIfForm(request.GET, finished=finished)
        context["form"] = form
        if form.is_valid():
            context["answer"] = presenter.what_if(finished, form.conditions(), run.stages)
            context["measure_query"] = urlencode({"from": run.profile_id} | form.given())
    return render(request, "run/what_if.html", context)


def _found(pk: int) -> Run:
    try:
        return run_get(pk)
    except Run.DoesNotExist as missing:
        raise Http404 from missing
