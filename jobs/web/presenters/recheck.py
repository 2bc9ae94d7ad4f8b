"""What a recheck found beside the answer that it rechecks, as a table."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.models import Purpose, Run
from jobs.procedure.noise import Scatter
from jobs.procedure.quality_text import kl_text
from jobs.procedure.recheck import Recheck
from jobs.procedure.recheck_rows import Figure, Row
from jobs.procedure.recheck_text import recheck_text
from jobs.selectors.recheck import recheck_of
from jobs.sizing.strategy import strategy_label
from jobs.sizing.units import column_text
from jobs.web.formats import MISSING, number, percent, seconds, speed, tokens
from jobs.web.presenters.limits import LIMITED_BY

NAMES = {
    Figure.CONTEXT: "Max context",
    Figure.FITS: "Whole workload",
    Figure.STRATEGY: "Strategy",
    Figure.LIMITED_BY: "Limited by",
    Figure.PEAK: "Peak memory",
    Figure.SPEED: "Answer speed",
    Figure.TTFT: "First token",
    Figure.QUALITY: "Quality, mean KL",
}
WORDS: dict[Figure, Callable[[Any], str]] = {
    Figure.CONTEXT: lambda context: "none" if context is None else tokens(context),
    Figure.FITS: lambda fits: "fits" if fits else "does not fit",
    Figure.STRATEGY: strategy_label,
    Figure.LIMITED_BY: lambda name: LIMITED_BY.get(str(name), MISSING),
    Figure.SPEED: lambda value: f"{speed(value)} tokens/s",
    Figure.TTFT: seconds,
    Figure.QUALITY: kl_text,
}
IN_PERCENT = (Figure.SPEED, Figure.TTFT)
BECAUSE = {
    Scatter.BUSY: "a busy processor changes speeds by as much",
    Scatter.ONCE: "each point was run once; “full” would tell smaller differences apart",
    Scatter.REPEATS: "the repeats of one point lay as far apart",
}
OF_WORDS = (Figure.FITS, Figure.STRATEGY, Figure.LIMITED_BY)


@dataclass(frozen=True, kw_only=True)
class RecheckRow:
    """noise: how far both may lie apart and mean nothing; empty where there is no such figure; because: why so much."""

    what: str
    at: str
    before: str
    now: str
    change: str
    beyond: bool | None
    noise: str
    because: str


@dataclass(frozen=True, kw_only=True)
class RecheckPart:
    """sentence and rows are empty until both runs have a limit; told: the moment when the earlier one ended."""

    title: str
    before_pk: int
    before_at: datetime | None
    sentence: str = ""
    differs: bool = False
    rows: tuple[RecheckRow, ...] = ()
    changed: tuple[str, ...] = ()
    quiet: int = 0


def recheck_part(run: Run) -> RecheckPart | None:
    """None where the run rechecks nothing that is kept."""
    before = run.compared_with
    if before is None:
        return None
    title = "Recheck at night" if run.purpose == Purpose.NIGHT else "Recheck"
    found = recheck_of(run)
    if found is None:
        return RecheckPart(title=title, before_pk=before.pk, before_at=before.finished_at)
    return RecheckPart(
        title=title,
        before_pk=before.pk,
        before_at=before.finished_at,
        sentence=recheck_text(found),
        differs=bool(found.beyond) and not found.only_busy,
        rows=tuple(map(_row, found.rows)),
        changed=_changed(found),
        quiet=found.quiet,
    )


def _changed(found: Recheck) -> tuple[str, ...]:
    return tuple(difference.sentence for difference in (*found.edited, *found.changed))


def _row(row: Row) -> RecheckRow:
    words = WORDS.get(row.figure) or _bytes(row)
    at = f"{tokens(row.context)}, {strategy_label(row.strategy)}" if row.context else ""
    noise = "" if row.noise is None else f"± {_noise(row, words)}"
    return RecheckRow(
        what=NAMES[row.figure],
        at=at,
        before=words(row.before),
        now=words(row.now),
        change=_change(row, words),
        beyond=row.beyond,
        noise=noise,
        because=BECAUSE[row.because] if row.because else "",
    )


def _bytes(row: Row) -> Callable[[Any], str]:
    largest = max(row.before, row.now)
    return lambda size: column_text(int(size), largest)


def _noise(row: Row, words: Callable[[Any], str]) -> str:
    if row.figure in IN_PERCENT:
        return f"{100 * (row.noise or 0) / min(row.before, row.now):.0f} %"
    return tokens(int(row.noise or 0)) if row.figure is Figure.CONTEXT else words(row.noise)


def _change(row: Row, words: Callable[[Any], str]) -> str:
    """Signed, in the figure's unit; of a speed and a time in percent."""
    if words(row.before) == words(row.now):
        return "none"
    if row.figure in OF_WORDS or row.before is None or row.now is None:
        return "changed"
    if row.figure in IN_PERCENT:
        return percent(row.now / row.before - 1, signed=True)
    sign, apart = ("−", row.before - row.now) if row.now < row.before else ("+", row.now - row.before)
    return f"{sign}{number(apart) if row.figure is Figure.CONTEXT else words(apart)}"
