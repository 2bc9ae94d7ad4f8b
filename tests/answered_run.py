"""A run with an answer, told by the procedure over a scripted bench once in a session and copied after that."""

from typing import Any

from jobs.models import Measurement, Profile, Run
from tests.browser import demo
from tests.factories import make_profile, make_run

COPIED = (
    *("question", "state", "answered", "limit_context", "limit_strategy", "limited_by", "fits", "peak_bytes"),
    *("tokens_per_s", "device", "environment", "stages", "finished_at"),
)
_told: dict[str, Any] = {}
_measured: list[dict[str, Any]] = []


def answered_run() -> Run:
    """Nothing fits its workload, and the closest is named; its profile's answer."""
    if not _told:
        pk = demo.begin()
        demo.finish(pk)
        run = Run.objects.get(pk=pk)
        _told.update({name: getattr(run, name) for name in COPIED})
        fields = ("stage", "strategy", "context", "outcome", "data")
        _measured.extend(run.measurements.order_by("pk").values(*fields))
        return run
    profile = make_profile(demo.worker_row(), demo.entry(), name="Nightly summaries", question=_told["question"])
    run = make_run(profile=profile, **_told)
    Measurement.objects.bulk_create(Measurement(run=run, **row) for row in _measured)
    Profile.objects.filter(pk=profile.pk).update(answer_run=run, latest_run=run)
    return Run.objects.get(pk=run.pk)
