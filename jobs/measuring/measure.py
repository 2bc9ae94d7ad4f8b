"""One point: is it applicable, does it fit, how long does it take; any failure is an outcome."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import torch
from transformers import GenerationConfig
from transformers.cache_utils import Cache

from jobs.measuring.applicable import why_not
from jobs.measuring.cpu_memory import CpuMemory
from jobs.measuring.cuda_memory import CudaMemory
from jobs.measuring.generating import Pass, measured, warm
from jobs.measuring.library_errors import LIBRARY_ERRORS
from jobs.measuring.loading import LoadedModel
from jobs.measuring.outcomes import Failure, failure_of, fell_back, peak_above_capacity, weights_do_not_fit
from jobs.measuring.prompts import Prompts, RandomPrompts, fingerprint
from jobs.measuring.settings import generation_config, recorded
from jobs.procedure.measurement import Ask, Measurement, Outcome

SMALL_SPREAD = 0.05


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A measurement, and whether the process must end after it."""

    measurement: Measurement
    restart: bool = False


@dataclass(kw_only=True)
class Point:
    """One Ask on one loaded model, while it is being measured."""

    loaded: LoadedModel
    memory: CpuMemory | CudaMemory
    ask: Ask
    enforce: bool
    tell: Callable[[str], None]
    config: GenerationConfig
    prompts: Prompts
    prompt_ids: torch.Tensor
    passes: list[Pass] = field(default_factory=list)

    @property
    def shape(self) -> tuple[Any, ...]:
        """What must be the same for an earlier pass to have warmed this one."""
        ask = self.ask
        return (str(ask.strategy), ask.prompt_tokens, ask.answer_tokens, ask.sequences, ask.seed)


class Measurer:
    """Measures points of one loaded model, one after another; remembers which shapes are warm."""

    def __init__(self, loaded: LoadedModel, memory: CpuMemory | CudaMemory, prompts: Prompts | None = None) -> None:
        self.loaded = loaded
        self.memory = memory
        self._prompts = prompts or RandomPrompts(loaded.model.config)
        self._warm: set[tuple[Any, ...]] = set()

    def measure(self, ask: Ask, *, enforce: bool, tell: Callable[[str], None]) -> Measured:
        reason = why_not(ask.strategy, device=self.loaded.device)
        if reason:
            return Measured(measurement=_without_figures(ask, Outcome.SKIPPED, "not_applicable", reason))
        if ask.capacity_bytes <= self.loaded.weights_bytes:
            too_heavy = weights_do_not_fit(weights_bytes=self.loaded.weights_bytes, capacity_bytes=ask.capacity_bytes)
            return Measured(measurement=_without_figures(ask, too_heavy.outcome, too_heavy.code, too_heavy.message))
        point = self._point(ask, enforce=enforce, tell=tell)
        self.memory.begin()
        failure = self._again_if_tainted(point, self._run(point))
        self._let_go(tell)
        return _measured(point, failure)

    def _point(self, ask: Ask, *, enforce: bool, tell: Callable[[str], None]) -> Point:
        ids = self._prompts.ids(sequences=ask.sequences, tokens=ask.prompt_tokens, seed=ask.seed)
        return Point(
            loaded=self.loaded,
            memory=self.memory,
            ask=ask,
            enforce=enforce,
            tell=tell,
            config=generation_config(ask.strategy, answer_tokens=ask.answer_tokens),
            prompts=self._prompts,
            prompt_ids=ids.to(self.loaded.device),
        )

    def _run(self, point: Point) -> Failure | None:
        """Warm the shape, then measure until the repeats agree; None where nothing was refused or failed."""
        if point.shape not in self._warm:
            point.tell("Warming up.")
            failure = _attempt(point, _warm_up, limited=False)
            if failure:
                return failure
            self._warm.add(point.shape)
            self.memory.settle()
        while not _enough(point):
            point.tell(f"Measuring, pass {len(point.passes) + 1}.")
            failure = _attempt(point, _one_pass, limited=point.enforce)
            if not failure and not self.memory.is_sound():
                point.passes.clear()  # its speed is another kernel's
                failure = fell_back(capacity_bytes=point.ask.capacity_bytes)
            if failure:
                return failure
            self.memory.settle()
        peak_bytes = max(one.peak_bytes for one in point.passes)
        if peak_bytes > point.ask.capacity_bytes:
            return peak_above_capacity(peak_bytes=peak_bytes, capacity_bytes=point.ask.capacity_bytes)
        return None

    def _again_if_tainted(self, point: Point, failure: Failure | None) -> Failure | None:
        """Once: what another process took of the device is not this model's. A second taint stays with the point."""
        taint = self.memory.tainted()
        if taint is None or (failure and failure.restart):
            return failure
        point.tell(f"{taint} Measuring it again.")
        point.passes.clear()
        self.memory.begin()
        return self._run(point)

    def _let_go(self, tell: Callable[[str], None]) -> None:
        """Drop what a point leaves: some models keep the last static cache on themselves."""
        model = self.loaded.model
        for name in [name for name, value in vars(model).items() if isinstance(value, Cache)]:
            delattr(model, name)
            tell(f"The model kept its cache after generate() (as {name}); it was dropped.")
        self.memory.settle()


