"""A forgotten password: a link by e-mail."""

import hashlib

from django.conf import settings
from django.contrib.auth.forms import PasswordResetForm
from django.core.cache import cache

from jobs.services.wake import password_reset_send

AGAIN_AFTER_S = 300


def password_reset_ask(*, email: str) -> bool:
    """Has a worker mail a link, if the address is somebody's: who asks learns of it neither by the answer nor by how
    long it takes. Not twice within five minutes. False where the message could not be handed on."""
    key = f"reset-{hashlib.sha256(email.strip().lower().encode()).hexdigest()}"
    if not cache.add(key, True, AGAIN_AFTER_S):
        return True
    if password_reset_send(email=email):
        return True
    cache.delete(key)
    return False


def password_reset_mail(email: str) -> None:
    """To every active account of that address that has a password."""
    form = PasswordResetForm({"email": email})
    if settings.EMAIL_URL and form.is_valid():
        form.save(
            domain_override=settings.PUBLIC_URL,
            subject_template_name="account/reset_subject.txt",
            email_template_name="account/reset_mail.txt",
            from_email=settings.DEFAULT_FROM_EMAIL,
        )
