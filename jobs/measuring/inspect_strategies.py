"""Which strategies a model cannot take, asked of transformers itself: make the cache and see."""

from collections.abc import Mapping, Sequence
from typing import Any

from transformers import cache_utils

from jobs.measuring.library_errors import LIBRARY_ERRORS
from jobs.measuring.meta_cache import make_cache
from jobs.sizing.offloaded import is_moved
from jobs.sizing.record import LayerGroup
from jobs.sizing.strategy import CacheKind, Strategy

PROBE_SLOTS = 64
# fp8 needs no package; where transformers has none yet, the next is tried, and one without its package says nothing.
QUANTIZED = (
    Strategy(cache=CacheKind.QUANTIZED, backend="fp8"),
    Strategy(cache=CacheKind.QUANTIZED, backend="hqq", bits=4),
)
PROBES: Mapping[str, Strategy] = {
    "quantized": QUANTIZED[0] if hasattr(cache_utils, "Fp8QuantizedLayer") else QUANTIZED[1],
    "static": Strategy(cache=CacheKind.STATIC),
    "offloaded": Strategy(cache=CacheKind.OFFLOADED),
    "offloaded_static": Strategy(cache=CacheKind.OFFLOADED_STATIC),
}


def strategy_refusals(config: Any, layers: Sequence[LayerGroup]) -> dict[str, str]:
    """Strategy family -> why this model cannot take it."""
    reasons = {family: _why_not(config, layers, probe) for family, probe in PROBES.items()}
    return {family: reason for family, reason in reasons.items() if reason}


def _why_not(config: Any, layers: Sequence[LayerGroup], strategy: Strategy) -> str | None:
    try:
        make_cache(config, strategy, slots=PROBE_SLOTS)
    except ImportError:
        return None
    except LIBRARY_ERRORS as error:
        return _reason(strategy, error)
    if strategy.is_offloaded and not any(is_moved(group, strategy) for group in layers):
        return "This model has no layer that this cache would move to CPU RAM."
    return None


def _reason(strategy: Strategy, error: Exception) -> str:
    if strategy.is_quantized:
        return "A quantized cache is not possible for this model: not all of its layers are full attention."
    return f"transformers has no such cache for this model ({type(error).__name__}: {error})."
