"""What the question's form asks while it is filled in: is this a model, what does it need, how long is the run."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from jobs.asking.model_named import spec_of
from jobs.asking.question import EstimateForm, QuestionForm
from jobs.models import EntryState, ModelEntry
from jobs.selectors.model_entry import entries_before, entry_find, record_of
from jobs.selectors.permission import Act
from jobs.services.model_entry import model_entry_is_outdated, model_entry_request
from jobs.services.model_reading import model_entry_read_on
from jobs.sizing.refusal import Refusal
from jobs.web.formats import parameters, tokens
from jobs.web.permission import needs
from jobs.web.plan import Plan, plan_of
from jobs.web.presenters.outlook import shown
from jobs.web.run_length import run_lengths
from jobs.web.session import signed_in


@require_safe
@needs(Act.ASK)
def model_check(request: HttpRequest) -> JsonResponse:
    """{"state": "empty|inspecting|ready|refused", …}. `entry` asks again without asking for a new inspection."""
    text, revision = request.GET.get("model", "").strip(), request.GET.get("revision", "").strip()
    if not text:
        return JsonResponse({"state": "empty"})
    try:
        entry = _entry(request, text, revision)
    except Refusal as refusal:
        return JsonResponse({"state": "refused", **refusal.as_json()})
    return JsonResponse(_told(entry))


@require_safe
@needs(Act.ASK)
def duration(request: HttpRequest) -> JsonResponse:
    """{"quick": "about 3 to 5 min", "full": …} for the fields in the address; empty where they do not say enough."""
    return JsonResponse(run_lengths(QuestionForm(request.GET)))


@require_safe
@needs(Act.ASK)
def estimate(request: HttpRequest) -> HttpResponse:
    """The panel of estimates for the fields in the address, as HTML; in its place a sentence on what is missing."""
    plan = plan_of(EstimateForm(request.GET))
    found = shown(plan)
    if isinstance(plan, Plan) and found.again:
        model_entry_read_on(entry=plan.entry, dtype=plan.question.dtype)
    return render(request, "profiles/outlook.html", {"outlook": found})


def _entry(request: HttpRequest, text: str, revision: str) -> ModelEntry:
    """What is known, and what was refused stays so until it is submitted; only a new model is inspected."""
    known = entry_find(spec_of(text, revision))
    asked_again = known is not None and request.GET.get("entry") == str(known.pk)
    if known and (known.state != EntryState.WAITING or asked_again) and not model_entry_is_outdated(entry=known):
        return known
    return model_entry_request(text=text, revision=revision or None, user=signed_in(request))


def _told(entry: ModelEntry) -> dict[str, object]:
    told: dict[str, object] = {"state": "inspecting", "entry": entry.pk, "title": entry.name}
    if entry.state == EntryState.REFUSED:
        return told | {"state": "refused", **(entry.error or {})}
    if entry.state == EntryState.WAITING:
        before = entries_before(entry)
        behind = f"behind {before} other {'model' if before == 1 else 'models'}" if before else "usually under 30 s"
        return told | {"message": f"Reading the config of {entry.name}, {behind} …"}
    record = record_of(entry)
    native = record.native_context if record else None
    count = record.parameters if record else None
    reads = f"reads up to {tokens(native)}" if native else "sets no maximum of its own"
    weights = " · architecture only (random weights)" if record and record.random_weights else ""
    return told | {
        "state": "ready",
        "parameters": count,
        "native_context": native,
        "message": f"{parameters(count)} parameters · {reads}{weights}",
        "hint": "",
    }
