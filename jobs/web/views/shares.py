"""The team's links: making one of a run, what there is of them, and revoking one."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from jobs.asking.fields import said
from jobs.models import Run
from jobs.selectors.permission import Act
from jobs.selectors.run import run_get
from jobs.selectors.share import share_get, shares_list, shares_of
from jobs.services.share import share_make, share_revoke
from jobs.sizing.refusal import Refusal
from jobs.web.forms.share import ShareForm, share_form
from jobs.web.found import found_or_404
from jobs.web.permission import needs, refuse_unless
from jobs.web.presenters.share_rows import share_rows
from jobs.web.session import signed_in
from jobs.web.views.share import share_address

PAGE = 50


@require_safe
@never_cache
def shares(request: HttpRequest) -> HttpResponse:
    page = Paginator(shares_list(), PAGE).get_page(request.GET.get("page"))
    return render(
        request, "share/list.html", {"nav": "shares", "page": page, "share_rows": _rows(request, page.object_list)}
    )


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@needs(Act.ASK)
def new(request: HttpRequest, pk: int) -> HttpResponse:
    """The form, and on its being sent the address: in this one answer, and never again."""
    found = _run(pk)
    form = share_form(found, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made, token = share_make(
                run=found,
                user=signed_in(request),
                title=form.cleaned_data["title"],
                sentence=form.cleaned_data["sentence"],
                expires_days=form.cleaned_data["expires"],
            )
        except Refusal as refusal:
            form.add_error(None, said(refusal))
        else:
            return render(request, "share/made.html", {"nav": "shares", "run": found, "share": made} | _links(token))
    return render(request, "share/new.html", {"nav": "shares", "run": found, **share_parts(request, found, form)})


@require_POST
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    found = found_or_404(share_get, pk)
    refuse_unless(request, Act.CHANGE, owners=[found.shared_by_id])
    share_revoke(share=found, user=signed_in(request))
    messages.success(request, f"The link “{found.title}” is revoked: its page is gone.")
    return redirect("shares")


def share_parts(request: HttpRequest, run: Run, form: ShareForm | None = None) -> dict[str, Any]:
    """What a page says of a run's links, and the form for one more where it has an answer."""
    may_be_shared = run.answered and not run.is_active
    return {
        "share_form": (form or share_form(run)) if may_be_shared else None,
        "share_rows": _rows(request, shares_of(run)) if may_be_shared else [],
    }


def _rows(request: HttpRequest, found: Any) -> Any:
    return share_rows(found, signed_in(request))


def _links(token: str) -> dict[str, str]:
    return {"address": share_address("share", token)}


def _run(pk: int) -> Run:
    return found_or_404(run_get, pk)
