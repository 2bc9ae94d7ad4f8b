"""A forgotten password: a link is asked for by e-mail, and a link is used."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_http_methods

from jobs.services.password import password_changed
from jobs.services.password_reset import password_reset_ask
from jobs.web.forms.account import NewPasswordForm, ResetForm
from jobs.web.robots import kept_out


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def reset_ask(request: HttpRequest) -> HttpResponse:
    """Where nothing can be mailed there is no such page. A known address and an unknown one are answered alike."""
    if not settings.EMAIL_URL:
        raise Http404
    form = ResetForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return render(request, "account/reset_ask.html", {"form": form})
    if not password_reset_ask(email=form.cleaned_data["email"]):
        form.add_error(None, "Nothing can be mailed just now. Try again in a minute.")
        return render(request, "account/reset_ask.html", {"form": form}, status=503)
    return render(request, "account/reset_asked.html")


@method_decorator([login_not_required, kept_out], name="dispatch")
class Reset(PasswordResetConfirmView):
    """Django's: the token goes from the address into the session before the form is shown."""

    form_class = NewPasswordForm
    template_name = "account/reset.html"
    success_url = reverse_lazy("sign-in")

    def get_user(self, uidb64: str) -> User | None:
        user = super().get_user(uidb64)
        return user if isinstance(user, User) and user.is_active else None

    def form_valid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        answer = super().form_valid(form)
        password_changed(user=form.user)
        messages.success(self.request, "The password is changed. Sign in with the new one.")
        return answer
