"""What a run tells while it goes on: numbered by whoever keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class EventKind(StrEnum):
    STATE = "state"  # {"state", "message"}: the run's own life, written by the services
    STAGE_STARTED = "stage_started"  # {"stage"}
    STAGE_FINISHED = "stage_finished"  # {"stage", "result"}: the stage's part of the contract's JSON
    MEASURING = "measuring"  # {"strategy", "context"}: about to run
    MEASUREMENT = "measurement"  # the contract's MEASUREMENT
    LOADED = "loaded"  # {"device", "environment", "weights_bytes", "load_s"}
    LOG = "log"  # {"message"}: a plain sentence


class Stage(StrEnum):
    DOWNLOAD = "download"  # before the four, of a model whose files come over a network
    BUDGETS = "budgets"
    BASELINE = "baseline"
    CHANGES = "changes"
    LIMIT = "limit"


@dataclass(frozen=True, kw_only=True)
class Event:
    kind: EventKind
    data: Mapping[str, Any] = field(default_factory=dict)
