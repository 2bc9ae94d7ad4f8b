"""Where --save keeps an answer: seen to before anything is measured, so that no answer is lost."""

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from jobs.sizing.refusal import Refusal

SQLITE = "sqlite"


def prepare_database() -> None:
    """Makes the tables where there are none yet, as `up` does. Raises Refusal where nothing could be kept."""
    try:
        executor = MigrationExecutor(connection)
        if not executor.loader.applied_migrations:
            call_command("migrate", interactive=False, verbosity=0)
        elif executor.migration_plan(executor.loader.graph.leaf_nodes()):
            raise Refusal(
                "old_database",
                f"The database of {kept_where()} is of an older version of this program.",
                "Start that portal once with make run, which brings it up to date, or leave --save out.",
            )
    except DatabaseError as reason:
        setting = "DATA" if _is_file() else "DATABASE_URL"
        message = f"Nothing can be kept in {kept_where()}: {_first_line(reason)}."
        raise Refusal("no_database", message, f"Correct {setting}, or leave --save out.") from None


def kept_where() -> str:
    """The portal that this command keeps answers in."""
    return f"the portal in {settings.DATA_DIR}" if _is_file() else "the portal of DATABASE_URL"


def _is_file() -> bool:
    return connection.vendor == SQLITE


def _first_line(reason: Exception) -> str:
    return (str(reason).strip().splitlines() or [type(reason).__name__])[0].rstrip(".")
