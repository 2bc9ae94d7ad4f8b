"""What a run's page says of its files, and what a picture of it says beneath its name."""

from dataclasses import dataclass

from jobs.exports.generation_config import generation_config_text, use_snippet
from jobs.models import Run
from jobs.web.formats import number
from jobs.web.presenters.profile_rows import device_name


@dataclass(frozen=True, kw_only=True)
class TakeAway:
    """use: Python that takes the settings' file, empty where there is none; beside: what that file cannot hold.

    picture: of what a picture is, in a line; file_name: how a picture's begins.
    """

    use: str
    beside: tuple[str, ...]
    picture: str
    file_name: str


def take_away(run: Run) -> TakeAway:
    limit = run.stages.get("limit") or {}
    has_file = generation_config_text(limit, run.environment) is not None
    return TakeAway(
        use=use_snippet(limit, run.question) if has_file else "",
        beside=_beside(run, limit["prompt"]) if has_file else (),
        picture=picture_line(run),
        file_name=f"run-{run.pk}",
    )


def picture_line(run: Run) -> str:
    """“SmolLM2-135M · AMD EPYC 9454P · 1 Dec 2026 · run 12”."""
    at = run.finished_at or run.started_at or run.queued_at
    return " · ".join((run.model_entry.name, device_name(run, run.profile), f"{at.day} {at:%b %Y}", f"run {run.pk}"))


def _beside(run: Run, longest_prompt: int) -> tuple[str, ...]:
    """What the model is loaded with, and what the inputs may be: generate() takes neither from a file."""
    question = run.question
    sequences = question["sequences"]
    return (
        f"the longest prompt, {number(longest_prompt)} tokens",
        "one sequence at once" if sequences == 1 else f"at most {number(sequences)} sequences at once",
        f"the precision, {question['dtype']}",
        f"the attention, {question['attention']}",
    )
