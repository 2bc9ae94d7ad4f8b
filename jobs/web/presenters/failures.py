"""Why a run ended without an answer, and what to do next."""

from dataclasses import dataclass

from jobs.models import Run, RunState

NEXT_STEPS = {
    "unknown_model_type": "Pick a model that this worker’s transformers knows, or update transformers on the worker.",
    "needs_remote_code": "Pick a model that transformers supports by itself: no code from a model is run here.",
    "gated": "Accept the model’s licence on the Hub and give the worker a token, then run again.",
    "model_not_found": "Check the model’s id and revision, then ask again.",
    "bad_token": "Give the worker a valid Hub token, then run again.",
    "offline": "Connect the worker to the Hub or put the model below the models folder, then run again.",
    "load_failed": "Give the run more capacity, or ask about a smaller model or a smaller precision.",
    "hung": "Run again; if it hangs again, leave out the strategy that the log names last.",
    "crashed": "Run again; if it crashes again, leave out the strategy that the log names last.",
    "killed": "The system ended the measuring process, most likely for want of CPU RAM: free some, then run again.",
}


@dataclass(frozen=True, kw_only=True)
class Failure:
    title: str
    cause: str
    next_step: str
    tone: str


def failure(run: Run) -> Failure | None:
    """None for a run that goes on or is done."""
    error = run.error or {}
    match run.state:
        case RunState.FAILED:
            code = str(error.get("code", ""))
            return Failure(
                title="The run failed",
                cause=str(error.get("message") or "The worker gave no reason."),
                next_step=str(error.get("hint") or NEXT_STEPS.get(code, "Read the log’s last lines, then run again.")),
                tone="bad",
            )
        case RunState.LOST:
            return Failure(
                title="The run is lost",
                cause=str(error.get("message") or "Its worker stopped answering twice while measuring."),
                next_step=str(
                    error.get("hint") or "See on the workers page whether the device is back, then run again."
                ),
                tone="bad",
            )
        case RunState.CANCELLED:
            who = f" by {run.cancelled_by}" if run.cancelled_by else ""
            return Failure(
                title="Cancelled",
                cause=f"This run was cancelled{who}. What was measured until then is kept below.",
                next_step="Run it again when you want the answer.",
                tone="warn",
            )
    return None
