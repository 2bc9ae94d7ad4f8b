"""When the end of a profile's runs is told, and to which webhook."""

from django.contrib.auth.models import User
from django.db import transaction

from jobs.models import Notify, Profile
from jobs.services.deed import What, deed_record
from jobs.services.webhook import Reach, webhook_post
from jobs.services.webhook_address import webhook_host, webhook_target


@transaction.atomic
def notify_change(*, user: User, profile: Profile, notify: Notify, webhook: str | None = None) -> Profile:
    """webhook: None leaves it, empty takes it away. Raises Refusal("bad_webhook")."""
    if webhook:
        webhook_target(webhook)
    changes = {"notify": notify} | ({} if webhook is None else {"webhook": webhook})
    Profile.objects.filter(pk=profile.pk).update(**changes)
    profile.refresh_from_db(fields=["notify", "webhook"])
    about = notify.label + (f", by {webhook_host(profile.webhook)}" if profile.webhook else "")
    deed_record(user=user, what=What.CHANGED_NOTICES, on=profile.name, about=about, profile=profile)
    return profile


def webhook_try(*, user: User, profile: Profile, address: str, reach: Reach | None = None) -> str:
    """A message that says that it is a test; what came back. Raises WebhookFailed and Refusal("bad_webhook")."""
    text = f"A test from KV Portal, sent by {user.get_username()}: the end of runs will be told here."
    message = {"text": text, "run": None, "profile": profile.name, "state": "test", "limit": None, "strategy": None}
    return webhook_post(address=address, message=message | {"url": None}, reach=reach)
