"""A recheck beside the run that it rechecks."""

from jobs.models import Run
from jobs.procedure.measurement import Measurement
from jobs.procedure.recheck import Found, Recheck, compared
from jobs.selectors.freshness import basis_of
from jobs.selectors.run import measurements_of


def recheck_of(run: Run) -> Recheck | None:
    """None where it rechecks nothing that is kept, or one of both has no limit (yet)."""
    before = run.compared_with
    if before is None or not (before.stages.get("limit") and run.stages.get("limit")):
        return None
    return compared(_found(before), _found(run))


def _found(run: Run) -> Found:
    rows = measurements_of(run)
    return Found(
        basis=basis_of(run),
        on_cpu=run.device.get("kind") == "cpu",
        stages=run.stages,
        measurements=[Measurement.from_json(row) for row in rows],
    )
