"""The profile command's flags, and the question that they ask."""

import re
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, TypeVar

from django.core.management.base import CommandParser

from jobs.management.prompts_file import CountedPrompts
from jobs.procedure.defaults import (
    HEADROOM_PERCENT,
    MAX_KL,
    OFFLOADED,
    STRATEGIES,
    strategies_for,
    typical_prompt_tokens,
)
from jobs.procedure.question import Depth, Question
from jobs.procedure.question_check import refuse_nonsense
from jobs.procedure.several_cards import card_names, device_of
from jobs.sizing.refusal import Refusal
from jobs.sizing.size_question import ATTENTIONS
from jobs.sizing.stored import AS_STORED, WEIGHTS
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import DTYPE_BYTES, bytes_text, parse_size

DEVICE = re.compile(r"cpu|cuda:\d{1,3}(,cuda:\d{1,3})*", re.ASCII)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
MOST_DIGITS = 12
NO_BOUND = "none"
MOST_NAME_CHARACTERS = 120
Value = TypeVar("Value")


def add_arguments(parser: CommandParser) -> None:
    """Values are read by `question_of`, so that a bad one is refused with a sentence."""
    parser.add_argument(
        "model", help="a built-in architecture, a folder with config.json, a GGUF file, or a Hub id org/name[@revision]"
    )
    parser.add_argument("--prompt", metavar="TOKENS", help="the workload's longest prompt; default: that of --prompts")
    parser.add_argument("--answer", required=True, metavar="TOKENS", help="new tokens of an answer")
    parser.add_argument(
        "--typical-prompt", metavar="TOKENS", help="default: a quarter of the longest, or --prompts' p50"
    )
    parser.add_argument("--prompts", metavar="FILE", help="your own prompts, one JSON or text line each")
    parser.add_argument("--sequences", default="1", metavar="N", help="sequences at once (%(default)s)")
    parser.add_argument("--dtype", default="bfloat16", help=f"{', '.join(DTYPE_BYTES)} (%(default)s)")
    parser.add_argument(
        "--weights",
        default=AS_STORED,
        help=f"{', '.join(WEIGHTS)} (%(default)s); the latter two packed by bitsandbytes while they are loaded",
    )
    parser.add_argument("--attention", default="sdpa", help=f"{', '.join(ATTENTIONS)} (%(default)s)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda:N, or several as cuda:0,cuda:1 (%(default)s)")
    parser.add_argument(
        "--capacity", metavar="SIZE", help="280MiB, 24GiB; default: all of the device; of several cards, of each"
    )
    parser.add_argument(
        "--headroom", default=str(HEADROOM_PERCENT), metavar="PERCENT", help="part of it kept free (%(default)s)"
    )
    parser.add_argument("--min-speed", metavar="TOKENS_PER_S", help="least answer speed of one sequence")
    parser.add_argument("--max-ttft", metavar="SECONDS", help="longest time to the first token")
    parser.add_argument(
        "--max-kl",
        default=f"{MAX_KL:g}",
        metavar="X",
        help="bound on what a quantized cache costs in quality: mean KL divergence of its next tokens from the normal "
        "cache's, in nats; none for no bound (default: %(default)s, which caches of 4 bits keep and 2 bits do not)",
    )
    parser.add_argument("--host-capacity", metavar="SIZE", help="CPU RAM that offloading may take")
    parser.add_argument(
        "--strategies",
        metavar="NAME,…",
        help=f"to try beside the normal cache, with commas (default: {', '.join(STRATEGIES)}; on a GPU also "
        f"{', '.join(OFFLOADED)}); others are quantized:hqq:2, quantized:fp8, static+chunked:256, …",
    )
    parser.add_argument("--compare-anyway", action="store_true", help="try the strategies where memory is no limit too")
    parser.add_argument(
        "--depth", default="quick", help="quick: each point once; full: until its figures agree (%(default)s)"
    )
    parser.add_argument("--time-cap", metavar="MINUTES", help="measure nothing new after this long")
    parser.add_argument(
        "--save", metavar="NAME", help="keep the answer as a profile of this name in the portal of DATA or DATABASE_URL"
    )


