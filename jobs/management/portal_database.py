"""A command that works with what the portal keeps, where there may be no portal yet."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError

from jobs.management.answer_keeping import kept_where
from jobs.sizing.refusal import Refusal


@contextmanager
def portal_database() -> Iterator[None]:
    """Raises Refusal("no_database") where the database cannot be read, or has no tables yet."""
    try:
        yield
    except DatabaseError:
        raise Refusal(
            "no_database",
            f"The database of {kept_where()} cannot be read, or is of another version of this program.",
            "Start that portal once with make run, or correct DATA or DATABASE_URL.",
        ) from None
