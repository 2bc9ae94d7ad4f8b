"""What was measured of a profile, for whoever is about to deploy it."""

from collections.abc import Mapping
from typing import Any

from jobs.models import Profile, Run
from jobs.procedure.deploy_verdict import Adopted, Measured
from jobs.sizing.refusal import Refusal

MOST_NAMED = 5
MOST_ID_CHARACTERS = 18


def profile_named(text: str) -> Profile:
    """By its id or by its exact name, archived or not. Raises Refusal: unknown_profile, ambiguous_profile."""
    profiles = Profile.objects.select_related("answer_run__model_entry", "adoption__run__model_entry")
    if text.isascii() and text.isdigit() and len(text) <= MOST_ID_CHARACTERS:
        found = profiles.filter(pk=int(text)).first()
        if found is not None:
            return found
    named = list(profiles.filter(name=text.replace("\0", "")).order_by("-pk")[: MOST_NAMED + 1])
    if len(named) == 1:
        return named[0]
    if not named:
        raise Refusal(
            "unknown_profile",
            f"There is no profile “{text[:80]}”.",
            "Give its id, as in its address, or its exact name.",
        )
    ids = ", ".join(str(profile.pk) for profile in named[:MOST_NAMED])
    raise Refusal("ambiguous_profile", f"Several profiles are named “{text[:80]}”.", f"Give an id: {ids}, …")


def measured_of(profile: Profile) -> Measured | None:
    """By the run whose limit was adopted where one was, else by the current answer; None without either."""
    adoption = profile.adoption
    run = adoption.run if adoption else profile.answer_run
    limit = run.stages.get("limit") if run else None
    if run is None or not limit:
        return None
    by_strategy: Mapping[str, Any] = limit["by_strategy"]
    return Measured(
        model=tuple(dict.fromkeys((run.model_entry.name, str(run.question["model"])))),
        revision=run.model_entry.revision,
        question=run.question,
        environment=run.environment,
        device_name=_device_name(run),
        limits=limits_of(run.stages),
        provisional=frozenset(strategy for strategy, found in by_strategy.items() if found.get("provisional")),
        adopted=Adopted(strategy=adoption.strategy, context=adoption.context) if adoption else None,
    )


def limits_of(stages: Mapping[str, Any]) -> dict[str, int | None]:
    """Tokens that each strategy of a run reached, by its name; None where nothing fits."""
    found = (stages.get("limit") or {}).get("by_strategy") or {}
    return {strategy: one.get("context") for strategy, one in found.items()}


def _device_name(run: Run) -> str:
    return str(run.device.get("name") or run.question["device"])
