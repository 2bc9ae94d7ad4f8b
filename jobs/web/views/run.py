"""A run's page, its live parts, its news, its figures, and cancelling it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from jobs.models import Run, RunState
from jobs.selectors.permission import Act, may
from jobs.selectors.run import run_get, run_progress
from jobs.services.run import run_cancel
from jobs.web.found import found_or_404
from jobs.web.permission import refuse_unless
from jobs.web.presenters.adoptions import AdoptionRow, adoption_row
from jobs.web.presenters.freshness import mark_of
from jobs.web.presenters.profile_rows import device_name
from jobs.web.presenters.recheck import recheck_part
from jobs.web.presenters.run_figures import run_figures
from jobs.web.presenters.run_page import run_page
from jobs.web.session import signed_in
from jobs.web.views.adoption import adopt_parts
from jobs.web.views.shares import share_parts

MOST_SEQ = 2**31 - 1


@require_safe
@never_cache
def run(request: HttpRequest, pk: int) -> HttpResponse:
    return render(request, "run/page.html", _context(request, _found(pk)))


@require_safe
@never_cache
def fragment(request: HttpRequest, pk: int) -> HttpResponse:
    """The live parts alone, with the log's lines after the browser's last number."""
    after = _after(request)
    if after is None:
        return _bad_after()
    return render(request, "run/live.html", _context(request, _found(pk), after=after))


@require_safe
@never_cache
def events(request: HttpRequest, pk: int) -> HttpResponse:
    """The same JSON as the websocket's, for a browser without one."""
    after = _after(request)
    if after is None:
        return _bad_after()
    return JsonResponse(run_progress(_found(pk), after))


@require_safe
@never_cache
def figures(request: HttpRequest, pk: int) -> JsonResponse:
    return JsonResponse(run_figures(_found(pk)))


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    found = _found(pk)
    refuse_unless(request, Act.CHANGE, owners=_owners(found))
    cancelled = run_cancel(run=found, user=signed_in(request))
    if cancelled.state not in (RunState.CANCELLED, RunState.CANCELLING):
        messages.info(request, f"There was nothing to cancel: the run is {cancelled.state}.")
    return redirect("run", pk)


def _found(pk: int) -> Run:
    return found_or_404(run_get, pk)


def _owners(found: Run) -> list[int | None]:
    """Who may cancel it."""
    return [found.submitted_by_id, found.profile.owner_id]


def _context(request: HttpRequest, found: Run, *, after: int = 0) -> dict[str, Any]:
    return {
        "nav": "profiles",
        "run": found,
        "page": run_page(found, after=after),
        "device": device_name(found, found.profile),
        "recheck": recheck_part(found),
        "mark": mark_of(found.profile) if found.profile.answer_run_id == found.pk else None,
        "may_cancel": may(request.user, Act.CHANGE, owners=_owners(found)),
        **share_parts(request, found),
        **adopt_parts(found),
        "adopted": _adopted(found),
    }


def _adopted(found: Run) -> AdoptionRow | None:
    """What is in force of this run."""
    adoption = found.profile.adoption
    return adoption_row(adoption) if adoption and adoption.run_id == found.pk else None


def _after(request: HttpRequest) -> int | None:
    text = request.GET.get("after", "0")
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        return None
    return min(int(text), MOST_SEQ)


def _bad_after() -> HttpResponse:
    return HttpResponseBadRequest("`after` is the number of the last event that you have.")
