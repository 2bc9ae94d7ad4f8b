"""Gives back what dead workers held, sends lost wake-ups again, and asks at night for what is to be rechecked."""

import logging
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, connection

from jobs.services.sweep import run_sweep

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--every", type=float, metavar="SECONDS", help="go on for ever, so often")

    def handle(self, *_: Any, every: float | None = None, **__: Any) -> None:
        if every is None:
            self.stdout.write(str(run_sweep()))
            return
        while True:
            _sweep_and_go_on()
            time.sleep(every)


def _sweep_and_go_on() -> None:
    """A database that is away for a moment does not end the sweeping."""
    try:
        swept = run_sweep()
    except DatabaseError as error:
        logger.warning("not swept: %s", error)
    else:
        if swept:
            logger.info("swept: %s", swept)
    finally:
        connection.close()
