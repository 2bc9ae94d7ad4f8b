"""Why a model does not load, said so that its reader knows what to do."""

from jobs.measuring.hub_refusals import hub_refusal
from jobs.measuring.outcomes import is_out_of_memory
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal

REMOTE_CODE_SIGNS = ("trust_remote_code", "custom code", "remote code")


def load_refusal(error: Exception, spec: ModelSpec) -> Refusal:
    """The refusal for an error of reading a config or weights; an error under another counts too."""
    return hub_refusal(causes_of(error), spec) or _own_refusal(error, spec)


def _own_refusal(error: Exception, spec: ModelSpec) -> Refusal:
    text = str(error)
    if any(sign in text for sign in REMOTE_CODE_SIGNS):
        return Refusal(
            "needs_remote_code",
            f"“{spec.name}” runs on code that comes with it, which is not run here.",
            "Choose a model that transformers itself implements.",
        )
    if "model type" in text and ("not recognize" in text or "Unrecognized" in text):
        return Refusal(
            "unknown_model_type",
            f"This transformers does not know the architecture of “{spec.name}”.",
            "Upgrade transformers on the worker, or choose another model.",
        )
    if is_out_of_memory(error):
        return Refusal(
            "out_of_memory",
            f"The weights of “{spec.name}” do not fit on this device.",
            "Choose a smaller precision, a smaller model or a bigger device.",
        )
    if isinstance(error, ImportError):
        hint = "Install that package on the worker, for the Python that measures, or choose weights packed otherwise."
    elif spec.kind is ModelKind.HUB and "safetensors" in text:
        hint = "The model offers no safetensors; pickles are not loaded."
    else:
        hint = "Check that the folder or revision is complete and made for this transformers."
    return Refusal("load_failed", f"“{spec.name}” does not load: {first_line(text) or type(error).__name__}", hint)


def first_line(text: str) -> str:
    """The first line that says something, at most 300 characters."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:300]


def causes_of(error: BaseException) -> list[BaseException]:
    """The error and what it came from, step by step."""
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    return causes
