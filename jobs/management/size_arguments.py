"""The size command's flags."""

from django.core.management.base import CommandParser

from jobs.sizing import architectures
from jobs.sizing.size_question import ATTENTIONS, DEFAULT_TOKENS
from jobs.sizing.stored import AS_STORED, WEIGHTS
from jobs.sizing.units import DTYPE_BYTES


def add_arguments(parser: CommandParser) -> None:
    """Values are read by `size_question`, so that a bad one is refused with a sentence."""
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
