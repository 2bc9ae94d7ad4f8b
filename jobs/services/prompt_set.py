"""The team's own prompts are kept, and deleted."""

from django.contrib.auth.models import User

from jobs.models import PromptSet
from jobs.procedure.own_prompts import OwnPrompts
from jobs.selectors.permission import Act, may
from jobs.sizing.refusal import Refusal

MOST_NAME_CHARACTERS = 120


def prompt_set_save(*, user: User | None, name: str, prompts: OwnPrompts) -> PromptSet:
    """Keep them under the file's name; the same file is kept once, as whoever brought it first named it."""
    printable = "".join(character for character in name if character.isprintable()).strip()
    found, _ = PromptSet.objects.get_or_create(
        sha256=prompts.sha256,
        defaults={
            "name": (printable or "prompts")[:MOST_NAME_CHARACTERS],
            "texts": list(prompts.texts),
            "bad_lines": [line.as_json() for line in prompts.bad_lines],
            "count": len(prompts.texts),
            "file_bytes": prompts.file_bytes,
            "owner": user,
        },
    )
    return found


def prompt_set_may_delete(*, user: User | None, prompts: PromptSet) -> bool:
    return user is not None and may(user, Act.CHANGE, owners=[prompts.owner_id])


def prompt_set_delete(*, user: User | None, prompts: PromptSet) -> None:
    """With what was counted of them; the figures of runs stay. Raises Refusal: not_yours."""
    if not prompt_set_may_delete(user=user, prompts=prompts):
        raise Refusal("not_yours", f"“{prompts}” was brought by somebody else.", "Ask its owner to delete it.")
    prompts.delete()
