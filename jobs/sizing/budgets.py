"""The budgets of one point and of one whole run: weights, KV cache and working memory on the device."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from jobs.sizing.kv import envelope_bytes, host_bytes, kv_bytes, kv_prefill_bytes
from jobs.sizing.layer_bytes import is_static
from jobs.sizing.record import ON_THE_FLY_SOURCE, InspectionRecord, Phase
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import dtype_bytes
from jobs.sizing.working import working_bytes


@dataclass(frozen=True, kw_only=True)
class SizedPoint:
    """peak_bytes = weights + (kv_prefill_bytes in the prefill, kv_bytes while answering) + working_bytes."""

    tokens: int
    sequences: int
    strategy: str
    kv_bytes: int
    kv_prefill_bytes: int
    peak_phase: Phase
    working_bytes: int
    peak_bytes: int
    host_bytes: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"peak_phase": str(self.peak_phase)}


@dataclass(frozen=True, kw_only=True)
class RunPeak:
    """What one prompt and its answer need. kv_bytes: at the end of the answer; kv_prefill_bytes: after the prompt.

    working_bytes: peak − weights − the most that the cache held in the phase of the peak.
    """

    peak_bytes: int
    phase: Phase
    weights_bytes: int
    kv_bytes: int
    kv_prefill_bytes: int
    working_bytes: int
    host_bytes: int


@dataclass(frozen=True, kw_only=True)
class PhaseNeed:
    """Beside the weights. kv_bytes: the most that the cache holds in the phase."""

    kv_bytes: int
    working_bytes: int


def weights_bytes(record: InspectionRecord, dtype: str, *, as_stored: bool = True) -> int:
    """Bytes of the weights on the device, computing in this precision; raises Refusal("not_inspected").

    as_stored: packed as the files (or the config) have them; else every weight in the compute precision.
    """
    sizes = record.stored.device_bytes if as_stored and record.stored else record.weights_bytes
    if dtype in sizes:
        return sizes[dtype]
    width = dtype_bytes(dtype)
    for other, size in sizes.items():
        if dtype_bytes(other) == width:
            return size
    raise Refusal(
        "not_inspected", f"The inspection of {record.model} holds no weights in {dtype}.", "Inspect it again."
    )


def refusal_of(record: InspectionRecord, strategy: Strategy) -> str | None:
    """The reason that this model cannot take the strategy, if there is one."""
    plain = strategy.without_chunks
    names = (str(strategy), str(plain), "chunked" if strategy.chunk_tokens else "", str(plain.cache))
    return next((record.refusals[name] for name in names if name in record.refusals), None)


def size_point(
    record: InspectionRecord,
    *,
    tokens: int,
    sequences: int,
    dtype: str,
    strategy: Strategy,
    attention: str = "sdpa",
    padded: bool = False,
    as_stored: bool = True,
) -> SizedPoint:
    """The budgets with `tokens` cached per sequence; raises Refusal("not_applicable") for a strategy it cannot take."""
    refuse_unless_applicable(record, strategy)
    weights = weights_bytes(record, dtype, as_stored=as_stored)
    kv_of: dict[Phase, int] = {
        Phase.PREFILL: kv_prefill_bytes(record, tokens=tokens, sequences=sequences, dtype=dtype, strategy=strategy),
        Phase.DECODE: kv_bytes(record, tokens=tokens, sequences=sequences, dtype=dtype, strategy=strategy),
    }
    needs = _needs(
        record,
        tokens_of={Phase.PREFILL: tokens, Phase.DECODE: tokens},
        sequences=sequences,
        dtype=dtype,
        strategy=strategy,
        attention=attention,
        padded=padded,
    )
    phase = max(Phase, key=lambda phase: kv_of[phase] + needs[phase])
    return SizedPoint(
        tokens=tokens,
        sequences=sequences,
        strategy=str(strategy),
        kv_bytes=kv_of[Phase.DECODE],
        kv_prefill_bytes=kv_of[Phase.PREFILL],
        peak_phase=phase,
        working_bytes=needs[phase],
        peak_bytes=weights + kv_of[phase] + needs[phase],
        host_bytes=host_bytes(record, tokens=tokens, sequences=sequences, dtype=dtype, strategy=strategy),
    )


def run_peak(
    record: InspectionRecord,
    *,
    prompt_tokens: int,
    answer_tokens: int,
    sequences: int,
    dtype: str,
    strategy: Strategy,
    attention: str = "sdpa",
    padded: bool = False,
    as_stored: bool = True,
) -> RunPeak:
    """The larger of the prefill's peak at the prompt and the decode's at prompt + answer − 1 cached tokens.

    A static cache is as large during the prefill as at the end; a quantized one counts with the most that its
    unquantized residual held.
    """
    phases = run_phases(
        record,
        prompt_tokens=prompt_tokens,
        answer_tokens=answer_tokens,
        sequences=sequences,
        dtype=dtype,
        strategy=strategy,
        attention=attention,
        padded=padded,
    )
    end_tokens = prompt_tokens + answer_tokens - 1
    phase = max(Phase, key=lambda phase: phases[phase].kv_bytes + phases[phase].working_bytes)
    weights = weights_bytes(record, dtype, as_stored=as_stored)
    return RunPeak(
        peak_bytes=weights + phases[phase].kv_bytes + phases[phase].working_bytes,
        phase=phase,
        weights_bytes=weights,
        kv_bytes=kv_bytes(
            record,
            tokens=end_tokens,
            sequences=sequences,
            dtype=dtype,
            strategy=strategy,
            answered_tokens=answer_tokens - 1,
        ),
        kv_prefill_bytes=phases[Phase.PREFILL].kv_bytes,
        working_bytes=phases[phase].working_bytes,
        host_bytes=host_bytes(record, tokens=end_tokens, sequences=sequences, dtype=dtype, strategy=strategy),
    )


def run_phases(
    record: InspectionRecord,
    *,
    prompt_tokens: int,
    answer_tokens: int,
    sequences: int,
    dtype: str,
    strategy: Strategy,
    attention: str = "sdpa",
    padded: bool = False,
) -> dict[Phase, PhaseNeed]:
    """What reading the prompt and answering each need beside the weights, at their own largest."""
    refuse_unless_applicable(record, strategy)
    end_tokens = prompt_tokens + answer_tokens - 1
    static = is_static(strategy)
    held_tokens = end_tokens if static else prompt_tokens
    masked_tokens = end_tokens if static and strategy.chunk_tokens else prompt_tokens
    needs = _needs(
        record,
        tokens_of={Phase.PREFILL: masked_tokens, Phase.DECODE: end_tokens},
        sequences=sequences,
        dtype=dtype,
        strategy=strategy,
        attention=attention,
        padded=padded,
    )
    prompted = kv_prefill_bytes(record, tokens=held_tokens, sequences=sequences, dtype=dtype, strategy=strategy)
    answered = envelope_bytes(
        record,
        tokens=end_tokens,
        sequences=sequences,
        dtype=dtype,
        strategy=strategy,
        answered_tokens=answer_tokens - 1,
    )
    return {
        Phase.PREFILL: PhaseNeed(kv_bytes=prompted, working_bytes=needs[Phase.PREFILL]),
        Phase.DECODE: PhaseNeed(kv_bytes=answered, working_bytes=needs[Phase.DECODE]),
    }


def _last_whole_chunk(tokens: int, strategy: Strategy) -> int | None:
    """Where a chunked prefill last read a whole chunk, if it read fewer tokens after it: its peak may stand there."""
    chunk = strategy.chunk_tokens
    if chunk is None or tokens <= chunk or tokens % chunk == 0:
        return None
    return tokens - tokens % chunk


def _needs(
    record: InspectionRecord,
    *,
    tokens_of: Mapping[Phase, int],
    sequences: int,
    dtype: str,
    strategy: Strategy,
    attention: str,
    padded: bool,
) -> dict[Phase, int]:
    """Working bytes of each phase at its own number of tokens; of a chunked prefill, at its worst chunk."""

    def working(phase: Phase, tokens: int) -> int:
        return working_bytes(
            record,
            phase=phase,
            tokens=tokens,
            sequences=sequences,
            dtype=dtype,
            strategy=strategy,
            attention=attention,
            padded=padded,
        )

    def held(tokens: int) -> int:
        return kv_prefill_bytes(record, tokens=tokens, sequences=sequences, dtype=dtype, strategy=strategy)

    unpacking = _unpacking_bytes(record, dtype)
    needs = {phase: unpacking + working(phase, tokens) for phase, tokens in tokens_of.items()}
    prompt = tokens_of[Phase.PREFILL]
    whole = _last_whole_chunk(prompt, strategy)
    if whole is not None:
        needs[Phase.PREFILL] = max(
            needs[Phase.PREFILL], unpacking + working(Phase.PREFILL, whole) + held(whole) - held(prompt)
        )
    return needs


def _unpacking_bytes(record: InspectionRecord, dtype: str) -> int:
    """What of packed weights a pass holds unpacked at once; the passes of a record are those of plain weights."""
    stored = record.stored
    drawn_plain = record.random_weights and stored is not None and stored.source != ON_THE_FLY_SOURCE
    return 0 if stored is None or drawn_plain else stored.pass_elements * dtype_bytes(dtype)


def refuse_unless_applicable(record: InspectionRecord, strategy: Strategy) -> None:
    """Raises Refusal("not_applicable") with the reason that this model cannot take the strategy."""
    reason = refusal_of(record, strategy)
    if reason is not None:
        raise Refusal("not_applicable", reason, "Choose another strategy.")
