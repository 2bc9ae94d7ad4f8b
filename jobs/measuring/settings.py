"""The generation settings of one measurement: baseline and change differ in the strategy's settings alone."""

from typing import Any

from transformers import GenerationConfig

from jobs.sizing.strategy import GROUP_ELEMENTS, QUANTIZED_AXIS, RESIDUAL_TOKENS, CacheKind, Strategy

# generate()'s own names for the cache kinds; "dynamic" is what it takes when nothing is said.
CACHE_IMPLEMENTATIONS = {CacheKind.DEFAULT: "dynamic"}


def generation_config(strategy: Strategy, *, answer_tokens: int) -> GenerationConfig:
    """Greedy, exactly `answer_tokens` new tokens, no end-of-sequence token.

    disable_compile holds for every strategy: else a static cache alone would be compiled on CUDA, a second change.
    """
    return GenerationConfig(
        max_new_tokens=answer_tokens,
        min_new_tokens=answer_tokens,
        do_sample=False,
        num_beams=1,
        use_cache=True,
        eos_token_id=None,
        pad_token_id=None,
        disable_compile=True,
        cache_implementation=CACHE_IMPLEMENTATIONS.get(strategy.cache, str(strategy.cache)),
        cache_config=cache_config(strategy),
        prefill_chunk_size=strategy.chunk_tokens,
    )


def cache_config(strategy: Strategy) -> dict[str, Any] | None:
    """What a quantized cache takes; None for the others."""
    if strategy.backend is None:
        return None
    if strategy.bits is None:
        return {"backend": strategy.backend}
    axis = QUANTIZED_AXIS[strategy.backend]
    return {
        "backend": strategy.backend,
        "nbits": strategy.bits,
        "axis_key": axis,
        "axis_value": axis,
        "q_group_size": GROUP_ELEMENTS,
        "residual_length": RESIDUAL_TOKENS,
    }


def recorded(config: GenerationConfig, **circumstances: Any) -> dict[str, Any]:
    """All settings of the call by name, plus what else was given to it (prompt, precision, attention)."""
    settings = {name: value for name, value in config.to_dict().items() if not name.startswith("_")}
    settings.pop("transformers_version", None)
    return settings | circumstances
