"""The first page: what is running now, and the table of profiles."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from jobs.selectors.run import runs_active, waiting_before
from jobs.selectors.worker import workers_list
from jobs.web.presenters.running_rows import running_rows
from jobs.web.profile_list import profile_list

MOST_RUNNING = 8


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    before = waiting_before()
    context = {
        "nav": "home",
        "active": running_rows(runs_active()[:MOST_RUNNING], before),
        "more_active": max(0, len(before) - MOST_RUNNING),
        "live_workers": [worker for worker in workers_list() if worker.alive],
        **profile_list(request),
    }
    return render(request, "home/page.html", context)
