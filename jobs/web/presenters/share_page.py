"""A shared answer as its page says it: the frozen snapshot, and beside it what has become of it since."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.exports.share_headline import Headline, answer_text, headline
from jobs.exports.share_text import strategy_text
from jobs.models import Freshness, Share
from jobs.procedure import verified
from jobs.selectors.share_since import Since
from jobs.sizing.stored import AS_STORED, PACKED_WORDS
from jobs.web.formats import number, seconds, size, speed, tokens
from jobs.web.presenters.measurements import MeasurementRow, measurement_rows
from jobs.web.presenters.share_since import Note, day, since_notes
from jobs.web.presenters.share_tables import StrategyRow, strategy_rows

IN_DOUBT = {
    Freshness.DOUBT: "Something that it depends on had changed by the day of sharing, probably without effect.",
    Freshness.STALE: "Something that it depends on had changed by the day of sharing: it was to be measured again.",
}
PROVISIONAL = "Provisional: what the quantized cache costs in quality was not measured."
RANDOM_WEIGHTS = "architecture only (random weights): the same memory and speed as the real model’s"


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One line of what the answer holds for; `more` says it in other words or further."""

    name: str
    value: str
    more: str = ""


@dataclass(frozen=True, kw_only=True)
class SharePage:
    """context is None where nothing fits; figures are Plotly's, as they were frozen. tone: good, warn or bad.

    title_told: for a preview of the link, with the word that the sharer's title may lack.
    """

    title: str
    title_told: str
    sentence: str
    eyebrow: str
    tone: str
    provisional: bool
    context: int | None
    each_of: int
    verdict: str
    notes: list[Note]
    facts: list[Fact]
    strategies: list[StrategyRow]
    measurements: list[MeasurementRow]
    technical: list[Fact]
    snippet: str
    environment: list[tuple[str, str]]
    figures: Mapping[str, Any]

    @property
    def description(self) -> str:
        """For a preview of the link: the verdict, after the sharer's own sentence."""
        return f"{self.sentence} {self.verdict}".strip()


def share_page(share: Share, since: Since) -> SharePage:
    taken: Mapping[str, Any] = share.snapshot
    limit, workload, head = taken["limit"], taken["workload"], headline(taken)
    return SharePage(
        title=share.title,
        sentence=share.sentence,
        title_told=_title(share.title, head),
        eyebrow=_eyebrow(limit) if head.measured is None else "The team deploys at most",
        tone=("warn" if head.cautions else "good") if limit["fits"] else "bad",
        provisional=bool(head.cautions),
        context=head.context,
        each_of=workload["sequences"],
        verdict=answer_text(taken),
        notes=since_notes(since, taken),
        facts=_facts(taken, share),
        strategies=strategy_rows(limit),
        measurements=measurement_rows(taken["measurements"], {"limit": limit, "budgets": taken["budgets"]}),
        technical=_technical(taken),
        snippet=taken["snippet"],
        environment=list(taken["environment"].items()),
        figures=taken["figures"],
    )


def _title(title: str, head: Headline) -> str:
    return f"{title} (provisional)" if head.cautions and "provisional" not in title.lower() else title


def _eyebrow(limit: Mapping[str, Any]) -> str:
    if limit["fits"]:
        return "Max context"
    if limit["context"] is None:
        return "Nothing fits"
    return "No answer yet. The longest seen to fit" if limit["open"] else "Does not fit. The closest"


def _facts(taken: Mapping[str, Any], share: Share) -> list[Fact]:
    device, versions, limit = taken["device"], taken["environment"], taken["limit"]
    software = ", ".join(f"{name} {versions[name]}" for name in ("transformers", "torch") if name in versions)
    rows = [
        _model(taken["model"]),
        Fact(name="Device", value=device["name"] or device["kind"], more=_memory(taken)),
        Fact(name="Measured on", value=day(taken["measured_at"]), more=f"shared on {day(share.shared_at)}"),
        Fact(name="Software", value=software),
        Fact(
            name=f"Speed at {tokens(limit['context'])}" if headline(taken).measured else "Speed at that length",
            value=_pace(limit["at_limit"], taken["workload"]["sequences"]),
            more=_first(limit["at_limit"]),
        ),
        Fact(
            name="CPU RAM needed",
            value=size(limit["at_limit"]["host_bytes"]) if limit["at_limit"]["host_bytes"] else "",
        ),
        Fact(name="How sure", value=_ran(limit), more=_doubts(taken)),
        _adopted(taken["adopted"]),
    ]
    return [row for row in rows if row.value]


