"""The tokens of one's own programs: made, shown once, revoked. An administrator sees the others' too."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from jobs.asking.fields import said
from jobs.models import ApiToken, Role, TokenScope
from jobs.selectors.api_token import api_token_get, api_tokens_of, api_tokens_of_others
from jobs.selectors.permission import role_of
from jobs.services.api_token import api_token_make, api_token_revoke
from jobs.sizing.refusal import Refusal
from jobs.web.forms.api_token import TokenForm
from jobs.web.session import signed_in


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    form = TokenForm(request.POST if request.method == "POST" else None)
    made = _made(request, form) if form.is_valid() else None
    return _page(request, TokenForm() if made else form, made=made)


@require_POST
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    try:
        found = api_token_get(pk)
        api_token_revoke(token=found, user=signed_in(request))
    except ApiToken.DoesNotExist as missing:
        raise Http404 from missing
    except Refusal as refusal:
        raise PermissionDenied(refusal.message) from refusal
    messages.info(request, f"“{found.name}” is revoked: nothing signs in with it any more.")
    return redirect("tokens")


def _made(request: HttpRequest, form: TokenForm) -> str | None:
    """The token itself, for this one answer; None where its name was refused."""
    user = signed_in(request)
    scope = TokenScope(form.cleaned_data["scope"])
    try:
        return api_token_make(user=user, name=form.cleaned_data["name"], scope=scope, by=user)
    except Refusal as refusal:
        form.add_error("name", said(refusal))
        return None


def _page(request: HttpRequest, form: TokenForm, *, made: str | None) -> HttpResponse:
    user = signed_in(request)
    context = {
        "nav": "tokens",
        "form": form,
        "made": made,
        "tokens": api_tokens_of(user),
        "others": api_tokens_of_others(user) if role_of(user) == Role.ADMIN else [],
        "only_reads": role_of(user) == Role.VIEWER,
    }
    return render(request, "account/tokens.html", context)
