"""Two to six runs side by side: their answers, limits, measurements and budgets, each cell from the run it is of."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.charts.aligned import LETTERS, Overlaid, aligned, overlaid
from jobs.charts.points import PointRow, strategies_of
from jobs.models import Run
from jobs.procedure.quality_text import kl_text, quality_at
from jobs.sizing.strategy import strategy_label
from jobs.web.formats import MISSING, beside, number, seconds, size, speed, strategy_series
from jobs.web.presenters.budgets import budgets
from jobs.web.presenters.compare_settings import SettingRow, setting_rows, warnings
from jobs.web.presenters.limits import LIMITED_BY, answer
from jobs.web.presenters.measurements import OUTCOMES
from jobs.web.presenters.profile_rows import device_name


@dataclass(frozen=True, kw_only=True)
class Column:
    """One run. answer is empty where it has none."""

    letter: str
    run: Run
    device: str
    context: str
    strategy: str
    limited_by: str
    fits: str
    tone: str
    peak: str
    tokens_per_s: str


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A dash and nothing else where the run has no such figure."""

    text: str = MISSING
    sub: str = ""
    more: str = ""
    is_best: bool = False
    is_bad: bool = False


@dataclass(frozen=True, kw_only=True)
class Row:
    label: str
    series: str = ""
    context: int | None = None
    cells: tuple[Cell, ...]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A strategy that may be drawn."""

    name: str
    label: str
    series: str
    is_chosen: bool


@dataclass(frozen=True, kw_only=True)
class Comparison:
    columns: tuple[Column, ...]
    warnings: tuple[str, ...]
    settings: tuple[SettingRow, ...]
    choices: tuple[Choice, ...]
    limits: tuple[Row, ...]
    measurements: tuple[Row, ...]
    budgets: tuple[Row, ...]

    @property
    def differing(self) -> list[SettingRow]:
        return [row for row in self.settings if row.differs]


@dataclass(frozen=True, kw_only=True)
class ChoiceRow:
    """A run that may be compared."""

    pk: int
    name: str
    model: str
    context: str
    strategy: str
    device: str
    at: datetime


def choice_rows(runs: Iterable[Run]) -> list[ChoiceRow]:
    return [
        ChoiceRow(
            pk=run.pk,
            name=run.profile.name,
            model=run.model_entry.name,
            context=number(run.limit_context) if run.limit_context else "none" if run.answered else MISSING,
            strategy=strategy_label(run.limit_strategy) if run.limit_context else "",
            device=str(run.device.get("name") or MISSING),
            at=run.finished_at or run.queued_at,
        )
        for run in runs
    ]


def comparison(runs: Sequence[Run], drawn: Sequence[Overlaid]) -> Comparison:
    letters = LETTERS[: len(runs)]
    settings = setting_rows(runs)
    return Comparison(
        columns=tuple(_column(letter, run) for letter, run in zip(letters, runs, strict=True)),
        warnings=tuple(warnings(letters, settings)),
        settings=tuple(settings),
        choices=tuple(_choices(drawn)),
        limits=tuple(_limit_rows(runs)),
        measurements=tuple(_measured(drawn)),
        budgets=tuple(_budget_rows(runs)),
    )


def overlaid_runs(
    runs: Sequence[Run], measured: Mapping[int, Sequence[Mapping[str, Any]]], chosen: Sequence[str]
) -> list[Overlaid]:
    return [
        overlaid(letter=letter, name=f"run {run.pk}", stages=run.stages, measurements=measured[run.pk], chosen=chosen)
        for letter, run in zip(LETTERS, runs, strict=False)
    ]


def picture_line(runs: Sequence[Run]) -> str:
    """What a picture of them says it is of: the model and device of each once, and the runs with their letters."""
    models = dict.fromkeys(run.model_entry.name for run in runs)
    devices = dict.fromkeys(device_name(run, run.profile) for run in runs)
    ends = [run.finished_at for run in runs if run.finished_at]
    dates = [f"{at.day} {at:%b %Y}" for at in (min(ends), max(ends))] if ends else []
    which = ", ".join(f"{letter}: run {run.pk}" for letter, run in zip(LETTERS, runs, strict=False))
    return " · ".join([", ".join(models), ", ".join(devices), " to ".join(dict.fromkeys(dates)), which])


def _column(letter: str, run: Run) -> Column:
    found = answer(run.stages, run.question)
    fits = "" if found is None else "the workload fits" if found.fits else "the workload does not fit"
    return Column(
        letter=letter,
        run=run,
        device=device_name(run, run.profile),
        context=MISSING if found is None else number(found.context) if found.context else "none",
        strategy=found.strategy if found and found.context else "",
        limited_by=found.limited_by if found else "",
        fits=fits,
        tone="good" if found and found.fits else "bad",
        peak=size(run.peak_bytes),
        tokens_per_s=speed(run.tokens_per_s),
    )


def _choices(drawn: Sequence[Overlaid]) -> Iterable[Choice]:
    shown = {name for run in drawn for name in run.shown}
    for name in strategies_of([point for run in drawn for point in run.points]):
        yield Choice(name=name, label=strategy_label(name), series=strategy_series(name), is_chosen=name in shown)


def _limit_rows(runs: Sequence[Run]) -> Iterable[Row]:
    found = [(run.stages.get("limit") or {}).get("by_strategy") or {} for run in runs]
    for name in dict.fromkeys(name for limits in found for name in limits):
        cells = tuple(_limit_cell(run, name, limits.get(name)) for run, limits in zip(runs, found, strict=True))
        yield Row(label=strategy_label(name), series=strategy_series(name), cells=cells)


def _limit_cell(run: Run, name: str, limit: Mapping[str, Any] | None) -> Cell:
    if limit is None:
        return Cell()
    quality = quality_at(run.stages, name)
    return Cell(
        text=number(limit["context"]) if limit["context"] else "none",
        sub=LIMITED_BY.get(str(limit["limited_by"]), ""),
        more=f"mean KL {kl_text(quality.mean_kl)}" if quality and quality.mean_kl is not None else "",
        is_best=name == run.stages["limit"]["strategy"],
    )


def _measured(drawn: Sequence[Overlaid]) -> Iterable[Row]:
    for row in aligned(drawn):
        yield Row(
            label=row.label,
            series=strategy_series(row.strategy),
            context=row.context,
            cells=tuple(
                _point_cell(cell, is_best=run.limit == (row.strategy, row.context))
                for run, cell in zip(drawn, row.cells, strict=True)
            ),
        )


def _point_cell(point: PointRow | None, *, is_best: bool) -> Cell:
    if point is None:
        return Cell()
    if not point.ran:
        return Cell(text=OUTCOMES.get(point.outcome, point.outcome), is_bad=True)
    return Cell(
        text=size(point.peak_bytes),
        sub=f"{speed(point.decode_tokens_per_s)} tokens/s",
        more=f"{seconds(point.ttft_s)} to the first token",
        is_best=is_best,
    )


def _budget_rows(runs: Sequence[Run]) -> Iterable[Row]:
    """Measured, with the estimate beneath; each run's at its own short context."""
    found = [budgets(run.stages.get("budgets")) for run in runs]
    there = [one for one in found if one]
    largest = max((one.largest_bytes for one in there), default=0)
    at = tuple(Cell(text=number(one.at_context)) if one else Cell() for one in found)
    yield Row(label="at a context of", cells=at)
    for label in dict.fromkeys(row.label for one in there for row in one.rows):
        parts = [next((row for row in one.rows if row.label == label), None) if one else None for one in found]
        cells = [
            Cell(text=beside(part.measured_bytes, largest), sub=f"estimated {beside(part.estimated_bytes, largest)}")
            if part
            else Cell()
            for part in parts
        ]
        yield Row(label=label, cells=tuple(cells))
    yield Row(label="capacity", cells=tuple(Cell(text=size(one.capacity_bytes)) if one else Cell() for one in found))
    yield Row(label="headroom", cells=tuple(Cell(text=size(one.headroom_bytes)) if one else Cell() for one in found))
