"""The first page: what is running now, and the recent answers."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from jobs.selectors.profile import profiles_list
from jobs.selectors.run import runs_active
from jobs.selectors.worker import workers_list
from jobs.web.presenters.profile_rows import profile_rows
from jobs.web.presenters.running_rows import running_rows

RECENT = 10


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    profiles = profile_rows(profiles_list()[:RECENT])
    live_workers = [worker for worker in workers_list() if worker.alive]
    context = {
        "nav": "home",
        "active": running_rows(runs_active()),
        "profiles": profiles,
        "live_workers": live_workers,
    }
    return render(request, "home/page.html", context)
