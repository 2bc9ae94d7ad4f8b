"""Which strategies can run on this device with what is installed, and the reason where one cannot."""

from importlib.util import find_spec

from jobs.measuring.quanto_kernels import why_not_quanto
from jobs.sizing.strategy import CacheKind, Strategy

OFFLOADING_NEEDS_CUDA = "offloading needs a CUDA device: on this CPU the cache is in host memory already"
FAMILIES = {
    "default": Strategy(),
    "static": Strategy(cache=CacheKind.STATIC),
    "offloaded": Strategy(cache=CacheKind.OFFLOADED),
    "offloaded_static": Strategy(cache=CacheKind.OFFLOADED_STATIC),
    "quantized:hqq": Strategy(cache=CacheKind.QUANTIZED, backend="hqq", bits=4),
    "quantized:quanto": Strategy(cache=CacheKind.QUANTIZED, backend="quanto", bits=4),
    "quantized:fp8": Strategy(cache=CacheKind.QUANTIZED, backend="fp8"),
    "chunked": Strategy(chunk_tokens=512),
}


def why_not(strategy: Strategy, *, device: str) -> str | None:
    """The reason that a strategy cannot run on `device` ("cpu", "cuda:0"); None where it can."""
    if strategy.is_offloaded and not device.startswith("cuda"):
        return OFFLOADING_NEEDS_CUDA
    if strategy.backend == "quanto":
        return why_not_quanto()
    if strategy.backend == "hqq":
        return None if find_spec("hqq") else "hqq is not installed: pip install hqq"
    if strategy.backend == "fp8":
        return _why_not_fp8()
    return None


def families(*, device: str) -> dict[str, bool | str]:
    """Each family of strategies with True, or the reason it cannot be used."""
    return {name: why_not(strategy, device=device) or True for name, strategy in FAMILIES.items()}


def _why_not_fp8() -> str | None:
    import transformers.cache_utils

    if hasattr(transformers.cache_utils, "Fp8QuantizedLayer"):
        return None
    return "this version of transformers has no fp8 cache: upgrade it"
