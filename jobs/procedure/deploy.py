"""Whether what is about to be deployed is what was measured: ok, stale, or not covered by it at all."""

from collections.abc import Iterator

from jobs.procedure.deploy_verdict import Checked, Measured, Reason, Verdict
from jobs.procedure.deployed import Deployed
from jobs.procedure.difference import Weight
from jobs.procedure.freshness import (
    BACKENDS,
    IN_DOUBT,
    PACKERS,
    TRANSFORMERS,
    Basis,
    environment_differences,
    versions_in,
)
from jobs.procedure.words import tokens_text, with_strategy
from jobs.sizing.stored import AS_STORED
from jobs.sizing.strategy import Strategy

LEAST_HASH_CHARACTERS = 7


def check_deploy(deployed: Deployed, measured: Measured | None) -> Checked:
    """measured: None for a profile without an answer."""
    if measured is None:
        none = Reason(what="answer", deployed="a limit", measured="nothing", verdict=Verdict.NOT_COVERED)
        return _checked(deployed, None, (none,), ())
    found = (*_asked(deployed, measured), *_limit(deployed, measured), *_revision(deployed, measured))
    libraries, in_doubt = _libraries(deployed, measured)
    reasons = sorted((*found, *libraries), key=lambda reason: reason.verdict is not Verdict.NOT_COVERED)
    return _checked(deployed, measured, tuple(reasons), in_doubt)


def _checked(
    deployed: Deployed, measured: Measured | None, reasons: tuple[Reason, ...], in_doubt: tuple[Reason, ...]
) -> Checked:
    verdicts = {reason.verdict for reason in reasons}
    verdict = next((one for one in (Verdict.NOT_COVERED, Verdict.STALE) if one in verdicts), Verdict.OK)
    strategy = _strategy(deployed)
    limit = measured.limits.get(strategy) if measured else None
    return Checked(
        verdict=verdict,
        reasons=reasons,
        in_doubt=in_doubt,
        not_told=_not_told(deployed, measured),
        strategy=strategy,
        limit_context=limit,
        message=_message(verdict, deployed, measured, reasons, limit),
    )


def _asked(deployed: Deployed, measured: Measured) -> Iterator[Reason]:
    """What the question fixes: with another it was never measured."""
    question = measured.question
    if deployed.model not in measured.model:
        yield _never("model", deployed.model, measured.model[0])
    for name in ("dtype", "attention", "weights"):
        told, was = getattr(deployed, name), str(question.get(name, AS_STORED))  # a run of before had weights as stored
        if told is not None and told != was:
            yield _never(name, told, was)
    if deployed.device is not None and not _same_device(deployed.device, measured):
        yield _never("device", deployed.device, measured.device_name)
    sequences = int(question["sequences"])
    if deployed.sequences is not None and deployed.sequences > sequences:
        yield _never("sequences", f"{deployed.sequences:,}", f"{sequences:,}")


def _limit(deployed: Deployed, measured: Measured) -> Iterator[Reason]:
    strategy, of = _strategy(deployed), "adopted: " if measured.adopted else ""
    if strategy not in measured.limits:
        yield _never("strategy", strategy, of + (", ".join(measured.limits) or "none"))
        return
    if deployed.cache is not None:
        for what, (told, was) in deployed.cache.otherwise().items():
            yield _never(what, told, was)
    context = measured.limits[strategy]
    if context is None or deployed.max_context > context:
        most = "nothing that fits" if context is None else f"{of}at most {tokens_text(context)}"
        yield _never("max_context", tokens_text(deployed.max_context), most)


def _revision(deployed: Deployed, measured: Measured) -> Iterator[Reason]:
    """By the commit or by the name that the profile has; a branch that moved meanwhile is known by its commit alone."""
    commit, told = str(measured.environment.get("model_revision") or ""), deployed.revision
    if told is None or not (commit or measured.revision):
        return
    is_commit = len(told) >= LEAST_HASH_CHARACTERS and commit.startswith(told.lower())
    if not is_commit and told != (measured.revision or "main"):
        yield Reason(what="revision", deployed=told, measured=commit or measured.revision, verdict=Verdict.STALE)


def _libraries(deployed: Deployed, measured: Measured) -> tuple[tuple[Reason, ...], tuple[Reason, ...]]:
    """What makes the answer stale, and what leaves it in doubt; a library that is not told is taken as it was."""
    versions = versions_in(measured.environment)
    was = Basis(question=measured.question, versions=versions)
    now = Basis(question=measured.question, versions=versions | versions_in(deployed.versions))
    found = environment_differences(was, now, strategy=_strategy(deployed))
    reasons = [
        (one.weight, Reason(what=one.what, deployed=one.now, measured=one.was, verdict=Verdict.STALE)) for one in found
    ]
    stale = tuple(reason for weight, reason in reasons if weight is Weight.STALE)
    return stale, tuple(reason for weight, reason in reasons if weight is Weight.DOUBT)


def _not_told(deployed: Deployed, measured: Measured | None) -> tuple[str, ...]:
    names = ("revision", "dtype", "sequences", "attention", "weights", "device", "cache")
    open_ = [name for name in names if getattr(deployed, name) is None]
    if measured is not None:
        if not (measured.revision or measured.environment.get("model_revision")):
            open_ = [name for name in open_ if name != "revision"]  # a local model has none
        used = {TRANSFORMERS, *IN_DOUBT, BACKENDS.get(_cache(deployed).backend or "")}
        used.add(PACKERS.get(str(measured.question.get("weights"))))
        watched = [name for name in versions_in(measured.environment) if name in used]
        open_ += [f"versions.{name}" for name in watched if name not in deployed.versions]
    return tuple(open_)


def _cache(deployed: Deployed) -> Strategy:
    """transformers takes its dynamic cache where it is told nothing."""
    return (deployed.cache and deployed.cache.strategy) or Strategy()


def _strategy(deployed: Deployed) -> str:
    """Its name, of one that is never measured too."""
    return str(_cache(deployed)) if deployed.cache is None or deployed.cache.strategy else deployed.cache.label


def _same_device(told: str, measured: Measured) -> bool:
    names = {measured.device_name.casefold(), str(measured.question.get("device", "")).casefold()}
    return " ".join(told.split()).casefold() in names


def _never(what: str, deployed: str, measured: str) -> Reason:
    return Reason(what=what, deployed=deployed, measured=measured, verdict=Verdict.NOT_COVERED)


def _message(
    verdict: Verdict, deployed: Deployed, measured: Measured | None, reasons: tuple[Reason, ...], limit: int | None
) -> str:
    if measured is None:
        return "Not covered: this profile has no answer yet."
    if verdict is Verdict.OK:
        kind = "adopted" if measured.adopted else "measured"
        doubted = " Its quality was not measured." if _strategy(deployed) in measured.provisional else ""
        return (
            f"Ok: {tokens_text(deployed.max_context)} {with_strategy(_cache(deployed))} are within the "
            f"{tokens_text(limit or 0)} {kind} on {measured.device_name}.{doubted}"
        )
    heading = "Not covered" if verdict is Verdict.NOT_COVERED else "Stale, measure again"
    return f"{heading}: {'; '.join(reason.sentence for reason in reasons if reason.verdict is verdict)}."
