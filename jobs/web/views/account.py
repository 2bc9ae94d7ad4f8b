"""One's own account: password, e-mail, where one is signed in."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from jobs.models import Membership
from jobs.selectors.permission import role_of
from jobs.selectors.session import session_get, sessions_of
from jobs.services.contact import contact_change
from jobs.services.password import password_changed
from jobs.services.session import session_end, sessions_end
from jobs.web.forms.account import ChangePasswordForm, ContactForm
from jobs.web.found import found_or_404
from jobs.web.presenters.browsers import browser_name
from jobs.web.session import signed_in


@require_safe
def account(request: HttpRequest) -> HttpResponse:
    return _page(request)


@require_POST
@sensitive_post_parameters()
def password(request: HttpRequest) -> HttpResponse:
    user = signed_in(request)
    form = ChangePasswordForm(user, request.POST)
    if not form.is_valid():
        return _page(request, password=form)
    form.save()
    was_key = str(request.session.session_key)
    update_session_auth_hash(request, user)
    password_changed(user=user, session_key=str(request.session.session_key), was_key=was_key)
    messages.success(request, "The password is changed. Every other session is ended.")
    return redirect("account")


@require_POST
@sensitive_post_parameters("password_now")
def contact(request: HttpRequest) -> HttpResponse:
    user = signed_in(request)
    form = ContactForm(user, request.POST)
    if not form.is_valid():
        return _page(request, contact=form)
    contact_change(user=user, email=form.cleaned_data["email"], email_told=form.cleaned_data["email_told"])
    messages.success(request, "Saved.")
    return redirect("account")


@require_POST
def end_session(request: HttpRequest, pk: int) -> HttpResponse:
    user = signed_in(request)
    found = found_or_404(session_get, pk)
    if found.user_id != user.pk:
        raise PermissionDenied
    if found.session_key == request.session.session_key:
        logout(request)
        return redirect("sign-in")
    session_end(user=user, signed_in=found)
    messages.success(request, "That session is ended.")
    return redirect("account")


@require_POST
def end_others(request: HttpRequest) -> HttpResponse:
    count = sessions_end(user=signed_in(request), but=str(request.session.session_key))
    ended = {0: "There was no other session.", 1: "The other session is ended."}
    messages.success(request, ended.get(count, f"The {count} other sessions are ended."))
    return redirect("account")


def _page(
    request: HttpRequest, *, password: ChangePasswordForm | None = None, contact: ContactForm | None = None
) -> HttpResponse:
    user = signed_in(request)
    told = Membership.objects.filter(user=user).values_list("email_told", flat=True).first()
    context = {
        "nav": "account",
        "password": password or ChangePasswordForm(user),
        "contact": contact or ContactForm(user, initial={"email": user.email, "email_told": told is not False}),
        "role": role_of(user),
        "email_is_set": bool(settings.EMAIL_URL),
        "sessions": _sessions(user, str(request.session.session_key)),
    }
    return render(request, "account/page.html", context)


def _sessions(user: User, here: str) -> list[dict[str, Any]]:
    return [
        {"row": row, "browser": browser_name(row.browser), "is_here": row.session_key == here}
        for row in sessions_of(user)
    ]
