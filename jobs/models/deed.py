"""Who did what."""

from django.conf import settings
from django.db import models


class Deed(models.Model):
    """Written in the transaction of what it tells of, and never changed.

    who is how the doer was called then ("the schedule" where nobody did it); `what` is a word of
    jobs.services.deed.What; `on` names the object as it was called then, and `about` says more where there is more.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="deeds")
    who = models.CharField(max_length=150)
    what = models.CharField(max_length=40, db_index=True)
    on = models.CharField(max_length=200)
    about = models.CharField(max_length=600, blank=True, default="")
    profile = models.ForeignKey("jobs.Profile", null=True, on_delete=models.SET_NULL, related_name="deeds")
    run = models.ForeignKey("jobs.Run", null=True, on_delete=models.SET_NULL, related_name="deeds")
    at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.who} {self.what} {self.on}"
