"""A limit is adopted for deployment, and withdrawn."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from jobs.models import Adoption, Profile, Run
from jobs.services.deed import What, deed_record
from jobs.services.run import refuse_archived
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import strategy_label

MOST_REASON_CHARACTERS = 500


@transaction.atomic
def adoption_adopt(
    *, run: Run, user: User | None, context: int, strategy: str | None = None, reason: str = ""
) -> Adoption:
    """In place of what was adopted before; strategy: None for the one that the run recommends.

    Raises Refusal: no_answer, archived, not_measured, bad_context, above_limit, no_reason, bad_reason.
    """
    profile = Profile.objects.select_for_update(of=("self",)).get(pk=run.profile_id)
    refuse_archived(profile)
    if run.is_active or not run.answered:
        raise Refusal(
            "no_answer", f"Run {run.pk} has no answer to adopt.", "Adopt one of a run that has ended with one."
        )
    strategy = strategy or run.limit_strategy
    _refuse_context(context, strategy, limits_of(run.stages))
    reason = " ".join(reason.split())
    _refuse_reason(reason, needed=context != run.limit_context or strategy != run.limit_strategy)
    _withdraw(profile)
    adoption = Adoption.objects.create(
        profile=profile, run=run, context=context, strategy=strategy, reason=reason, adopted_by=user
    )
    Profile.objects.filter(pk=profile.pk).update(adoption=adoption)
    about = adopted_text(adoption) + (f": {reason}" if reason else "")
    deed_record(user=user, what=What.ADOPTED, on=profile.name, about=about, run=run)
    return adoption


@transaction.atomic
def adoption_withdraw(*, adoption: Adoption, user: User | None) -> bool:
    """Whether it was in force."""
    profile = Profile.objects.select_for_update(of=("self",)).get(pk=adoption.profile_id)
    if profile.adoption_id != adoption.pk:
        return False
    _withdraw(profile)
    deed_record(user=user, what=What.WITHDREW, on=profile.name, about=adopted_text(adoption), run=adoption.run)
    return True


def limits_of(stages: Mapping[str, Any]) -> dict[str, int]:
    """By the name of each strategy that ran acceptably in a run: the longest context that it did at."""
    found = (stages.get("limit") or {}).get("by_strategy") or {}
    return {name: one["context"] for name, one in found.items() if one.get("context")}


def adopted_text(adoption: Adoption) -> str:
    """“2,048 tokens, quantized 4 bits (hqq)”."""
    return f"{adoption.context:,} tokens, {strategy_label(adoption.strategy)}"


def _withdraw(profile: Profile) -> None:
    Adoption.objects.filter(profile=profile, withdrawn_at=None).update(withdrawn_at=timezone.now())
    Profile.objects.filter(pk=profile.pk).update(adoption=None)


def _refuse_context(context: int, strategy: str, limits: Mapping[str, int]) -> None:
    limit = limits.get(strategy)
    if limit is None:
        raise Refusal(
            "not_measured", f"The run has no limit with “{strategy[:60]}”.", "Choose one of the strategies that ran."
        )
    if context < 1:
        raise Refusal("bad_context", f"A context of {context:,} tokens is none.", "Use a whole number above zero.")
    if context > limit:
        raise Refusal(
            "above_limit",
            f"{context:,} tokens are more than the {limit:,} that ran with {strategy_label(strategy)}.",
            "Adopt that or less.",
        )


def _refuse_reason(reason: str, *, needed: bool) -> None:
    if needed and not reason:
        raise Refusal(
            "no_reason", "Another limit than the run recommends needs a reason.", "Say in a sentence why it is adopted."
        )
    if len(reason) > MOST_REASON_CHARACTERS:
        most = MOST_REASON_CHARACTERS
        raise Refusal("bad_reason", f"The reason has more than {most} characters.", "Write a shorter one.")
