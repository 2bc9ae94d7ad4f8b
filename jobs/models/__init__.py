from jobs.models.choices import ACTIVE_STATES, TERMINAL_STATES, TRANSITIONS, EntryState, RunState
from jobs.models.event import Event
from jobs.models.measurement import Measurement
from jobs.models.model_entry import ModelEntry
from jobs.models.profile import Profile
from jobs.models.prompt_count import PromptCount
from jobs.models.prompt_set import PromptSet
from jobs.models.run import Run
from jobs.models.setup_link import SetupLink
from jobs.models.worker import Worker
from jobs.models.workload import Workload

__all__ = [
    "ACTIVE_STATES",
    "TERMINAL_STATES",
    "TRANSITIONS",
    "EntryState",
    "Event",
    "Measurement",
    "ModelEntry",
    "Profile",
    "PromptCount",
    "PromptSet",
    "Run",
    "RunState",
    "SetupLink",
    "Worker",
    "Workload",
]
