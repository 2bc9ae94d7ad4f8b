"""The answer of check-deploy for people."""

from collections.abc import Iterator

from jobs.procedure.deploy_verdict import Checked, Reason


def deploy_text(checked: Checked) -> str:
    return "\n".join(_lines(checked))


def _lines(checked: Checked) -> Iterator[str]:
    yield checked.message
    if len(checked.reasons) > 1:
        yield from _each(checked.reasons)
    if checked.in_doubt:
        yield "In doubt, probably unaffected:"
        yield from (f"  {one.sentence}" for one in checked.in_doubt)
    if checked.not_told:
        yield f"Not told by the settings, and so not checked: {', '.join(checked.not_told)}."


def _each(reasons: tuple[Reason, ...]) -> Iterator[str]:
    for reason in reasons:
        verdict = str(reason.verdict).replace("_", " ")
        yield f"  {verdict}: {reason.sentence}"
