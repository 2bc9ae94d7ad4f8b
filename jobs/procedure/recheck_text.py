"""What a recheck found, in a sentence."""

from collections.abc import Sequence

from jobs.procedure.difference import Difference
from jobs.procedure.quality_text import kl_text
from jobs.procedure.recheck import Recheck
from jobs.procedure.recheck_rows import Figure, Row
from jobs.procedure.words import bytes_text, seconds_text, speed_text, tokens_text, with_strategy
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import Strategy, strategy_label

UNKNOWN_CAUSE = "although nothing that it rests on is known to have changed"
BUSY = "What else this CPU did may be why speeds differ"
NAMES = {
    Figure.PEAK: ("peak memory", bytes_text),
    Figure.SPEED: ("answer speed", speed_text),
    Figure.TTFT: ("time to the first token", seconds_text),
    Figure.QUALITY: ("cost in quality (mean KL)", kl_text),
}


def recheck_text(found: Recheck) -> str:
    """“The max context rose from 2,048 to 8,192 tokens after transformers 5.23.0 → 5.24.0.”"""
    if not found.same_question:
        return _edited(found)
    if not found.limits_compared:
        return "The limits are not compared: the measuring of one of them ended before its limit was seen."
    told = _told(found.beyond)
    if not told:
        return f"No difference beyond noise{_after(found.changed)}."
    if found.only_busy:
        rest = f"{told[0].lower()}{told[1:]}"
        return f"No difference beyond noise in limit, memory or quality{_after(found.changed)}. {BUSY}: {rest}."
    return f"{told}{_after(found.changed) or f', {UNKNOWN_CAUSE}'}."


def _edited(found: Recheck) -> str:
    asked = sentence_list(found.edited)
    told = f"The question was edited ({asked}), so its limit is not compared with the one before."
    other = _told(found.beyond)
    return f"{told} At the contexts that both measured: {other[0].lower()}{other[1:]}." if other else told


def sentence_list(differences: Sequence[Difference]) -> str:
    texts = [difference.sentence for difference in differences]
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _after(changed: Sequence[Difference]) -> str:
    return f" after {sentence_list(changed)}" if changed else ""


def _told(beyond: Sequence[Row]) -> str:
    """The most telling of what differs; empty where nothing does."""
    by = {row.figure: row for row in reversed(beyond)}
    fits = by.get(Figure.FITS)
    if fits is not None:
        verdict = "The workload fits now" if fits.now else "The workload fits no longer"
        moved = _moved(by.get(Figure.CONTEXT))
        return f"{verdict}: {moved[0].lower()}{moved[1:]}" if moved else verdict
    if Figure.CONTEXT in by:
        return _moved(by[Figure.CONTEXT])
    if Figure.STRATEGY in by:
        row = by[Figure.STRATEGY]
        return f"The recommended strategy changed from {strategy_label(row.before)} to {strategy_label(row.now)}"
    return _figures(beyond)


def _moved(row: Row | None) -> str:
    if row is None:
        return ""
    if row.before is None:
        return f"The max context is {tokens_text(row.now)}, where nothing fitted before"
    if row.now is None:
        return f"Nothing fits any more, where {tokens_text(row.before)} did"
    return f"The max context {_went(row)} from {row.before:,} to {tokens_text(row.now)}"


def _figures(beyond: Sequence[Row]) -> str:
    row = next(iter(beyond), None)
    if row is None:
        return ""
    name, words = NAMES[row.figure]
    more = len(beyond) - 1
    rest = f", and {more} more {'figures differ' if more > 1 else 'figure differs'}" if more else ""
    at = f" at {tokens_text(row.context)}" if row.context else ""
    return f"The {name}{at} {_with(row.strategy)} {_went(row)} from {words(row.before)} to {words(row.now)}{rest}"


def _went(row: Row) -> str:
    return "rose" if row.now > row.before else "fell"


def _with(name: str) -> str:
    try:
        return with_strategy(Strategy.parse(name))
    except Refusal:
        return f"with {name}"