def _model(model: Mapping[str, Any]) -> Fact:
    return Fact(name="Model", value=model["name"], more=RANDOM_WEIGHTS if model["random_weights"] else "")


def _memory(taken: Mapping[str, Any]) -> str:
    capacity = taken["budgets"]["capacity_bytes"]
    return f"{size(capacity)} of memory, {number(taken['headroom_percent'])} % of it kept free"


def _pace(at: Mapping[str, Any], sequences: int) -> str:
    if not at["decode_tokens_per_s"]:
        return ""
    pace = f"{speed(at['decode_tokens_per_s'])} tokens a second"
    if sequences == 1:
        return pace
    together = f", {speed(at['all_tokens_per_s'])} together" if at["all_tokens_per_s"] else ""
    return f"{pace} for each{together}"


def _first(at: Mapping[str, Any]) -> str:
    return f"the answer starts after {seconds(at['ttft_s'])}" if at["ttft_s"] else ""


def _ran(limit: Mapping[str, Any]) -> str:
    if limit["context"] is None:
        return ""
    ran, failed = f"A real run at {tokens(limit['context'])}", limit["first_failing_context"]
    if failed:
        return f"{ran}; at {number(failed)} it no longer held"
    ends = {"native_context": ", the most that the model was made for", "workload": ", the most that was asked for"}
    return f"{ran}{ends.get(limit['limited_by'], '; longer was not tried')}"


def _doubts(taken: Mapping[str, Any]) -> str:
    told = [
        PROVISIONAL if taken["limit"]["provisional"] else "",
        "" if taken["limit"]["confirmed"] or taken["limit"]["context"] is None else "The step above was not tried.",
        IN_DOUBT.get(taken["freshness"], ""),
        f"{verified.doubt(taken['device']['kind'])}." if verified.doubt(taken["device"]["kind"]) else "",
    ]
    return " ".join(text for text in told if text)


def _adopted(adopted: Mapping[str, Any] | None) -> Fact:
    value = f"{tokens(adopted['context'])} {strategy_text(adopted['strategy'])}" if adopted else ""
    return Fact(name="Adopted by the team", value=value)


def _technical(taken: Mapping[str, Any]) -> list[Fact]:
    """What the answer holds for, for whoever sets it up."""
    technical, workload, bounds = taken["technical"], taken["workload"], taken["bounds"]
    packed = technical["weights"]
    rows = [
        Fact(name="Workload", value=_workload(workload), more="own prompts" if technical["own_prompts"] else ""),
        Fact(name="Asked for", value=_bounds(bounds)),
        Fact(name="Revision", value=taken["model"]["revision"]),
        Fact(name="Precision", value=technical["dtype"]),
        Fact(name="Weights", value="" if packed == AS_STORED else f"packed in {PACKED_WORDS[packed]}"),
        Fact(name="Attention", value=technical["attention"]),
        Fact(name="Device’s own memory", value=size(taken["device"]["capacity_bytes"])),
        Fact(name="Threads", value=number(technical["threads"]) if technical["threads"] else ""),
    ]
    return [row for row in rows if row.value]


def _workload(workload: Mapping[str, Any]) -> str:
    prompt, answer, sequences = workload["prompt_tokens"], workload["answer_tokens"], workload["sequences"]
    at_once = "one sequence" if sequences == 1 else f"{number(sequences)} sequences at once"
    return f"prompt up to {number(prompt)}, answer {number(answer)} tokens, {at_once}"


def _bounds(bounds: Mapping[str, Any]) -> str:
    told = [
        f"at least {number(bounds['min_decode_tokens_per_s'])} tokens/s" if bounds["min_decode_tokens_per_s"] else "",
        f"first token within {number(bounds['max_ttft_s'])} s" if bounds["max_ttft_s"] else "",
        f"quantized caches within a mean KL of {bounds['max_kl']:g}" if bounds["max_kl"] else "",
    ]
    return ", ".join(text for text in told if text)
