"""The size command's flags, and what they ask."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.management.base import CommandParser

from jobs.sizing import architectures
from jobs.sizing.refusal import Refusal
from jobs.sizing.stored import AS_STORED, WEIGHTS
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import DTYPE_BYTES, dtype_bytes

DEFAULT_TOKENS = ("1024", "8192", "32768")
MOST_TOKENS = 2**27
MOST_SEQUENCES = 2**16
ATTENTIONS = ("sdpa", "eager")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """tokens: cached tokens per sequence. fresh: inspect the model again though a record of it is kept."""

    model: str
    tokens: tuple[int, ...]
    sequences: int
    dtype: str
    strategy: Strategy
    attention: str
    weights: str
    padded: bool
    fresh: bool


def add_arguments(parser: CommandParser) -> None:
    """Values are read by `asked_of`, so that a bad one is refused with a sentence."""
    parser.epilog = (
        f"Built in: {', '.join(architectures.names())}. "
        "The table: KV cache while answering; KV after prompt, which a one-shot prefill keeps alive; working, all else "
        "on the device; peak, in the larger phase (in); CPU RAM, what offloading needs there."
    )
    parser.add_argument(
        "model", help="a built-in architecture, a folder with config.json, a GGUF file, or a Hub id org/name[@revision]"
    )
    parser.add_argument(
        "--tokens",
        nargs="+",
        default=DEFAULT_TOKENS,
        metavar="N",
        help=f"cached tokens of one sequence ({', '.join(DEFAULT_TOKENS)})",
    )
    parser.add_argument("--sequences", default="1", metavar="B", help="sequences at once (1)")
    parser.add_argument("--dtype", default="bfloat16", help=f"{', '.join(DTYPE_BYTES)} (bfloat16)")
    parser.add_argument(
        "--strategy", default="default", help="default, static, quantized:hqq:4, chunked:512, … (default)"
    )
    parser.add_argument("--attention", default="sdpa", help=f"{', '.join(ATTENTIONS)} (sdpa)")
    parser.add_argument(
        "--weights", default=AS_STORED, help=f"{', '.join(WEIGHTS)}: packed by bitsandbytes while they are loaded"
    )
    parser.add_argument(
        "--padded", action="store_true", help="sequences of unequal lengths, filled up on the left to --tokens"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="read the model again: a Hub model's branch may have moved since"
    )


def asked_of(options: Mapping[str, Any]) -> Asked:
    """Raises Refusal: bad_arguments, unknown_dtype, unknown_strategy."""
    dtype_bytes(options["dtype"])
    return Asked(
        model=options["model"],
        tokens=tuple(dict.fromkeys(_whole("--tokens", text, MOST_TOKENS) for text in options["tokens"])),
        sequences=_whole("--sequences", options["sequences"], MOST_SEQUENCES),
        dtype=options["dtype"],
        strategy=Strategy.parse(options["strategy"]),
        attention=_attention(options["attention"]),
        weights=_weights(options["weights"]),
        padded=options["padded"],
        fresh=options["fresh"],
    )


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


def _whole(flag: str, given: object, most: int) -> int:
    """Digits as a person types them (`16000`, `16,000`, `16_000`), from 1 to `most`."""
    digits = str(given).replace(",", "").replace("_", "")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20 and 1 <= int(digits) <= most):
        raise Refusal(
            "bad_arguments",
            f"{flag} takes whole numbers from 1 to {most:,}, not “{str(given)[:40]}”.",
            "For example --tokens 16000 128000 --sequences 2.",
        )
    return int(digits)
