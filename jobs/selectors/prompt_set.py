"""The team's own prompts, and how long they are for a model."""

from django.db.models import QuerySet

from jobs.models import ModelEntry, PromptCount, PromptSet
from jobs.procedure.own_prompts import OwnPrompts
from jobs.procedure.question import Question
from jobs.sizing.refusal import Refusal


def prompt_sets_list() -> QuerySet[PromptSet]:
    return PromptSet.objects.select_related("owner").order_by("name", "pk")


def prompt_set_get(pk: int) -> PromptSet:
    """Raises PromptSet.DoesNotExist."""
    return PromptSet.objects.get(pk=pk)


def prompt_set_find(sha256: str | None) -> PromptSet | None:
    return PromptSet.objects.filter(sha256=sha256).first() if sha256 else None


def prompts_of(question: Question) -> OwnPrompts | None:
    """What the question is to be measured with; None for random tokens. Raises Refusal: prompts_gone."""
    if question.prompts_sha256 is None:
        return None
    kept = prompt_set_find(question.prompts_sha256)
    if kept is None:
        raise Refusal(
            "prompts_gone",
            "The prompts that this question was asked with were deleted.",
            "Ask a similar question with other prompts, or with random tokens.",
        )
    return OwnPrompts(texts=tuple(kept.texts), bad_lines=(), sha256=kept.sha256, file_bytes=kept.file_bytes)


def prompt_count_find(entry: ModelEntry, prompts: PromptSet) -> PromptCount | None:
    return PromptCount.objects.filter(model_entry=entry, prompts=prompts).first()
