"""The question's form: checked, estimated, and on being sent profiles with a run each.

`?from=` starts from a profile's question, `?edit=` changes it, `?workload=` takes a saved workload.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from jobs.asking.choices import DEPTHS, STRATEGIES
from jobs.asking.fields import said
from jobs.asking.question import first_question, like
from jobs.asking.several import SeveralForm
from jobs.models import EntryState, Profile
from jobs.procedure.prompt_lengths import PromptLengths
from jobs.selectors.permission import Act
from jobs.selectors.profile import profile_get
from jobs.selectors.prompt_set import prompt_set_find
from jobs.selectors.workload import workloads_offered
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import Strategy
from jobs.web.forms.what_if import WhatIfForm
from jobs.web.models_known import model_offers
from jobs.web.permission import needs, refuse_unless
from jobs.web.plan import plan_of
from jobs.web.presenters.asker import asked_by
from jobs.web.presenters.outlook import shown
from jobs.web.prompts_chosen import counted, keep_prompts, suggested, told
from jobs.web.question_submit import LENGTHS, Begun, inspected, submitted
from jobs.web.run_length import run_lengths
from jobs.web.session import signed_in

STILL_COUNTING = "The prompts are still being counted: send this again in a moment. They and what you typed are kept."


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Act.ASK)
def profile_new(request: HttpRequest) -> HttpResponse:
    begun = _begun(request, request.POST if request.method == "POST" else request.GET)
    if request.method != "POST":
        proposed = _with_try(request.GET.get("try", ""), begun.like) | _with_conditions(request)
        initial = _initial(begun.like) | _with_workload(request.GET.get("workload", "")) | proposed
        return _page(request, SeveralForm(initial=initial), begun, proposed=proposed)
    sent = request.POST.copy()
    form = SeveralForm(sent, request.FILES)
    keep_prompts(form, sent, user=signed_in(request))
    if "estimate" in request.POST:
        return _estimated(request, form, begun)
    if "count" in request.POST:
        return _counted(request, form, sent, begun)
    runs = submitted(form, begun, signed_in(request)) if form.is_valid() else []
    if len(runs) > 1:
        messages.success(request, f"{len(runs)} profiles are made, and a run of each waits.")
        chosen = urlencode([("profile", run.profile_id) for run in runs])
        return redirect(f"{reverse('profiles')}?{chosen}")
    return redirect("run", runs[0].pk) if runs else _page(request, form, begun)


def _estimated(request: HttpRequest, form: SeveralForm, begun: Begun) -> HttpResponse:
    """Where no script draws the estimate: the page with it, once the model is read; nothing is run."""
    form.full_clean()
    if {"model", "revision"} <= form.cleaned_data.keys():
        inspected(form, signed_in(request))
    return _page(request, form, begun)


def _counted(request: HttpRequest, form: SeveralForm, sent: QueryDict, begun: Begun) -> HttpResponse:
    """The page with the lengths of the prompts chosen, and the fields filled from them; nothing is run."""
    prompts = form.cleaned_data.get("prompts")
    if prompts is None and "prompts_file" not in form.errors:
        form.add_error("prompts", "Choose a file or prompts that are kept, to have them counted.")
    elif (
        prompts and {"model", "revision"} <= form.cleaned_data.keys() and (entry := inspected(form, signed_in(request)))
    ):
        count = counted(entry, prompts)
        if count.state == EntryState.REFUSED:
            form.add_error(
                "prompts", said(Refusal.from_json(count.error or {"code": "refused", "message": "Refused."}))
            )
        elif count.state == EntryState.WAITING:
            form.add_error(None, STILL_COUNTING)
        else:
            form = suggested(sent, PromptLengths.from_json(count.lengths or {}))
    return _page(request, form, begun)


def _begun(request: HttpRequest, given: QueryDict) -> Begun:
    edited = _named(given.get("edit", ""))
    if edited:
        refuse_unless(request, Act.CHANGE, owners=[edited.owner_id])
        return Begun(edited=edited)
    return Begun(source=_named(given.get("from", "")))


def _named(text: str) -> Profile | None:
    """Raises Http404 for a profile that there is not."""
    if not text:
        return None
    try:
        return profile_get(int(text))
    except (ValueError, OverflowError, Profile.DoesNotExist) as missing:
        raise Http404 from missing


def _initial(source: Profile | None) -> dict[str, Any]:
    if source is None:
        return first_question()
    entry = source.model_entry
    prompts = prompt_set_find(source.question.get("prompts_sha256"))
    taken = like(source.question, model=entry.name, revision=entry.revision, worker_id=source.worker_id)
    return taken | {"prompts": prompts.pk if prompts else None}


def _with_try(name: str, source: Profile | None) -> dict[str, Any]:
    """A strategy that an answer proposes, added to what is tried; nothing where it is none."""
    try:
        proposed = str(Strategy.parse(name))
    except Refusal:
        return {}
    mine = _initial(source).get("more_strategies") or ""
    return {"more_strategies": f"{mine},{proposed}" if mine else proposed}


def _with_workload(text: str) -> dict[str, Any]:
    """A saved workload, picked, with its lengths; nothing where there is none of that number, or it is archived."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    found = workloads_offered().filter(pk=number).first()
    if found is None:
        return {}
    lengths = {name: getattr(found, name) for name in LENGTHS}
    return {"workload": found.pk, "prompts": found.prompts_id, **lengths}


def _with_conditions(request: HttpRequest) -> dict[str, Any]:
    """What “What if” was asked about, to be measured."""
    return {name: request.GET[name] for name in WhatIfForm.base_fields if name in request.GET}


def _page(
    request: HttpRequest, form: SeveralForm, begun: Begun, *, proposed: Mapping[str, Any] | None = None
) -> HttpResponse:
    chosen = form["strategies"].value() or []
    context = {
        "nav": "new",
        "form": form,
        "begun": begun,
        "asked_by": asked_by(begun.source) if begun.source else "",
        "proposed": [form[name] for name in proposed or ()],
        "models": model_offers(),
        "strategies": [(name, label, note, name in chosen) for name, label, note in STRATEGIES],
        "depths": [(value, label, note, value == (form["depth"].value() or "quick")) for value, label, note in DEPTHS],
        "lengths": run_lengths(form),
        "outlook": shown(plan_of(form.for_estimate())),
        "workloads": form.choose("workload").queryset,
        "prompts": told(form),
    }
    return render(request, "profiles/new.html", context)
