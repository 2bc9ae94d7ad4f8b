"""The object that an address names."""

from collections.abc import Callable
from typing import TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404

Found = TypeVar("Found")


def found_or_404(get: Callable[[int], Found], pk: int) -> Found:
    """What a selector has under this number. Raises Http404."""
    try:
        return get(pk)
    except ObjectDoesNotExist as missing:
        raise Http404 from missing
