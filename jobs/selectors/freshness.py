"""What a run's answer rests on, and what one would rest on now."""

from jobs.models import Profile, Run
from jobs.procedure.freshness import Basis, versions_in
from jobs.running.hub_commit import is_commit

NAME_CHARACTERS = 120  # as a worker keeps its device's


def now_of(profile: Profile, *, read_by: str | None) -> Basis:
    """What a run of this profile would rest on if it began now. read_by: the transformers that read the model last.

    A worker that is gone, or has not said yet what it is, is not known.
    """
    worker, entry = profile.worker, profile.model_entry
    probed = worker is not None and bool(worker.versions)
    return Basis(
        question=profile.question,
        versions=versions_in(worker.versions) if worker else {},
        device_name=worker.device_name if worker and probed else "",
        device_bytes=worker.capacity_bytes if worker and probed else 0,
        commit=entry.revision if is_commit(entry.revision) else entry.seen_commit,
        config_hash=entry.config_hash,
        config_by=read_by or "",
    )


def basis_of(run: Run) -> Basis:
    """What a run's answer rests on."""
    named = run.device | {"name": str(run.device.get("name") or "")[:NAME_CHARACTERS]}
    return Basis.of_run(question=run.question, environment=run.environment, device=named, config_hash=run.config_hash)
