"""How a worker's life is told from its death: all in seconds, after its last beat."""

from datetime import datetime, timedelta

BEAT_EVERY_S = 5.0
LOST_AFTER_S = 60.0  # a worker silent for so long is dead, and what it held goes back
WAKE_AGAIN_AFTER_S = 30.0  # a wake-up unanswered for so long is taken for lost, and sent again
MOST_ATTEMPTS = 2  # a run whose worker died under it this often is lost


def silent_since(now: datetime, lost_after_s: float = LOST_AFTER_S) -> datetime:
    """Whoever was last seen before this moment is dead."""
    return now - timedelta(seconds=lost_after_s)
