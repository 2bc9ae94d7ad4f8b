"""Looks, while a run goes on, whether it still should."""

import logging
import time
from dataclasses import dataclass, field

from django.db import DatabaseError

from jobs.models import Run, RunState

logger = logging.getLogger(__name__)
LOOK_EVERY_S = 0.2


@dataclass(kw_only=True)
class Watch:
    """Call it as often as you like; it asks the database five times a second at most. Once True it stays True."""

    run_id: int
    lease: str
    stopped: bool = False
    looked_at: float = field(default=float("-inf"))

    def __call__(self) -> bool:
        now = time.monotonic()
        if not self.stopped and now - self.looked_at >= LOOK_EVERY_S:
            self.looked_at = now
            self.stopped = not self._goes_on()
        return self.stopped

    def _goes_on(self) -> bool:
        try:
            row = Run.objects.filter(pk=self.run_id).values_list("state", "lease").first()
        except DatabaseError as error:
            logger.warning("run %s could not look for its cancelling: %s", self.run_id, error)
            return True
        return row == (RunState.RUNNING, self.lease)
