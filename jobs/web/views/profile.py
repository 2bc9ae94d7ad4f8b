"""A profile: its question, its current answer, its runs; and running it again."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from jobs.asking.fields import said
from jobs.models import Profile
from jobs.selectors.permission import Act, may
from jobs.selectors.profile import profile_get
from jobs.services.run import run_again
from jobs.sizing.refusal import Refusal
from jobs.web.permission import needs
from jobs.web.presenters.freshness import mark_of
from jobs.web.presenters.limits import answer
from jobs.web.presenters.own_prompts import prompts_words
from jobs.web.presenters.profile_rows import device_name, latest_answered, run_rows
from jobs.web.presenters.questions import question_words
from jobs.web.presenters.told import told_part
from jobs.web.session import signed_in


@require_safe
def profile(request: HttpRequest, pk: int) -> HttpResponse:
    found = _found(pk)
    runs = list(found.runs.select_related("worker", "submitted_by").order_by("-queued_at", "-pk"))
    answered = latest_answered(runs)
    context = {
        "nav": "profiles",
        "profile": found,
        "words": question_words(found.question),
        "prompts": prompts_words(found.question, answered.environment if answered else {}),
        "device": device_name(answered, found),
        "latest": next(iter(runs), None),
        "answer_run": answered,
        "answer": answer(answered.stages, answered.question) if answered else None,
        "mark": mark_of(found),
        "runs": run_rows(runs),
        "told": told_part(found, may_change=may(request.user, Act.CHANGE, owners=[found.owner_id])),
    }
    return render(request, "profiles/page.html", context)


@require_POST
@needs(Act.ASK)
def again(request: HttpRequest, pk: int) -> HttpResponse:
    try:
        run = run_again(profile=_found(pk), user=signed_in(request))
    except Refusal as refusal:
        messages.error(request, said(refusal))
        return redirect("profile", pk)
    return redirect("run", run.pk)


def _found(pk: int) -> Profile:
    try:
        return profile_get(pk)
    except Profile.DoesNotExist as missing:
        raise Http404 from missing
