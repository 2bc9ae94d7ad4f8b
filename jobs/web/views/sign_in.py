"""Signing in and out; too many tries are refused by django-axes."""

from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView
from django.utils.decorators import method_decorator

from jobs.web.forms.account import SignInForm


@method_decorator(login_not_required, name="dispatch")
class SignIn(LoginView):
    form_class = SignInForm
    template_name = "account/sign_in.html"
    redirect_authenticated_user = True

    def get_context_data(self, **given: Any) -> dict[str, Any]:
        return super().get_context_data(**given) | {"email_is_set": bool(settings.EMAIL_URL)}


class SignOut(LogoutView):
    """Only by POST, so that no link can do it."""
