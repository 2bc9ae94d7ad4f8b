"""How long the run that a form describes will take, quick and full, by arithmetic alone."""

from dataclasses import replace

from jobs.asking.model_named import spec_of
from jobs.asking.question import QuestionForm
from jobs.procedure.duration import run_duration
from jobs.procedure.question import Depth, Question
from jobs.selectors.model_entry import entry_find, record_of
from jobs.sizing.refusal import Refusal
from jobs.sizing.stored import with_weights


def run_lengths(form: QuestionForm) -> dict[str, str]:
    """{"quick": "about 3 to 5 min", "full": …}; empty while no run is possible, or too little is known of it."""
    form = form.as_sent()
    if not form.is_valid():
        return {}
    try:
        spec = spec_of(form.cleaned_data["model"], form.cleaned_data["revision"])
    except Refusal:
        return {}
    entry = entry_find(spec)
    record = record_of(entry) if entry else None
    if record is None or form.refused_by(record):
        return {}
    question, kind = _whole_device(form), form.cleaned_data["worker"].kind
    record = with_weights(record, question.weights)
    return {
        str(depth): run_duration(
            replace(question, depth=depth), record, parameters=record.parameters, device_kind=kind
        ).text
        for depth in Depth
    }


def _whole_device(form: QuestionForm) -> Question:
    """With the device's own capacity where the form leaves it blank: the estimate depends on it."""
    question = form.question(form.cleaned_data["model"])
    return replace(
        question, capacity_bytes=question.capacity_bytes or form.cleaned_data["worker"].capacity_bytes or None
    )
