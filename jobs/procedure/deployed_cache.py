"""The KV cache that is about to be deployed, read from what generate() takes or from a strategy's name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jobs.procedure.snippet import generate_settings
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import GROUP_ELEMENTS, RESIDUAL_TOKENS, CacheKind, Strategy

KEYS = ("cache_implementation", "cache_config", "prefill_chunk_size")
DYNAMIC = ("dynamic", "default")
QUANTIZED_DEFAULTS: Mapping[str, Any] = {
    "backend": "quanto",
    "nbits": 4,
    "axis_key": 0,
    "axis_value": 0,
    "q_group_size": GROUP_ELEMENTS,
    "residual_length": RESIDUAL_TOKENS,
}
"""What transformers 5 takes for a quantized cache where cache_config leaves it out (cache_utils.QuantizedCache)."""


@dataclass(frozen=True, kw_only=True)
class DeployedCache:
    """strategy: None where it is none that is ever measured; options: those of a quantized cache, filled up."""

    label: str
    strategy: Strategy | None
    options: Mapping[str, Any] = field(default_factory=dict)

    def otherwise(self) -> dict[str, tuple[str, str]]:
        """Option -> (deployed, as the strategy is measured), where they are not the same."""
        if self.strategy is None or not self.options:
            return {}
        measured = generate_settings(self.strategy, 1).get("cache_config", {})
        return {
            f"cache_config.{name}": (str(self.options[name]), str(value))
            for name, value in measured.items()
            if self.options.get(name) != value
        }


def cache_named(name: str) -> DeployedCache:
    """By a strategy's name, `quantized:hqq:4`. Raises Refusal("unknown_strategy")."""
    strategy = Strategy.parse(name)
    return DeployedCache(label=str(strategy), strategy=strategy)


def cache_of(given: Mapping[str, Any]) -> DeployedCache:
    """By generate()'s own arguments. Raises Refusal("bad_settings")."""
    implementation = given.get("cache_implementation")
    if implementation is not None and not isinstance(implementation, str):
        raise _bad("cache_implementation", "a name, such as quantized")
    chunk = given.get("prefill_chunk_size")
    if chunk is not None and (isinstance(chunk, bool) or not isinstance(chunk, int) or chunk < 1):
        raise _bad("prefill_chunk_size", "a whole number of tokens")
    options = _options(implementation, given.get("cache_config"))
    name = _name(implementation, options)
    chunked = "" if chunk is None else f"+chunked:{chunk}"
    label = f"{name}{chunked}".removeprefix("default+")
    try:
        return DeployedCache(label=label, strategy=Strategy.parse(f"{name}{chunked}"), options=options)
    except Refusal:  # transformers has it, and it is never measured here
        return DeployedCache(label=label, strategy=None, options=options)


def _name(implementation: str | None, options: Mapping[str, Any]) -> str:
    if implementation is None or implementation in DYNAMIC:
        return str(CacheKind.DEFAULT)
    if implementation != CacheKind.QUANTIZED:
        return implementation[:40]
    backend = str(options["backend"]).lower()[:20]
    return f"quantized:{backend}" if backend == "fp8" else f"quantized:{backend}:{options['nbits']}"


def _options(implementation: str | None, given: Any) -> dict[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise _bad("cache_config", "a JSON object")
    unknown = sorted(set(given or {}) - set(QUANTIZED_DEFAULTS))
    if unknown:
        raise _bad(f"cache_config.{unknown[0][:40]}", f"one of {', '.join(QUANTIZED_DEFAULTS)}")
    return {**QUANTIZED_DEFAULTS, **(given or {})} if implementation == CacheKind.QUANTIZED else {}


def _bad(name: str, wanted: str) -> Refusal:
    return Refusal("bad_settings", f"{name} must be {wanted}.", "Write it as generate() takes it.")
