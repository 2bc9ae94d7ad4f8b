"""Shared answers: the one that a link opens, and the lists of them."""

from django.db.models import Q, QuerySet
from django.utils import timezone

from jobs.models import Run, Share
from jobs.selectors.token import token_hash

HEAVY = ("snapshot", *(f"run__{name}" for name in ("stages", "question", "environment", "device", "error")))


def share_open(token: str) -> Share | None:
    """With all that its page asks. Unknown, expired and revoked are one answer of one query."""
    related = ("run__profile__answer_run", "run__profile__adoption")
    heavy = [f"{run}__{name}" for run in ("run", "run__profile__answer_run") for name in ("stages", "environment")]
    return _open(token).select_related(*related).defer(*heavy).first()


def share_is_open(token: str) -> bool:
    return _open(token).exists()


def _open(token: str) -> QuerySet[Share]:
    digest = token_hash(token)
    lasting = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return Share.objects.filter(lasting, token_sha256=digest, revoked_at=None)


def share_get(pk: int) -> Share:
    """Raises Share.DoesNotExist."""
    return Share.objects.select_related("run__profile").get(pk=pk)


def shares_list() -> QuerySet[Share]:
    """All of the team's, the latest first, without their snapshots."""
    return Share.objects.select_related("run__profile", "shared_by").defer(*HEAVY, "run__profile__question")


def shares_of(run: Run) -> QuerySet[Share]:
    return shares_list().filter(run=run)
