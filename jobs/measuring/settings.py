"""The generation settings of one measurement: baseline and change differ in the strategy's settings alone."""

from typing import Any

from transformers import GenerationConfig

from jobs.procedure.snippet import generate_settings
from jobs.sizing.strategy import Strategy


def generation_config(strategy: Strategy, *, answer_tokens: int) -> GenerationConfig:
    """Greedy, exactly `answer_tokens` new tokens, no end-of-sequence token; beside these, the settings that the
    answer's page gives to paste.

    disable_compile holds for every strategy: else a static cache alone would be compiled on CUDA, a second change.
    """
    fixed = {
        "min_new_tokens": answer_tokens,
        "do_sample": False,
        "num_beams": 1,
        "use_cache": True,
        "eos_token_id": None,
        "pad_token_id": None,
        "disable_compile": True,
    }
    return GenerationConfig(**{**generate_settings(strategy, answer_tokens), **fixed})


def recorded(config: GenerationConfig, **circumstances: Any) -> dict[str, Any]:
    """All settings of the call by name, plus what else was given to it (prompt, precision, attention)."""
    settings = {name: value for name, value in config.to_dict().items() if not name.startswith("_")}
    settings.pop("transformers_version", None)
    return settings | circumstances
