"""How far two releases of a library lie apart, by their numbers alone."""

import re
from enum import IntEnum

NUMBERS = re.compile(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?")
UNFINISHED = re.compile(r"\d[._-]?(a|alpha|b|beta|c|rc|pre|preview)\d*|dev", re.IGNORECASE)


class Step(IntEnum):
    SAME = 0
    PATCH = 1  # the third number, a post-release, another build of the same release
    MINOR = 2  # the second number or the first; between two of which one is no release yet; no numbers to tell by


def step_between(was: str, now: str) -> Step:
    """`5.23.0` to `5.24.0` is MINOR, `0.2.8` to `0.2.8.post1` and `2.13.0+cpu` to `2.13.0+cu130` are PATCH.

    A local label (PEP 440, `+cu130`) is compared where both have one: `2.13.0` to `2.13.0+cu130` is SAME.
    """
    (public_was, *label_was), (public_now, *label_now) = was.split("+", 1), now.split("+", 1)
    if was == now or (public_was == public_now and not (label_was and label_now)):
        return Step.SAME
    before, after = NUMBERS.match(was), NUMBERS.match(now)
    if before is None or after is None or _is_unfinished(was) or _is_unfinished(now):
        return Step.MINOR
    return Step.PATCH if _release(before) == _release(after) else Step.MINOR


def _release(found: re.Match[str]) -> tuple[int, int]:
    return int(found[1]), int(found[2] or 0)


def _is_unfinished(version: str) -> bool:
    """Of a build's own name behind the plus nothing is known."""
    return UNFINISHED.search(version.partition("+")[0]) is not None
