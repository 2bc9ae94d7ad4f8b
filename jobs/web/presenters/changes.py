"""The strategies tried: how far each goes, and what it costs at the short context."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.procedure.quality import Quality
from jobs.procedure.quality_text import figures_text, interval_text, kept_text, kl_text, quality_at, same_text
from jobs.sizing.strategy import strategy_label
from jobs.web.formats import strategy_series, tokens
from jobs.web.presenters.limits import LIMITED_BY

NEEDLESS = ": the normal cache fits the workload"


@dataclass(frozen=True, kw_only=True)
class ShortCost:
    """Against the baseline at the same context. saved_bytes: of peak memory; fractions: of the baseline's figure."""

    context: int
    saved_bytes: int | None
    speed_change: float | None
    ttft_change: float | None

    @property
    def extra_bytes(self) -> int:
        """What the strategy needs more than the baseline."""
        return max(0, -(self.saved_bytes or 0))


@dataclass(frozen=True, kw_only=True)
class ChangeRow:
    """quality: the mean KL with its interval, or why there is none; quality_notes: what belongs to it.

    scored_on: the text that was read for it.
    """

    name: str
    label: str
    series: str
    applicable: bool
    reason: str
    context: int | None
    limited_by: str
    failed_at: int | None
    confirmed: bool
    recommended: bool
    cost: ShortCost | None
    settings: str
    quality: str
    quality_notes: tuple[str, ...]
    above_bound: bool
    scored_on: str


def change_rows(stages: Mapping[str, Any], *, max_kl: float | None = None) -> list[ChangeRow]:
    """The baseline first, then each change; empty before there is a limit or a change. max_kl: the bound on quality."""
    limit = stages.get("limit") or {}
    changes = stages.get("changes") or []
    if not limit and not changes:
        return []
    rows = [_row({"strategy": "default", "applicable": True}, stages, max_kl)]
    return rows + [_row(change, stages, max_kl) for change in changes]


def _row(change: Mapping[str, Any], stages: Mapping[str, Any], max_kl: float | None) -> ChangeRow:
    name, limit = change["strategy"], stages.get("limit") or {}
    quality = quality_at(stages, name)
    found = (limit.get("by_strategy") or {}).get(name) or {}
    settings = change.get("settings_changed") or {}
    return ChangeRow(
        name=name,
        label=strategy_label(name),
        series=strategy_series(name),
        applicable=change["applicable"] is True,
        reason=_reason(change),
        context=found.get("context"),
        limited_by=LIMITED_BY.get(str(found.get("limited_by")), ""),
        failed_at=found.get("first_failing_context"),
        confirmed=bool(found.get("confirmed")),
        recommended=bool(limit) and name == limit.get("strategy"),
        cost=short_cost(change.get("cost")),
        settings="; ".join(f"{key} = {_plain(value)}" for key, value in settings.items()),
        quality=_quality(quality) if quality else _unscored(change),
        quality_notes=_quality_notes(quality, max_kl) if quality else (),
        above_bound=bool(quality and quality.is_above(max_kl)),
        scored_on=_scored_on(quality) if quality else "",
    )


def _quality(quality: Quality) -> str:
    if quality.mean_kl is None:
        return figures_text(quality)
    interval = interval_text(quality)
    return f"{kl_text(quality.mean_kl)}{f' ({interval})' if interval else ''}"


def _quality_notes(quality: Quality, max_kl: float | None) -> tuple[str, ...]:
    """Whether the bound is kept, the share of equal tokens, and where it was scored."""
    if quality.mean_kl is None:
        return ()
    told = (kept_text(quality, max_kl), same_text(quality), f"at {tokens(quality.context)}")
    return tuple(text for text in told if text)


def _scored_on(quality: Quality) -> str:
    """Empty where nothing was scored."""
    if quality.mean_kl is None:
        return ""
    of = f" of {quality.text}" if quality.text else ""
    return f"the last {tokens(quality.scored_tokens)}{of}"


def _reason(change: Mapping[str, Any]) -> str:
    """Why it was not tried: not applicable (False), or not needed (None), which the heading explains once for all."""
    reason = str(change.get("reason") or "")
    return f"not applicable: {reason}" if change["applicable"] is False else reason.removesuffix(NEEDLESS)


def short_cost(cost: Mapping[str, Any] | None) -> ShortCost | None:
    """From the procedure's ratios, change / baseline at the same context."""
    if not cost:
        return None
    return ShortCost(
        context=cost["context"],
        saved_bytes=cost.get("saved_bytes"),
        speed_change=_less_one(cost.get("decode_ratio")),
        ttft_change=_less_one(cost.get("ttft_ratio")),
    )


def _less_one(ratio: float | None) -> float | None:
    return None if ratio is None else ratio - 1


def _unscored(change: Mapping[str, Any]) -> str:
    return "not measured" if str(change["strategy"]).startswith("quantized") and change["applicable"] else ""


def _plain(value: Any) -> str:
    """A setting's value; [before, after] pairs become the value after."""
    if isinstance(value, Mapping) and {"baseline", "change"} <= set(value):
        return f"{_plain(value['baseline'])} → {_plain(value['change'])}"
    if isinstance(value, list | tuple) and len(value) == 2:
        return f"{_plain(value[0])} → {_plain(value[1])}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(item)}" for key, item in value.items()) or "none"
    return "not set" if value is None else str(value)
