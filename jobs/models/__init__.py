from jobs.models.adoption import Adoption
from jobs.models.api_token import ApiToken
from jobs.models.choices import (
    ACTIVE_STATES,
    TERMINAL_STATES,
    TRANSITIONS,
    Channel,
    EntryState,
    Freshness,
    NoticeState,
    Notify,
    Purpose,
    Role,
    RunState,
    TokenScope,
)
from jobs.models.deed import Deed
from jobs.models.event import Event
from jobs.models.invitation import Invitation
from jobs.models.measurement import Measurement
from jobs.models.membership import Membership
from jobs.models.model_entry import ModelEntry
from jobs.models.notice import Notice
from jobs.models.profile import Profile
from jobs.models.prompt_count import PromptCount
from jobs.models.prompt_set import PromptSet
from jobs.models.run import Run
from jobs.models.setup_link import SetupLink
from jobs.models.share import Share
from jobs.models.signed_in import SignedIn
from jobs.models.tag import Tag
from jobs.models.worker import Worker
from jobs.models.workload import Workload

__all__ = [
    "ACTIVE_STATES",
    "TERMINAL_STATES",
    "TRANSITIONS",
    "Adoption",
    "ApiToken",
    "Channel",
    "Deed",
    "EntryState",
    "Event",
    "Freshness",
    "Invitation",
    "Measurement",
    "Membership",
    "ModelEntry",
    "Notice",
    "NoticeState",
    "Notify",
    "Profile",
    "PromptCount",
    "PromptSet",
    "Purpose",
    "Role",
    "Run",
    "RunState",
    "SetupLink",
    "Share",
    "SignedIn",
    "Tag",
    "TokenScope",
    "Worker",
    "Workload",
]
