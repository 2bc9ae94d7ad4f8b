"""Gives back what dead workers held, sends lost wake-ups again, and asks at night for what is to be rechecked."""

import logging
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, connection

from jobs.services.hub_watch import hub_look
from jobs.services.night import night_recheck
from jobs.services.sweep import run_sweep

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--every", type=float, metavar="SECONDS", help="go on for ever, so often")

    def handle(self, *_: Any, every: float | None = None, **__: Any) -> None:
        if every is None:
            self.stdout.write(", ".join(_round()) or "nothing to do")
            return
        while True:
            _sweep_and_go_on()
            time.sleep(every)


def _sweep_and_go_on() -> None:
    """A database that is away for a moment does not end the sweeping."""
    try:
        done = _round()
    except DatabaseError as error:
        logger.warning("not swept: %s", error)
    else:
        if done:
            logger.info("swept: %s", ", ".join(done))
    finally:
        connection.close()


def _round() -> list[str]:
    """What was done. Lost runs first: the Hub may keep the rest waiting for some seconds."""
    swept = run_sweep()
    asked = night_recheck()
    moved = hub_look()
    told = {"rechecks asked for": len(asked), "models moved": moved}
    return [str(swept)] * bool(swept) + [f"{what}: {count}" for what, count in told.items() if count]