def _attempt(point: Point, act: Callable[[Point], None], *, limited: bool) -> Failure | None:
    """Do it; an error becomes plain data here, so that nothing keeps the tensors of its frames."""
    try:
        act(point)
    except LIBRARY_ERRORS as error:
        return failure_of(error, strategy=point.ask.strategy, capacity_bytes=point.ask.capacity_bytes, limited=limited)
    return None


def _warm_up(point: Point) -> None:
    with point.memory.kept_from_harm():
        warm(point.loaded.model, point.config, point.prompt_ids, memory=point.memory)


def _one_pass(point: Point) -> None:
    capacity_bytes = point.ask.capacity_bytes
    point.memory.settle()
    with point.memory.limited_to(capacity_bytes) if point.enforce else point.memory.kept_from_harm():
        point.passes.append(
            measured(
                point.loaded.model,
                point.config,
                point.prompt_ids,
                memory=point.memory,
                still_alive=lambda tokens: point.tell(f"{tokens} of {point.ask.answer_tokens} tokens."),
            )
        )


def _enough(point: Point) -> bool:
    done = len(point.passes)
    if done < max(1, point.ask.least_repeats):
        return False
    spread = _spread(one.decode_tokens_per_s for one in point.passes)
    return done >= point.ask.most_repeats or spread is None or spread <= SMALL_SPREAD


def _spread(speeds: Iterable[float | None]) -> float | None:
    """(max − min) / median; None for fewer than two."""
    found = [speed for speed in speeds if speed is not None]
    return (max(found) - min(found)) / median(found) if len(found) > 1 else None


def _without_figures(ask: Ask, outcome: Outcome, code: str, message: str) -> Measurement:
    return Measurement(**_asked(ask), outcome=outcome, error={"code": code, "message": message})


def _asked(ask: Ask) -> dict[str, Any]:
    return {
        "strategy": str(ask.strategy),
        "context": ask.context_tokens,
        "prompt": ask.prompt_tokens,
        "answer": ask.answer_tokens,
        "sequences": ask.sequences,
        "stage": ask.stage,
    }


def _measured(point: Point, failure: Failure | None) -> Measured:
    """Figures of the passes that went through, kept even where the point as a whole does not fit."""
    measurement = Measurement(
        **_asked(point.ask),
        outcome=failure.outcome if failure else Outcome.OK,
        error=failure.error if failure else None,
        settings=_settings(point),
        tainted=point.memory.tainted(),
        **(_figures(point) if point.passes else {}),
    )
    return Measured(measurement=measurement, restart=bool(failure and failure.restart))


def _figures(point: Point) -> dict[str, Any]:
    passes = point.passes
    highest = max(passes, key=lambda one: one.peak_bytes)
    speeds = [one.decode_tokens_per_s for one in passes if one.decode_tokens_per_s is not None]
    return {
        "peak_bytes": highest.peak_bytes,
        "kv_bytes": highest.kv_bytes,
        "kv_prefill_bytes": highest.kv_prefill_bytes,
        "working_bytes": None
        if highest.kv_at_peak_bytes is None
        else highest.peak_bytes - point.loaded.weights_bytes - highest.kv_at_peak_bytes,
        "host_bytes": highest.host_bytes,
        "ttft_s": median(one.ttft_s for one in passes),
        "decode_tokens_per_s": median(speeds) if speeds else None,
        "total_s": median(one.total_s for one in passes),
        "repeats": len(passes),
        "spread": _spread(one.decode_tokens_per_s for one in passes),
        **point.memory.figures(),
    }


def _settings(point: Point) -> dict[str, Any]:
    return recorded(
        point.config,
        attention=point.loaded.attention,
        dtype=point.loaded.dtype,
        prompt_tokens=point.ask.prompt_tokens,
        sequences=point.ask.sequences,
        seed=point.ask.seed,
        prompt_source=point.prompts.source,
        prompts_file_sha256=point.prompts.file_sha256,
        prompt_sha256=fingerprint(point.prompt_ids),
    )
