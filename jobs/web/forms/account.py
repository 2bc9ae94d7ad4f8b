"""Signing in, the first account and those that join, and what a member changes of their own."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User

if TYPE_CHECKING:
    OwnPasswordForm = SetPasswordForm[User]
else:
    OwnPasswordForm = SetPasswordForm  # no subscripts at run time

RULES = "At least 8 characters, not all digits, not a common one."


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": "This user name and password do not go together.",
        "inactive": "This account is closed.",
    }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["username"].label = "User name"


class FirstAccountForm(forms.Form):
    username = forms.CharField(
        label="User name", max_length=150, widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True})
    )
    password = forms.CharField(
        label="Password",
        strip=False,
        help_text=RULES,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    again = forms.CharField(
        label="The password again", strip=False, widget=forms.PasswordInput(attrs={"autocomplete": "new-password"})
    )

    def clean_again(self) -> str:
        again = str(self.cleaned_data["again"])
        if again != self.cleaned_data.get("password"):
            raise forms.ValidationError("The two passwords differ.")
        return again


class JoinForm(FirstAccountForm):
    email = forms.EmailField(
        label="E-mail",
        max_length=254,
        required=False,
        help_text="For a forgotten password, and to be told when your runs are done.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    field_order = ["username", "email", "password", "again"]


class ContactForm(forms.Form):
    """A forgotten password is mailed a link: the address changes with the password alone."""

    email = forms.EmailField(
        label="Address", max_length=254, required=False, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )
    password_now = forms.CharField(
        label="Your password, where the address changes",
        strip=False,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    email_told = forms.BooleanField(label="Tell me by e-mail when my runs are done", required=False)

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        changes = "email" in given and given["email"] != self.user.email
        if changes and not self.user.check_password(given.get("password_now") or ""):
            self.add_error("password_now", "This is not your password: the address stays as it is.")
        return given


class ResetForm(forms.Form):
    email = forms.EmailField(
        label="E-mail", max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email", "autofocus": True})
    )


class NewPasswordForm(OwnPasswordForm):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        word_passwords(self)


class ChangePasswordForm(PasswordChangeForm):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        word_passwords(self)
        self.fields["old_password"].label = "The password now"
        del self.fields["old_password"].widget.attrs["autofocus"]


def word_passwords(form: forms.BaseForm) -> None:
    """In the words of the other forms."""
    form.fields["new_password1"].help_text = RULES
    form.fields["new_password2"].label = "The new password again"
    form.fields["new_password2"].help_text = ""
