"""How long a run will take: a range, from the points it is likely to measure and a model of their seconds."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, sqrt

from jobs.procedure.baseline import FAR_TIMES
from jobs.procedure.contexts import grid_to, longest_prompt, short_prompt, typical_prompt
from jobs.procedure.estimate import Estimator
from jobs.procedure.question import Depth, Question
from jobs.procedure.verdict import Bounds
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import BASELINE, Strategy

LIMIT_POINTS = 2
REPEATS = {Depth.QUICK: 1, Depth.FULL: 3}
WARM_TOKENS = 2
# The figures below are of two cores with matrix instructions; two without took 2.6 times as long for a whole run.
LOW_PART, HIGH_PART = 1.2, 2.8
QUANTIZED_DECODE = {"hqq": 1.7, "quanto": 1.3, "fp8": 1.2}
OFFLOADED_DECODE = 5.0


@dataclass(frozen=True, kw_only=True)
class Machine:
    """prefill_s_per_parameter: seconds a prompt token and parameter; attention_s: seconds a squared prompt token of
    the small model below; decode_s_per_parameter, decode_s_per_context_token: of one answer token; start_s: import
    and load, again after each out-of-memory that poisons the process.
    """

    prefill_s_per_parameter: float
    attention_s: float
    decode_s_per_parameter: float
    decode_s_per_context_token: float
    token_overhead_s: float
    start_s: float
    load_s_per_parameter: float


# Two cores, SmolLM2-135M's shape in bfloat16: first token after 1.1 / 2.1 / 4.9 s at 1,024 / 2,048 / 4,096 tokens;
# 32 answer tokens in 1.3 and 2.0 s at contexts 256 and 1,056; import and load in 5.4 s.
CPU = Machine(
    prefill_s_per_parameter=7.7e-12,
    attention_s=4.0e-8,
    decode_s_per_parameter=2.3e-10,
    decode_s_per_context_token=3.1e-5,
    token_overhead_s=0.002,
    start_s=5.0,
    load_s_per_parameter=3e-9,
)
# One data-centre GPU: about 100 TFLOP/s in the prefill, 1 TB/s while answering, transformers' own 25 ms a token.
CUDA = Machine(
    prefill_s_per_parameter=2e-14,
    attention_s=1e-11,
    decode_s_per_parameter=2e-12,
    decode_s_per_context_token=1e-8,
    token_overhead_s=0.025,
    start_s=8.0,
    load_s_per_parameter=4e-9,
)
MACHINES = {"cpu": CPU, "cuda": CUDA}
CALIBRATED_PARAMETERS = 134_515_008


@dataclass(frozen=True, kw_only=True)
class Duration:
    low_s: float
    high_s: float

    @property
    def text(self) -> str:
        """“about 3 to 5 min”."""
        for unit_s, unit, least in ((86_400, "days", 2), (3600, "h", 2), (60, "min", 2), (1, "s", 0)):
            if self.high_s >= least * unit_s:
                low, high = max(1, round(self.low_s / unit_s)), max(1, ceil(self.high_s / unit_s))
                return f"about {low:,} {unit}" if low == high else f"about {low:,} to {high:,} {unit}"
        return "about 1 s"


def run_duration(question: Question, record: InspectionRecord | None, *, parameters: int, device_kind: str) -> Duration:
    """Without a record every strategy is counted, at the workload's own lengths."""
    machine = MACHINES.get(device_kind, CPU)
    start_s = machine.start_s + machine.load_s_per_parameter * parameters
    seconds = start_s
    for strategy, prompts, restarts in _plan(question, record):
        seconds += sum(point_s(machine, question, strategy, prompt, parameters=parameters) for prompt in prompts)
        seconds += restarts * start_s
    low, high = LOW_PART * seconds, HIGH_PART * seconds
    if question.time_cap_s is not None:
        low, high = min(low, question.time_cap_s), min(high, question.time_cap_s)
    return Duration(low_s=low, high_s=high)


def point_s(machine: Machine, question: Question, strategy: Strategy, prompt: int, *, parameters: int) -> float:
    """The warm-up of two tokens and the measured passes."""
    wide = float((parameters / CALIBRATED_PARAMETERS) ** (2 / 3))  # layers × width, by which attention grows
    first_s = prompt * (machine.prefill_s_per_parameter * parameters + machine.attention_s * wide * prompt)
    token_s = machine.decode_s_per_parameter * parameters + machine.decode_s_per_context_token * wide * prompt
    token_s = _slower(strategy) * token_s * sqrt(question.sequences) + machine.token_overhead_s
    first_s *= question.sequences
    passes = REPEATS[question.depth]
    return first_s * (1 + passes) + token_s * (WARM_TOKENS + passes * question.answer_tokens)


def _plan(question: Question, record: InspectionRecord | None) -> Iterator[tuple[Strategy, list[int], int]]:
    """(strategy, prompts, restarts after running out of memory)."""
    longest = longest_prompt(question, record.native_context if record else None)
    far, limits = _reach(question, record, longest)
    short, typical = min(far, short_prompt(longest)), min(far, typical_prompt(question, longest))
    if not limits and not question.compare_anyway:
        yield BASELINE, sorted({short, typical, far}), 0
        return
    edges = [far] * LIMIT_POINTS if limits else []
    yield BASELINE, [short, typical, far, *edges], LIMIT_POINTS if limits else 0
    for strategy in question.strategies:
        if not (strategy.is_offloaded and question.device == "cpu"):
            yield strategy, [short, far, *edges[:1]], int(limits)


def _reach(question: Question, record: InspectionRecord | None, longest: int) -> tuple[int, bool]:
    """How far the baseline is measured, and whether memory is expected to be the limit."""
    if record is None or question.capacity_bytes is None:
        return longest, True
    estimator = Estimator.of(question, record, BASELINE)
    try:
        peak, weights = estimator.peak_and_weights(longest)
    except Refusal:
        return longest, True
    capacity = question.capacity_bytes
    if peak <= Bounds.of(question, capacity).budget_bytes:
        return longest, False
    most = weights + FAR_TIMES * max(0, capacity - weights)
    within = [prompt for prompt in grid_to(longest).prompts if estimator.at(prompt).peak_bytes <= most]
    return max(within, default=longest), True


def _slower(strategy: Strategy) -> float:
    if strategy.is_offloaded:
        return OFFLOADED_DECODE
    return QUANTIZED_DECODE.get(strategy.backend or "", 1.0)
