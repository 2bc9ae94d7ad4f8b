"""A profile: its question, its current answer, its runs; and running it again."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from jobs.asking.fields import said
from jobs.models import Profile
from jobs.selectors.history import adoptions_of, runs_of
from jobs.selectors.permission import Act, may
from jobs.selectors.profile import profile_get
from jobs.services.run import run_again
from jobs.sizing.refusal import Refusal
from jobs.web.found import found_or_404
from jobs.web.permission import needs
from jobs.web.presenters.adoptions import adoption_row, adoption_rows
from jobs.web.presenters.asker import asked_by
from jobs.web.presenters.certainty import certainty
from jobs.web.presenters.freshness import mark_of
from jobs.web.presenters.history import history
from jobs.web.presenters.limits import answer
from jobs.web.presenters.own_prompts import prompts_words
from jobs.web.presenters.profile_rows import device_name
from jobs.web.presenters.questions import question_words
from jobs.web.presenters.told import told_part
from jobs.web.session import signed_in
from jobs.web.views.adoption import adopt_parts

PAGE = 25
MOST_ADOPTIONS = 20


@require_safe
def profile(request: HttpRequest, pk: int) -> HttpResponse:
    found = profile_found(pk)
    page = Paginator(runs_of(found), PAGE).get_page(request.GET.get("page"))
    answered, adoption = found.answer_run, found.adoption
    may_change = may(request.user, Act.CHANGE, owners=[found.owner_id])
    context = {
        "nav": "profiles",
        "profile": found,
        "asked_by": asked_by(found),
        "words": question_words(found.question),
        "prompts": prompts_words(found.question, answered.environment if answered else {}),
        "device": device_name(answered, found),
        "latest": found.latest_run,
        "answer_run": answered,
        "answer": answer(answered.stages, answered.question) if answered else None,
        "certainty": certainty(answered.stages) if answered else (),
        "mark": mark_of(found),
        "page": page,
        "history": history(list(page.object_list), found),
        "adopted": adoption_row(adoption, answered) if adoption else None,
        "adoptions": adoption_rows(adoptions_of(found)[:MOST_ADOPTIONS]),
        "may_change": may_change,
        "told": told_part(found, may_change=may_change),
    }
    if answered:
        context |= {"run": answered, **adopt_parts(answered)}
    return render(request, "profiles/page.html", context)


@require_POST
@needs(Act.ASK)
def again(request: HttpRequest, pk: int) -> HttpResponse:
    try:
        run = run_again(profile=profile_found(pk), user=signed_in(request))
    except Refusal as refusal:
        messages.error(request, said(refusal))
        return redirect("profile", pk)
    return redirect("run", run.pk)


def profile_found(pk: int) -> Profile:
    """Raises Http404."""
    return found_or_404(profile_get, pk)
