"""What is asked of a model's sizes, on the command line and by programs, and the answer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jobs.sizing.budgets import SizedPoint, size_point, weights_bytes
from jobs.sizing.layer_counts import layer_counts, window_tokens
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal
from jobs.sizing.stored import AS_STORED, WEIGHTS, stored_json, with_weights
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import dtype_bytes

DEFAULT_TOKENS = ("1024", "8192", "32768")
MOST_TOKENS = 2**27
MOST_SEQUENCES = 2**16
ATTENTIONS = ("sdpa", "eager")


@dataclass(frozen=True, kw_only=True)
class SizeQuestion:
    """tokens: cached tokens per sequence. fresh: inspect the model again though a record of it is kept."""

    model: str
    tokens: tuple[int, ...]
    sequences: int = 1
    dtype: str = "bfloat16"
    strategy: Strategy = BASELINE
    attention: str = "sdpa"
    weights: str = AS_STORED
    padded: bool = False
    fresh: bool = False


def size_question(given: Mapping[str, Any], *, flag: str = "") -> SizeQuestion:
    """Of `given`'s values as they were written; flag: what stands before a name where it is told, such as "--".

    Raises Refusal: bad_arguments, bad_weights, unknown_dtype, unknown_strategy.
    """
    dtype_bytes(given["dtype"])
    return SizeQuestion(
        model=given["model"],
        tokens=_each(f"{flag}tokens", given["tokens"]),
        sequences=_whole(f"{flag}sequences", given["sequences"], MOST_SEQUENCES),
        dtype=given["dtype"],
        strategy=Strategy.parse(given["strategy"]),
        attention=_attention(given["attention"]),
        weights=_weights(given["weights"]),
        padded=given["padded"],
        fresh=given.get("fresh", False),
    )


def size_answer(record: InspectionRecord, asked: SizeQuestion) -> dict[str, Any]:
    """The contract's JSON; bytes and tokens. Raises Refusal: not_inspected, not_applicable, bad_weights."""
    record = with_weights(record, asked.weights)
    points = [
        size_point(
            record,
            tokens=tokens,
            sequences=asked.sequences,
            dtype=asked.dtype,
            strategy=asked.strategy,
            attention=asked.attention,
            padded=asked.padded,
        )
        for tokens in asked.tokens
    ]
    return {
        "model": record.model,
        "model_type": record.model_type,
        "architecture": record.architecture,
        "transformers": record.versions["transformers"],
        "dtype": asked.dtype,
        "kernels": "cpu",  # whose passes the working memory is of
        "parameters": record.parameters,
        "weights_bytes": weights_bytes(record, asked.dtype),
        "weights": stored_json(record, asked.dtype),
        "native_context": record.native_context,
        "layers": layer_counts(record),
        "window_tokens": window_tokens(record),
        "points": [_point_json(point, record.native_context) for point in points],
    }


def _point_json(point: SizedPoint, native_context: int | None) -> dict[str, Any]:
    beyond = native_context is not None and point.tokens > native_context
    return point.as_json() | {"beyond_native_context": beyond}


def _each(name: str, given: Iterable[object]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_whole(name, text, MOST_TOKENS) for text in given))


def _attention(text: str) -> str:
    if text not in ATTENTIONS:
        raise Refusal(
            "bad_arguments", f"“{text[:40]}” is no attention that is sized.", f"Use {' or '.join(ATTENTIONS)}."
        )
    return text


def _weights(text: str) -> str:
    if text not in WEIGHTS:
        raise Refusal("bad_weights", f"“{text[:40]}” is no way to pack weights.", f"Use {', '.join(WEIGHTS)}.")
    return text


def _whole(name: str, given: object, most: int) -> int:
    """Digits as a person types them (`16000`, `16,000`, `16_000`), from 1 to `most`."""
    digits = str(given).replace(",", "").replace("_", "")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20 and 1 <= int(digits) <= most):
        raise Refusal(
            "bad_arguments",
            f"{name} takes whole numbers from 1 to {most:,}, not “{str(given)[:40]}”.",
            "For example --tokens 16000 128000 --sequences 2." if name.startswith("-") else f"Change {name}.",
        )
    return int(digits)
