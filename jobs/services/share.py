"""An answer is shared by a link, and the link revoked."""

import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from jobs.exports.share_allowed import model_named
from jobs.exports.share_snapshot import share_snapshot
from jobs.models import Run, Share
from jobs.procedure.events import EventKind
from jobs.selectors.run import measurements_of
from jobs.selectors.token import token_hash
from jobs.services.deed import What, deed_record
from jobs.sizing.model_spec import ModelKind
from jobs.sizing.refusal import Refusal

EXPIRY_DAYS = (7, 30, 90)
DEFAULT_EXPIRY_DAYS = 30
MOST_TITLE_CHARACTERS = 120
MOST_SENTENCE_CHARACTERS = 300


@transaction.atomic
def share_make(
    *,
    run: Run,
    user: User | None,
    title: str,
    sentence: str = "",
    expires_days: int | None = DEFAULT_EXPIRY_DAYS,
) -> tuple[Share, str]:
    """The link's row and its token, which is kept nowhere: 256 random bits. expires_days: None for never.

    Raises Refusal: no_answer, bad_title, bad_sentence, bad_expiry.
    """
    title, sentence = " ".join(title.split()), " ".join(sentence.split())
    _refuse(run, title, sentence, expires_days)
    token, now = secrets.token_urlsafe(32), timezone.now()
    share = Share.objects.create(
        run=run,
        token_sha256=token_hash(token),
        title=title,
        sentence=sentence,
        snapshot=snapshot_of(run),
        shared_by=user,
        expires_at=None if expires_days is None else now + timedelta(days=expires_days),
    )
    until = f"until {share.expires_at:%d %b %Y}" if share.expires_at else "until it is revoked"
    deed_record(user=user, what=What.SHARED, on=run.profile.name, about=f"“{title}”, {until}", run=run)
    return share, token


@transaction.atomic
def share_revoke(*, share: Share, user: User | None) -> bool:
    """Whether it was still open to be revoked; for whoever has it, it is then as if it had never been."""
    if not Share.objects.filter(pk=share.pk, revoked_at=None).update(revoked_at=timezone.now()):
        return False
    run = share.run
    deed_record(user=user, what=What.REVOKED, on=run.profile.name, about=f"“{share.title}”", run=run)
    return True


def share_viewed(*, share_id: int) -> None:
    """One look more, however many come at once."""
    Share.objects.filter(pk=share_id).update(views=F("views") + 1, viewed_at=timezone.now())


def title_proposed(run: Run) -> str:
    """“SmolLM2-135M · NVIDIA L4 · 3,968 tokens”, with “(provisional)” where the limit is."""
    entry = run.model_entry
    context = f"{run.limit_context:,} tokens" if run.limit_context else "nothing fits"
    if run.limit_context and (run.stages.get("limit") or {}).get("provisional"):
        context += " (provisional)"
    parts = (model_named(entry.kind, entry.name), str(run.device.get("name", "")), context)
    return " · ".join(part for part in parts if part)[:MOST_TITLE_CHARACTERS]


def snapshot_of(run: Run) -> dict[str, object]:
    """What the run's page would show to a stranger, as of now."""
    profile, entry = run.profile, run.model_entry
    adoption = profile.adoption
    if adoption and adoption.run.model_entry_id != run.model_entry_id:
        adoption = None  # decided of another model
    return share_snapshot(
        question=run.question,
        device=run.device,
        environment=run.environment,
        stages=run.stages,
        measurements=measurements_of(run),
        model_kind=entry.kind,
        model_name=entry.name,
        random_weights=_random_weights(run),
        measured_at=(run.finished_at or run.queued_at).isoformat(),
        freshness=profile.freshness if profile.answer_run_id == run.pk else "",
        adopted=(adoption.context, adoption.strategy) if adoption else None,
    )


def _random_weights(run: Run) -> bool:
    if run.model_entry.kind == ModelKind.ARCHITECTURE:
        return True
    loaded = run.events.filter(kind=EventKind.LOADED).order_by("-seq").first()
    return bool(loaded and loaded.data.get("random_weights"))


def _refuse(run: Run, title: str, sentence: str, expires_days: int | None) -> None:
    if run.is_active or not run.answered:
        raise Refusal("no_answer", f"Run {run.pk} has no answer to share.", "Share a run that has ended with one.")
    if not 0 < len(title) <= MOST_TITLE_CHARACTERS:
        most = MOST_TITLE_CHARACTERS
        raise Refusal("bad_title", f"A shared answer needs a title of 1 to {most} characters.", "Write a shorter one.")
    if len(sentence) > MOST_SENTENCE_CHARACTERS:
        most = MOST_SENTENCE_CHARACTERS
        raise Refusal("bad_sentence", f"The sentence has more than {most} characters.", "Write a shorter one.")
    if expires_days is not None and expires_days not in EXPIRY_DAYS:
        raise Refusal("bad_expiry", f"A link cannot expire after {expires_days} days.", "Use 7, 30, 90, or never.")
