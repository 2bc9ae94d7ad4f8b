"""A run's answer in columns, for the lists, and the profile's latest."""

from collections.abc import Mapping
from typing import Any

from jobs.models import Profile, Run


def answer_columns(limit: Mapping[str, Any]) -> dict[str, Any]:
    """Of a run, from the result of its limit stage."""
    best = limit.get("ran_at") or {}
    return {
        "answered": True,
        "limit_context": limit.get("context"),
        "limit_strategy": limit.get("strategy") or "",
        "limited_by": limit.get("limited_by") or "",
        "fits": bool(limit.get("fits_workload")),
        "peak_bytes": best.get("peak_bytes"),
        "tokens_per_s": best.get("decode_tokens_per_s"),
    }


def answer_settle(*, run_id: int) -> None:
    """When a run has ended: what it found is its profile's answer, if it found one and no later run did."""
    run = Run.objects.only("profile_id", "answered", "queued_at").get(pk=run_id)
    if not run.answered:
        return
    latest = Run.objects.filter(profile_id=run.profile_id, answered=True).order_by("-queued_at", "-pk")
    Profile.objects.filter(pk=run.profile_id).update(answer_run=latest.values_list("pk", flat=True).first())
