import json

import pytest

from jobs.exports.run_json import run_json
from jobs.models import Run, RunState
from jobs.selectors.run import measurements_of
from tests.browser import demo
from tests.factories import make_run

CONTRACT = {"run", "state", "environment", "device", "stages"}


def test_a_finished_run_is_the_contracts_json(db: None) -> None:
    pk = demo.begin()
    demo.finish(pk)
    run = Run.objects.get(pk=pk)
    told = json.loads(json.dumps(run_json(run, measurements_of(run))))
    assert set(told) >= CONTRACT
    assert (told["run"], told["state"], told["error"]) == (pk, "done", None)
    assert set(told["stages"]) == {"budgets", "baseline", "changes", "limit"}
    assert told["stages"] == run.stages
    made = [*told["stages"]["baseline"]["measurements"]]
    assert made[0] in told["measurements"]
    assert told["finished_at"].endswith("+00:00")


def test_a_going_run_tells_its_measurements_before_their_stage_is_over(db: None) -> None:
    pk = demo.begin()
    demo.tell(pk, until="measurement")
    run = Run.objects.get(pk=pk)
    told = run_json(run, measurements_of(run))
    assert (told["state"], told["finished_at"]) == ("running", None)
    assert len(told["measurements"]) == 1
    assert "baseline" not in told["stages"]


@pytest.mark.parametrize("state", [RunState.QUEUED, RunState.FAILED, RunState.LOST])
def test_a_run_without_an_answer_tells_what_there_is(db: None, state: RunState) -> None:
    error = {"code": "load_failed", "message": "No.", "hint": "Try."} if state == RunState.FAILED else None
    told = run_json(make_run(state=state, error=error), [])
    assert (told["state"], told["error"], told["stages"], told["started_at"]) == (str(state), error, {}, None)
