"""A run's data as the pages have it, made by the procedure over a fake bench."""

import json
from typing import Any

from tests.procedure.worlds import World, answered, question, record, strategies


def run_data(**changes: Any) -> dict[str, Any]:
    """question, stages and measurements, gone through JSON as in the database."""
    asked = question(strategies=strategies("static", "quantized:hqq:4"), **changes)
    run = answered(World(asked=asked, record=record()))
    rows = [dict(event.data) for event in run.events if event.kind == "measurement"]
    data: dict[str, Any] = json.loads(
        json.dumps({"question": asked.as_json(), "stages": run.stages, "measurements": rows})
    )
    return data