def question_of(options: Mapping[str, Any], *, prompts: CountedPrompts | None = None) -> Question:
    """Of the flags; a prompt's lengths that they leave open come from `prompts`.

    Raises Refusal for a value that cannot be read or is not possible.
    """
    _refuse_name(options["save"])
    device = options["device"]
    if not DEVICE.fullmatch(device):
        raise _bad("device", device, "cpu, cuda:N or cuda:0,cuda:1")
    prompt = _prompt_tokens(options["prompt"], prompts)
    time_cap_min = _optional(options, "time_cap", _number)
    question = Question(
        model=options["model"],
        prompt_tokens=prompt,
        typical_prompt_tokens=_typical_tokens(options["typical_prompt"], prompt, prompts),
        answer_tokens=_whole("answer", options["answer"]),
        sequences=_whole("sequences", options["sequences"]),
        dtype=_one_of("dtype", options["dtype"], tuple(DTYPE_BYTES)),
        attention=_one_of("attention", options["attention"], ATTENTIONS),
        weights=_one_of("weights", options["weights"], WEIGHTS),
        device=device,
        capacity_bytes=_capacity(options, device),
        headroom_percent=_number("headroom", options["headroom"]),
        min_decode_tokens_per_s=_optional(options, "min_speed", _number),
        max_ttft_s=_optional(options, "max_ttft", _number),
        max_kl=None if options["max_kl"] == NO_BOUND else _number("max_kl", options["max_kl"]),
        host_capacity_bytes=_optional(options, "host_capacity", _size),
        strategies=_strategies(options["strategies"], device),
        compare_anyway=options["compare_anyway"],
        depth=Depth(_one_of("depth", options["depth"], tuple(Depth))),
        time_cap_s=None if time_cap_min is None else 60 * time_cap_min,
        prompts_sha256=prompts.own.sha256 if prompts else None,
    )
    refuse_nonsense(question)
    return question


def _prompt_tokens(text: str | None, prompts: CountedPrompts | None) -> int:
    if text is not None:
        return _whole("prompt", text)
    if prompts is None:
        raise Refusal("bad_arguments", "The longest prompt is missing.", "Give --prompt, or --prompts with a file.")
    return prompts.lengths.suggested_longest


def _typical_tokens(text: str | None, prompt_tokens: int, prompts: CountedPrompts | None) -> int:
    if text is not None:
        return _whole("typical_prompt", text)
    if prompts is None:
        return typical_prompt_tokens(prompt_tokens)
    return min(prompt_tokens, prompts.lengths.suggested_typical)


def refuse_device(question: Question, devices: Sequence[Mapping[str, Any]]) -> None:
    """Raises Refusal for a device that is not among those found, or a capacity larger than it has."""
    device = device_of(question.device, devices)
    if device is None:
        listed = ", ".join(str(found["device"]) for found in devices)
        raise Refusal("bad_device", f"There is no device {question.device} here.", f"Choose one of: {listed}.")
    if (question.capacity_bytes or 0) > device["capacity_bytes"]:
        raise Refusal(
            "bad_capacity",
            f"{device['name']} has {bytes_text(device['capacity_bytes'])}.",
            "Ask for that or less, or leave --capacity out for all of it.",
        )


def _refuse_name(name: str | None) -> None:
    if name is not None and not (name.strip() and len(name) <= MOST_NAME_CHARACTERS and name.isprintable()):
        raise Refusal(
            "bad_save", f"A profile's name has 1 to {MOST_NAME_CHARACTERS} characters on one line.", "Change --save."
        )


def _strategies(text: str | None, device: str) -> tuple[Strategy, ...]:
    if text is None:
        return strategies_for("cuda" if device.startswith("cuda") else "cpu")
    named = dict.fromkeys(Strategy.parse(name) for name in text.split(",") if name.strip())
    return tuple(strategy for strategy in named if strategy != BASELINE)


def _optional(options: Mapping[str, Any], name: str, read: Callable[[str, str], Value]) -> Value | None:
    return None if options[name] is None else read(name, options[name])


def _capacity(options: Mapping[str, Any], device: str) -> int | None:
    """Of all cards together: each has the same part."""
    of_each = _optional(options, "capacity", _size)
    return None if of_each is None else of_each * len(card_names(device))


def _whole(name: str, text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS:
        return int(text)
    raise _bad(name, text, "a whole number")


def _number(name: str, text: str) -> float:
    """Written as most programs read it: float() alone takes digits of other scripts and 1_0 too."""
    if not NUMBER.fullmatch(text) or not isfinite(number := float(text)):
        raise _bad(name, text, "a number")
    return number


def _size(name: str, text: str) -> int:
    return parse_size(text)


def _one_of(name: str, text: str, allowed: tuple[str, ...]) -> str:
    if text in allowed:
        return text
    raise _bad(name, text, f"one of {', '.join(allowed)}")


def _bad(name: str, text: str, wanted: str) -> Refusal:
    flag = f"--{name.replace('_', '-')}"
    return Refusal(f"bad_{name}", f"{flag} must be {wanted}, not “{text[:40]}”.", f"Change {flag}.")
