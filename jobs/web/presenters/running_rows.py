"""The runs that wait or are measured now, in a line each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jobs.models import Profile, Run, RunState
from jobs.selectors.run import queue_reason
from jobs.sizing.model_spec import ModelKind
from jobs.web.presenters.profile_rows import device_name
from jobs.web.presenters.questions import workload_summary
from jobs.web.presenters.story import DOWNLOAD_TITLE, STAGE_TITLES


@dataclass(frozen=True, kw_only=True)
class RunningRow:
    pk: int
    state: str
    profile: Profile
    workload: str
    device_name: str
    doing: str


def running_rows(runs: Iterable[Run], before: Mapping[int, int]) -> list[RunningRow]:
    """before: by a run's number, how many come first on its worker."""
    return [
        RunningRow(
            pk=run.pk,
            state=run.state,
            profile=run.profile,
            workload=workload_summary(run.question),
            device_name=device_name(run, run.profile),
            doing=_doing(run, before.get(run.pk, 0)),
        )
        for run in runs
    ]


def _doing(run: Run, before: int) -> str:
    if run.state == RunState.QUEUED:
        return f"Number {before + 1} in the queue. {queue_reason(run, before)}"
    if run.state == RunState.CANCELLING:
        return "Its measuring process is being stopped."
    if run.model_entry.kind == ModelKind.HUB and not run.stages:
        return f"Stage: {DOWNLOAD_TITLE.lower()}."
    stage = next((title for name, title in STAGE_TITLES.items() if name not in run.stages), "Limit")
    return f"Stage: {stage.lower()}."
