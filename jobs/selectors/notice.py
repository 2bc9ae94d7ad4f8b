"""What was told of a profile's runs, and what an answer is compared with."""

from django.db.models import Q, QuerySet

from jobs.models import Notice, Profile, Run


def answer_before(run: Run) -> Run | None:
    """The profile's answer before this run's."""
    earlier = Q(queued_at__lt=run.queued_at) | Q(queued_at=run.queued_at, pk__lt=run.pk)
    answers = Run.objects.filter(earlier, profile_id=run.profile_id, answered=True).exclude(pk=run.pk)
    return answers.only("limit_context", "limit_strategy", "fits").order_by("-queued_at", "-pk").first()


def notices_of(profile: Profile, most: int = 5) -> QuerySet[Notice]:
    """The latest first."""
    return Notice.objects.filter(run__profile=profile).order_by("-pk")[:most]


def notice_get(pk: int) -> Notice:
    """With the run that it tells of. Raises Notice.DoesNotExist."""
    notices = Notice.objects.select_related("run__profile", "run__model_entry", "run__worker")
    return notices.defer("run__stages", "run__question", "run__environment", "run__profile__question").get(pk=pk)
