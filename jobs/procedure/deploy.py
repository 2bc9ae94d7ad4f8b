"""Whether what is about to be deployed is what was measured: ok, stale, or not covered by it at all."""

from collections.abc import Iterator

from jobs.procedure.deploy_sentence import context_sentence, note_sentence, other_sentence, strategy_sentence
from jobs.procedure.deploy_verdict import Checked, Measured, Reason, Verdict
from jobs.procedure.deployed import Deployed
from jobs.procedure.deployed_cache import DeployedCache
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
        none = _never("answer", "a limit", "nothing", "This profile has no answer yet.")
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
    adopted = measured.adopted if measured else None
    note = note_sentence(adopted, strategy)
    return Checked(
        verdict=verdict,
        reasons=reasons,
        in_doubt=in_doubt,
        not_told=_not_told(deployed, measured),
        strategy=strategy,
        limit_context=measured.bound(strategy) if measured else None,
        by_strategy=measured.limits if measured else {},
        adopted=adopted,
        note=note,
        message=" ".join(filter(None, (_message(verdict, deployed, measured, reasons), note))),
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
    """What was measured bounds each strategy; what the team adopted, the adopted one alone."""
    strategy = _strategy(deployed)
    bound = measured.bound(strategy)
    if strategy not in measured.limits and bound is None:
        cache = deployed.cache or DeployedCache(label=strategy, strategy=Strategy())
        sentence = strategy_sentence(cache, measured.limits)
        yield _never("strategy", strategy, ", ".join(measured.limits) or "none", sentence)
        return
    if deployed.cache is not None:
        for what, (told, was) in deployed.cache.otherwise().items():
            yield _never(what, told, was)
    if bound is None or deployed.max_context > bound:
        reached = measured.limits.get(strategy)
        most = "nothing that fits" if reached is None else f"at most {tokens_text(reached)}"
        sentence = context_sentence(deployed.max_context, strategy, measured)
        yield _never("max_context", tokens_text(deployed.max_context), most, sentence)


def _revision(deployed: Deployed, measured: Measured) -> Iterator[Reason]:
    """By the commit or by the name that the profile has; a branch that moved meanwhile is known by its commit alone."""
    commit, told = str(measured.environment.get("model_revision") or ""), deployed.revision
    if told is None or not (commit or measured.revision):
        return
    is_commit = len(told) >= LEAST_HASH_CHARACTERS and commit.startswith(told.lower())
    if not is_commit and told != (measured.revision or "main"):
        yield _reason("revision", told, commit or measured.revision, Verdict.STALE)


def _libraries(deployed: Deployed, measured: Measured) -> tuple[tuple[Reason, ...], tuple[Reason, ...]]:
    """What makes the answer stale, and what leaves it in doubt; a library that is not told is taken as it was."""
    versions = versions_in(measured.environment)
    was = Basis(question=measured.question, versions=versions)
    now = Basis(question=measured.question, versions=versions | versions_in(deployed.versions))
    found = environment_differences(was, now, strategy=_strategy(deployed))
    stale = tuple(_reason(one.what, one.now, one.was, Verdict.STALE) for one in found if one.weight is Weight.STALE)
    return stale, tuple(_reason(one.what, one.now, one.was, None) for one in found if one.weight is Weight.DOUBT)


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


def _never(what: str, deployed: str, measured: str, sentence: str = "") -> Reason:
    return _reason(what, deployed, measured, Verdict.NOT_COVERED, sentence)


def _reason(what: str, deployed: str, measured: str, verdict: Verdict | None, sentence: str = "") -> Reason:
    return Reason(
        what=what,
        deployed=deployed,
        measured=measured,
        verdict=verdict,
        sentence=sentence or other_sentence(what, deployed, measured),
    )


def _message(verdict: Verdict, deployed: Deployed, measured: Measured | None, reasons: tuple[Reason, ...]) -> str:
    if verdict is Verdict.OK and measured is not None:
        strategy = _strategy(deployed)
        kind = "adopted" if measured.adopted and measured.adopted.strategy == strategy else "measured"
        doubted = " Its quality was not measured." if strategy in measured.provisional else ""
        return (
            f"Ok: {tokens_text(deployed.max_context)} {with_strategy(_cache(deployed))} are within the "
            f"{tokens_text(measured.bound(strategy) or 0)} {kind} on {measured.device_name}.{doubted}"
        )
    heading = "Not covered." if verdict is Verdict.NOT_COVERED else "Stale, measure again."
    return " ".join([heading, *(reason.sentence for reason in reasons if reason.verdict is verdict)])
