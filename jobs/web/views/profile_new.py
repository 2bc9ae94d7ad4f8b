"""Asking a question: the form, and what becomes of it."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from jobs.asking.choices import DEPTHS, STRATEGIES
from jobs.asking.fields import said
from jobs.asking.question import QuestionForm, first_question, like
from jobs.asking.waiting import entry_read
from jobs.models import EntryState, ModelEntry, Profile, Run, Workload
from jobs.procedure.prompt_lengths import PromptLengths
from jobs.selectors.model_entry import record_of
from jobs.selectors.permission import Act
from jobs.selectors.profile import profile_get
from jobs.selectors.prompt_set import prompt_set_find
from jobs.services.run import run_submit
from jobs.services.workload import workload_save
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import Strategy
from jobs.web.forms.what_if import WhatIfForm
from jobs.web.models_known import model_offers
from jobs.web.permission import needs
from jobs.web.plan import plan_of
from jobs.web.presenters.outlook import shown
from jobs.web.presenters.questions import workload_summary
from jobs.web.prompts_chosen import counted, keep_prompts, suggested, told
from jobs.web.run_length import run_lengths
from jobs.web.session import signed_in

STILL_COUNTING = "The prompts are still being counted: send this again in a moment. They and what you typed are kept."
REFUSED_AT = {"bad_revision": "revision", "still_reading": None}


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Act.ASK)
def profile_new(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        source = _source(request.GET.get("from", ""))
        proposed = _with_try(request.GET.get("try", ""), source) | _with_conditions(request)
        return _page(request, QuestionForm(initial=_initial(source) | proposed), source=source, proposed=proposed)
    sent = request.POST.copy()
    form = QuestionForm(sent, request.FILES)
    keep_prompts(form, sent, user=signed_in(request))
    if "estimate" in request.POST:
        return _estimated(request, form)
    if "count" in request.POST:
        return _counted(request, form, sent)
    run = _submit(request, form) if form.is_valid() else None
    return redirect("run", run.pk) if run else _page(request, form)


def _estimated(request: HttpRequest, form: QuestionForm) -> HttpResponse:
    """Where no script draws the estimate: the page with it, once the model is read; nothing is run."""
    form.full_clean()
    if {"model", "revision"} <= form.cleaned_data.keys():
        _inspected(request, form)
    return _page(request, form)


def _counted(request: HttpRequest, form: QuestionForm, sent: QueryDict) -> HttpResponse:
    """The page with the lengths of the prompts chosen, and the fields filled from them; nothing is run."""
    prompts = form.cleaned_data.get("prompts")
    if prompts is None and "prompts_file" not in form.errors:
        form.add_error("prompts", "Choose a file or prompts that are kept, to have them counted.")
    elif prompts and {"model", "revision"} <= form.cleaned_data.keys() and (entry := _inspected(request, form)):
        count = counted(entry, prompts)
        if count.state == EntryState.REFUSED:
            form.add_error(
                "prompts", said(Refusal.from_json(count.error or {"code": "refused", "message": "Refused."}))
            )
        elif count.state == EntryState.WAITING:
            form.add_error(None, STILL_COUNTING)
        else:
            form = suggested(sent, PromptLengths.from_json(count.lengths or {}))
    return _page(request, form)


def _submit(request: HttpRequest, form: QuestionForm) -> Run | None:
    """None where the form was refused after all; its errors say why."""
    entry = _inspected(request, form)
    record = record_of(entry) if entry else None
    if entry is None or record is None:
        return None
    form.check_record(record)
    if form.errors:
        return None
    question = form.question(entry.name)
    name = form.cleaned_data["name"] or f"{entry.name} · {workload_summary(question.as_json())}"
    try:
        with transaction.atomic():
            return run_submit(
                user=signed_in(request),
                name=name[:120],
                entry=entry,
                question=question,
                worker=form.cleaned_data["worker"],
                workload=_workload(request, form),
            )
    except Refusal as refusal:
        form.add_error("workload_name" if refusal.code.startswith("workload") else None, said(refusal))
        return None


def _inspected(request: HttpRequest, form: QuestionForm) -> ModelEntry | None:
    """Ask for the inspection and wait a bounded time for it."""
    try:
        return entry_read(
            text=form.cleaned_data["model"], revision=form.cleaned_data["revision"] or None, user=signed_in(request)
        )
    except Refusal as refusal:
        kept = " What you typed is kept." if refusal.code == "still_reading" else ""
        form.add_error(REFUSED_AT.get(refusal.code, "model"), said(refusal) + kept)
        return None


def _workload(request: HttpRequest, form: QuestionForm) -> Workload | None:
    """The one picked, or the typed lengths saved under the given name."""
    cleaned = form.cleaned_data
    if cleaned["workload"] or not cleaned["workload_name"]:
        picked: Workload | None = cleaned["workload"]
        return picked
    return workload_save(
        user=signed_in(request),
        name=cleaned["workload_name"],
        prompt_tokens=cleaned["prompt_tokens"],
        typical_prompt_tokens=cleaned["typical_prompt_tokens"],
        answer_tokens=cleaned["answer_tokens"],
        sequences=cleaned["sequences"],
        prompts=cleaned["prompts"],
    )


def _source(text: str) -> Profile | None:
    """The profile that a similar question starts from."""
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


def _with_conditions(request: HttpRequest) -> dict[str, Any]:
    """What “What if” was asked about, to be measured."""
    return {name: request.GET[name] for name in WhatIfForm.base_fields if name in request.GET}


def _page(
    request: HttpRequest,
    form: QuestionForm,
    *,
    source: Profile | None = None,
    proposed: Mapping[str, Any] | None = None,
) -> HttpResponse:
    chosen = form["strategies"].value() or []
    context = {
        "nav": "new",
        "form": form,
        "source": source,
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
