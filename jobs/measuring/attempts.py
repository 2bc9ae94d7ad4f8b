"""The calls of generate() that a point takes; what one of them raises becomes plain data."""

from collections.abc import Callable

from jobs.measuring.generating import measured, short_peak_bytes
from jobs.measuring.library_errors import LIBRARY_ERRORS
from jobs.measuring.outcomes import Failure, failure_of
from jobs.measuring.point import Point


def attempt(point: Point, act: Callable[[Point], None], *, limited: bool) -> Failure | None:
    """Do it; an error is classified here, so that nothing keeps the tensors of its frames."""
    try:
        act(point)
    except LIBRARY_ERRORS as error:
        return failure_of(
            error,
            strategy=point.ask.strategy,
            capacity_bytes=point.ask.capacity_bytes,
            limited=limited,
            device=point.memory.kind,
        )
    return None


def warm_up(point: Point) -> None:
    """The measurement's own call, ended after two tokens, without the capacity's limit."""
    before_s = point.generating.seconds
    try:
        look(point)
    finally:
        point.warm_s += point.generating.seconds - before_s


def look(point: Point) -> None:
    """The same once more, where the first one's peak had the cost of a first time in it."""
    with point.memory.kept_from_harm():
        point.short_peak_bytes = short_peak_bytes(
            point.loaded.model, point.config, point.prompt_ids, memory=point.memory, stopwatch=point.generating
        )


def one_pass(point: Point) -> None:
    capacity_bytes = point.ask.capacity_bytes
    point.memory.settle()
    with point.memory.limited_to(capacity_bytes) if point.enforce else point.memory.kept_from_harm():
        point.passes.append(
            measured(
                point.loaded.model,
                point.config,
                point.prompt_ids,
                memory=point.memory,
                stopwatch=point.generating,
                still_alive=lambda tokens: point.tell(f"{tokens} of {point.ask.answer_tokens} tokens."),
            )
        )
