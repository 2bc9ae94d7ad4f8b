"""What follows from the end of a run, in the transaction that ends it."""

from jobs.services.answer import answer_settle


def run_ended(*, run_id: int) -> None:
    answer_settle(run_id=run_id)
