"""What can be seen to be unanswerable before anything is loaded."""

from jobs.procedure.contexts import MULTIPLE_TOKENS
from jobs.procedure.question import Question
from jobs.procedure.words import tokens_text
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal

MOST_TOKENS = 10_000_000
MOST_SEQUENCES = 4096
MOST_HEADROOM_PERCENT = 90
MOST_STRATEGIES = 12
MOST_TOKENS_PER_S = 100_000
LIFTED_BY = {"max_kl": "Write none for no bound."}
"""What takes a bound off that is on by itself."""


def refuse_impossible(question: Question, record: InspectionRecord) -> None:
    """Raises a Refusal whose code names the field, or "beyond_native_context"."""
    refuse_nonsense(question)
    _within_native(question, record.native_context)


def refuse_nonsense(question: Question) -> None:
    """What needs no knowledge of the model. Raises a Refusal whose code names the field."""
    _whole("prompt", question.prompt_tokens, MOST_TOKENS)
    _whole("typical_prompt", question.typical_prompt_tokens, question.prompt_tokens)
    _whole("answer", question.answer_tokens, MOST_TOKENS)
    _whole("sequences", question.sequences, MOST_SEQUENCES)
    if not 0 <= question.headroom_percent <= MOST_HEADROOM_PERCENT:
        raise Refusal(
            "bad_headroom", f"A headroom of {question.headroom_percent:g} % is not possible.", "Use 0 to 90 percent."
        )
    for name, value in _amounts(question).items():
        if value is not None and not 0 < value < float("inf"):
            raise Refusal(
                f"bad_{name}",
                f"{name.replace('_', ' ')} must be more than zero.",
                LIFTED_BY.get(name, "Leave it out for no bound."),
            )
    if (question.min_decode_tokens_per_s or 0) > MOST_TOKENS_PER_S:
        raise Refusal(
            "bad_min_speed", f"No model answers at more than {MOST_TOKENS_PER_S:,} tokens/s.", "Ask for less."
        )
    if len(question.strategies) > MOST_STRATEGIES:
        raise Refusal(
            "too_many_strategies",
            f"{len(question.strategies)} strategies are too many for one run.",
            f"Name at most {MOST_STRATEGIES}.",
        )


def _amounts(question: Question) -> dict[str, float | None]:
    return {
        "capacity": question.capacity_bytes,
        "min_speed": question.min_decode_tokens_per_s,
        "max_ttft": question.max_ttft_s,
        "max_kl": question.max_kl,
        "host_capacity": question.host_capacity_bytes,
        "time_cap": question.time_cap_s,
    }


def _whole(name: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        words = name.replace("_", " ")
        raise Refusal(f"bad_{name}", f"{words} must be 1 to {most:,}, not {value:,}.", f"Change the {words}.")


def _within_native(question: Question, native_context: int | None) -> None:
    if native_context is None:
        return
    if question.context_tokens <= native_context < MULTIPLE_TOKENS + question.answer_tokens:
        raise Refusal(
            "beyond_native_context",
            f"The model's own maximum is {tokens_text(native_context)}, and the shortest prompt that is measured has "
            f"{MULTIPLE_TOKENS}.",
            f"Ask for an answer of at most {max(0, native_context - MULTIPLE_TOKENS):,} tokens.",
        )
    if question.context_tokens <= native_context:
        return
    raise Refusal(
        "beyond_native_context",
        f"Prompt and answer are {tokens_text(question.context_tokens)}; the model's own maximum is "
        f"{tokens_text(native_context)}.",
        f"Ask for at most {native_context - question.answer_tokens:,} prompt tokens with this answer, "
        "or extend the model's context in its config (rope scaling).",
    )
