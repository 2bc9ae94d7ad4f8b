"""Words that profiles are found by."""

from collections.abc import Iterable

from jobs.models import Profile, Tag
from jobs.sizing.refusal import Refusal

MOST_TAGS = 10
MOST_TAG_CHARACTERS = 40


def tags_read(text: str) -> list[str]:
    """Of a list with commas: in small letters, each once, by the alphabet. Raises Refusal: bad_tags."""
    names = sorted({" ".join(name.split()).lower() for name in text.split(",")} - {""})
    if len(names) > MOST_TAGS:
        raise Refusal("bad_tags", f"{len(names)} tags are more than {MOST_TAGS}.", "Leave some out.")
    for name in names:
        if len(name) > MOST_TAG_CHARACTERS or not name.isprintable():
            shown = name if name.isprintable() else ascii(name)
            raise Refusal(
                "bad_tags", f"“{shown[:60]}” is no tag.", f"Use at most {MOST_TAG_CHARACTERS} letters and signs."
            )
    return names


def tags_set(*, profile: Profile, names: Iterable[str]) -> None:
    """In place of those that it has."""
    wanted = list(names)
    Tag.objects.bulk_create([Tag(name=name) for name in wanted], ignore_conflicts=True)
    profile.tags.set(Tag.objects.filter(name__in=wanted))
