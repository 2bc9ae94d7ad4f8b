"""The settings that are about to be deployed, read strictly: what is not understood is refused, not passed over."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.procedure.deployed_cache import KEYS, DeployedCache, cache_named, cache_of
from jobs.procedure.question_check import MOST_SEQUENCES, MOST_TOKENS
from jobs.sizing.refusal import Refusal
from jobs.sizing.stored import WEIGHTS
from jobs.sizing.units import DTYPE_BYTES

TEXTS = ("model", "revision", "dtype", "attention", "weights", "device")
KNOWN = (*TEXTS, "max_context", "sequences", "strategy", "cache", *KEYS, "versions")
MOST_CHARACTERS = 300
MOST_VERSIONS = 1000
REVISION = re.compile(r"(?P<model>[^@]+)@(?P<revision>[^@]+)")


@dataclass(frozen=True, kw_only=True)
class Deployed:
    """max_context: prompt and new tokens of one sequence together. None or empty: the settings do not tell it."""

    model: str
    max_context: int
    revision: str | None = None
    dtype: str | None = None
    sequences: int | None = None
    attention: str | None = None
    weights: str | None = None
    device: str | None = None
    cache: DeployedCache | None = None
    versions: Mapping[str, str]


def read_deployed(given: Any) -> Deployed:
    """Raises Refusal: bad_settings, unknown_strategy."""
    if not isinstance(given, Mapping):
        raise Refusal("bad_settings", "The settings are not a JSON object.", "See docs/check-deploy.md.")
    unknown = [str(name)[:40] for name in given if name not in KNOWN]
    if unknown:
        raise Refusal("bad_settings", f"Not known: {', '.join(sorted(unknown))[:200]}.", f"Use {', '.join(KNOWN)}.")
    texts = {name: _text(name, given.get(name)) for name in TEXTS}
    model, revision = _model(texts.pop("model"), texts.pop("revision"))
    dtype = (texts.pop("dtype") or "").removeprefix("torch.") or None
    _one_of("dtype", dtype, tuple(DTYPE_BYTES))
    _one_of("weights", texts["weights"], WEIGHTS)
    max_context = _whole("max_context", given.get("max_context"), 2 * MOST_TOKENS)
    if max_context is None:
        raise _bad("max_context", "the most tokens of prompt and answer together")
    return Deployed(
        model=model,
        revision=revision,
        dtype=dtype,
        max_context=max_context,
        sequences=_whole("sequences", given.get("sequences"), MOST_SEQUENCES),
        cache=_cache(given),
        versions=_versions(given.get("versions")),
        **texts,
    )


def _model(model: str | None, revision: str | None) -> tuple[str, str | None]:
    if model is None:
        raise _bad("model", "the model's name, as the profile has it")
    named = REVISION.fullmatch(model)
    if named is None:
        return model, revision
    if revision is not None and revision != named["revision"]:
        raise _bad("revision", f"{named['revision']}, which the model names too")
    return named["model"], named["revision"]


def _cache(given: Mapping[str, Any]) -> DeployedCache | None:
    """It may be told in one of three ways; told in two, they might differ."""
    cache, strategy = given.get("cache"), given.get("strategy")
    own = {name: given[name] for name in KEYS if given.get(name) is not None}
    if sum((cache is not None, strategy is not None, bool(own))) > 1:
        raise Refusal(
            "bad_settings", "The cache is told twice.", f"Give one of strategy, cache, and {', '.join(KEYS)}."
        )
    if strategy is not None:
        return cache_named(_text("strategy", strategy) or "")
    if cache is None:
        return cache_of(own) if any(name in given for name in KEYS) else None
    if not isinstance(cache, Mapping):
        raise _bad("cache", f"a JSON object of {', '.join(KEYS)}")
    unknown = sorted(str(name)[:40] for name in cache if name not in KEYS)
    if unknown:
        raise _bad(f"cache.{unknown[0]}", f"one of {', '.join(KEYS)}")
    return cache_of(cache)


def _versions(given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or len(given) > MOST_VERSIONS:
        raise _bad("versions", "a JSON object of library names and versions")
    return {
        str(name)[:60]: version
        for name, text in given.items()
        if (version := _text(f"versions.{str(name)[:40]}", text)) is not None
    }


def _text(name: str, given: Any) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str) or not given.strip() or len(given) > MOST_CHARACTERS:
        raise _bad(name, f"a text of 1 to {MOST_CHARACTERS} characters")
    return given.strip()


def _whole(name: str, given: Any, most: int) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= most:
        raise _bad(name, f"a whole number from 1 to {most:,}")
    return given


def _one_of(name: str, given: str | None, allowed: tuple[str, ...]) -> None:
    if given is not None and given not in allowed:
        raise _bad(name, f"one of {', '.join(allowed)}")


def _bad(name: str, wanted: str) -> Refusal:
    return Refusal("bad_settings", f"{name} must be {wanted}.", f"Change {name} in the settings.")
