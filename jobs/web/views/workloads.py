"""Saved workloads: listed, edited, archived and restored by their owner or an administrator."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from jobs.asking.fields import said
from jobs.models import Workload
from jobs.selectors.permission import Act, may
from jobs.selectors.workload import workload_get, workloads_list
from jobs.services.workload import workload_archive, workload_edit, workload_restore
from jobs.sizing.refusal import Refusal
from jobs.web.forms.workload import workload_form
from jobs.web.found import found_or_404
from jobs.web.permission import refuse_unless
from jobs.web.session import signed_in

PAGE = 50
FIELDS = {"workload_taken": "name", "bad_name": "name", "bad_notes": "notes", "bad_length": "typical_prompt_tokens"}


@require_safe
def workloads(request: HttpRequest) -> HttpResponse:
    archived = request.GET.get("archived") == "yes"
    page = Paginator(workloads_list(archived=archived), PAGE).get_page(request.GET.get("page"))
    rows = [(workload, may(request.user, Act.CHANGE, owners=[workload.owner_id])) for workload in page.object_list]
    context: dict[str, Any] = {"nav": "workloads", "rows": rows, "page": page, "archived": archived}
    return render(request, "workloads/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    found = _mine(request, pk)
    form = workload_form(found, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            workload_edit(workload=found, user=signed_in(request), **form.cleaned_data)
        except Refusal as refusal:
            form.add_error(FIELDS.get(refusal.code), said(refusal))
        else:
            messages.success(request, "Saved. Profiles keep the lengths that they were asked with.")
            return redirect("workloads")
    return render(request, "workloads/edit.html", {"nav": "workloads", "workload": found, "form": form})


@require_POST
def archive(request: HttpRequest, pk: int) -> HttpResponse:
    found = _mine(request, pk)
    if workload_archive(workload=found, user=signed_in(request)):
        messages.success(request, f"“{found.name}” is archived: the question’s form no longer offers it.")
    return redirect("workloads")


@require_POST
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    found = _mine(request, pk)
    if workload_restore(workload=found, user=signed_in(request)):
        messages.success(request, f"“{found.name}” is restored.")
    return redirect("workloads")


def _mine(request: HttpRequest, pk: int) -> Workload:
    found = found_or_404(workload_get, pk)
    refuse_unless(request, Act.CHANGE, owners=[found.owner_id])
    return found
