"""A set's prompts are counted in a model's tokens, where models are read: no web process waits for a tokenizer."""

import logging
from collections.abc import Callable
from functools import partial

from django.db import transaction
from django.utils import timezone

from jobs.models import EntryState, ModelEntry, PromptCount, PromptSet
from jobs.procedure.prompt_lengths import PromptLengths
from jobs.running.prompt_counting import count_prompts
from jobs.services.measuring import measuring_process
from jobs.services.model_entry import was_forgotten
from jobs.services.presentable import presentable
from jobs.services.wake import prompts_count_send
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.refusal import Refusal

logger = logging.getLogger(__name__)
WAITING = EntryState.WAITING


@transaction.atomic
def prompt_count_request(*, entry: ModelEntry, prompts: PromptSet) -> PromptCount:
    """What is known, or on its way; a refused one is tried again, and one whose wake-up was lost is woken again."""
    count, made = PromptCount.objects.select_for_update().get_or_create(model_entry=entry, prompts=prompts)
    lost = count.state == WAITING and was_forgotten(count)
    if made or lost or count.state == EntryState.REFUSED:
        count.state, count.error, count.woken_at = WAITING, None, timezone.now()
        count.save()
        transaction.on_commit(partial(prompts_count_send, count_id=count.pk))
    return count


def prompt_count_make(count_id: int, *, count: Callable[..., PromptLengths] = count_prompts) -> None:
    """Count what waits, and keep the lengths or the reason why there are none."""
    asked = PromptCount.objects.select_related("model_entry", "prompts").filter(pk=count_id, state=WAITING).first()
    if asked is None:
        return
    try:
        with measuring_process() as process:
            lengths = count(ModelSpec.from_json(asked.model_entry.spec), asked.prompts.texts, process=process)
    except Refusal as refusal:
        logger.warning("the prompts were not counted for %s: %s", asked.model_entry, refusal)
        _keep(asked, state=EntryState.REFUSED, error=presentable(refusal.as_json(), words=True))
    except Exception:
        logger.exception("the prompts were not counted for %s", asked.model_entry)
        _keep(asked, state=EntryState.REFUSED, error=_internal().as_json())
    else:
        _keep(asked, state=EntryState.READY, lengths=lengths.as_json())


def _keep(asked: PromptCount, **fields: object) -> None:
    PromptCount.objects.filter(pk=asked.pk, state=WAITING).update(**fields)


def _internal() -> Refusal:
    return Refusal(
        "internal",
        "The counting of the prompts stopped for a reason that was not foreseen.",
        "The inspecting worker's log has the details; then count again.",
    )
