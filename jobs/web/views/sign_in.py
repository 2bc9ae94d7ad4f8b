"""Signing in and out; too many tries are refused by django-axes."""

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView
from django.utils.decorators import method_decorator

from jobs.web.forms.account import SignInForm


@method_decorator(login_not_required, name="dispatch")
class SignIn(LoginView):
    form_class = SignInForm
    template_name = "account/sign_in.html"
    redirect_authenticated_user = True


class SignOut(LogoutView):
    """Only by POST, so that no link can do it."""
