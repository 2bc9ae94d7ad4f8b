"""What follows from the end of a run, in the transaction that ends it."""

from django.db.models import Q

from jobs.services.answer import answer_settle
from jobs.services.freshness import profiles_freshen
from jobs.services.hub_watch import commit_learn
from jobs.services.notice import notices_make


def run_ended(*, run_id: int) -> None:
    answer_settle(run_id=run_id)
    commit_learn(run_id=run_id)
    profiles_freshen(of=Q(runs=run_id))
    notices_make(run_id=run_id)
