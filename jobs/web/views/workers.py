"""The devices, whether their workers live, and what they are doing."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from jobs.selectors.worker import workers_list
from jobs.web.presenters.worker_cards import worker_cards


@require_safe
def workers(request: HttpRequest) -> HttpResponse:
    return render(request, "workers/page.html", {"nav": "workers", "workers": worker_cards(workers_list())})
