"""The team: who is in it, as what; and what an administrator does about it."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from jobs.asking.fields import said
from jobs.models import Invitation, Role
from jobs.selectors.invitation import invitation_get, invitations_open
from jobs.selectors.permission import Act
from jobs.selectors.team import member_get, members_list
from jobs.services.invitation import invitation_make, invitation_revoke
from jobs.services.team import account_end, account_restore, password_link_make, role_change
from jobs.sizing.refusal import Refusal
from jobs.web.forms.team import ROLES, InviteForm, RoleForm
from jobs.web.found import found_or_404
from jobs.web.permission import needs
from jobs.web.presenters.team import member_rows
from jobs.web.session import signed_in


@require_safe
def team(request: HttpRequest) -> HttpResponse:
    return _page(request)


@require_POST
@never_cache
@needs(Act.ADMINISTER)
def invite(request: HttpRequest) -> HttpResponse:
    """The answer alone shows the link: it is kept nowhere."""
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, form=form)
    asked = form.cleaned_data
    token = invitation_make(
        user=signed_in(request), role=Role(asked["role"]), note=asked["note"], days=int(asked["days"])
    )
    made = {"kind": "invitation", "whom": asked["note"], "role": asked["role"], "days": asked["days"]}
    return _page(request, made=made | {"link": settings.PUBLIC_URL + reverse("join", args=[token])})


@require_POST
@needs(Act.ADMINISTER)
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    try:
        revoked = invitation_revoke(user=signed_in(request), invitation=invitation_get(pk))
    except Invitation.DoesNotExist as missing:
        raise Http404 from missing
    if revoked:
        messages.success(request, "The invitation is revoked: its link no longer works.")
    else:
        messages.info(request, "There was nothing to revoke: the invitation is used, revoked or expired.")
    return redirect("team")


@require_POST
@needs(Act.ADMINISTER)
def role(request: HttpRequest, pk: int) -> HttpResponse:
    member = _member(pk)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "That is not a role.")
        return redirect("team")
    try:
        role_change(by=signed_in(request), user=member, role=Role(form.cleaned_data["role"]))
    except Refusal as refusal:
        messages.error(request, said(refusal))
    else:
        messages.success(request, f"{member.get_username()} is now {form.cleaned_data['role']}.")
    return redirect("team")


@require_POST
@needs(Act.ADMINISTER)
def end(request: HttpRequest, pk: int) -> HttpResponse:
    member = _member(pk)
    try:
        account_end(by=signed_in(request), user=member)
    except Refusal as refusal:
        messages.error(request, said(refusal))
    else:
        messages.success(request, f"The account of {member.get_username()} is ended, and signed out everywhere.")
    return redirect("team")


@require_POST
@needs(Act.ADMINISTER)
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    member = _member(pk)
    account_restore(by=signed_in(request), user=member)
    messages.success(request, f"{member.get_username()} may sign in again.")
    return redirect("team")


@require_POST
@never_cache
@needs(Act.ADMINISTER)
def password_link(request: HttpRequest, pk: int) -> HttpResponse:
    member = _member(pk)
    try:
        parts = password_link_make(by=signed_in(request), user=member)
    except Refusal as refusal:
        messages.error(request, said(refusal))
        return redirect("team")
    link = settings.PUBLIC_URL + reverse("reset", args=parts)
    return _page(request, made={"kind": "password", "whom": member.get_username(), "link": link})


def _page(request: HttpRequest, *, form: InviteForm | None = None, made: dict[str, Any] | None = None) -> HttpResponse:
    context = {
        "nav": "team",
        "members": member_rows(members_list(), you=signed_in(request)),
        "invitations": invitations_open(),
        "form": form or InviteForm(),
        "roles": ROLES,
        "made": made,
    }
    return render(request, "team/page.html", context)


def _member(pk: int) -> User:
    return found_or_404(member_get, pk)
