"""What `tests.browser.screenshots` adds to the team's portal: a full list, runs to compare, links, tokens, notices."""

from datetime import timedelta
from itertools import cycle

from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from jobs.models import Adoption, Channel, Freshness, Notice, NoticeState, Notify, Profile, Role, Run, Tag, TokenScope
from jobs.services.api_token import api_token_make
from jobs.services.invitation import invitation_make
from jobs.services.notify import notify_change
from jobs.services.recheck import run_recheck
from jobs.services.share import share_make
from jobs.sizing.units import MIB
from tests.browser import demo, demo_recheck
from tests.browser.demo_worlds import L4, L4_BYTES, GpuWorld
from tests.procedure.worlds import strategies

NAMES = [
    ("Support tickets", "Answers", "Contract review", "Meeting minutes", "Code review", "Product texts"),
    ("at night", "for the pilot", "in two languages", "with tools, the long system prompt and the catalogue", "v2"),
]
TAGS = ["production", "pilot", "nightly", "legal", "340 MiB", "edge"]
CHANGES = [
    [{"what": "transformers", "was": "5.22.0", "now": "5.24.0", "weight": "stale"}],
    [{"what": "driver", "was": "570.86.10", "now": "580.65.06", "weight": "doubt"}],
]
MIXED = [Freshness.FRESH, Freshness.FRESH, Freshness.STALE, Freshness.DOUBT, Freshness.FRESH, Freshness.NONE]


def _somebody() -> User:
    return User.objects.get(username=demo.member()["username"])


def full_list() -> None:
    """Thirty profiles more, of every freshness, a third of them adopted, most of them tagged."""
    like = Run.objects.filter(answered=True).order_by("pk")[0]
    other = User.objects.filter(username="grace").first() or _somebody()
    names = [f"{what} {how}" for how in NAMES[1] for what in NAMES[0]]
    for number, (name, freshness) in enumerate(zip(names, cycle(MIXED), strict=False)):
        at = timezone.now() - timedelta(hours=5 + 31 * number)
        made = Profile.objects.get(pk=like.profile_id)
        made.pk, made.name, made.freshness, made.adoption = None, name, freshness, None
        made.owner = other if number % 4 == 1 else made.owner
        made.differences = {"stale": CHANGES[0], "doubt": CHANGES[1]}.get(freshness, [])
        made.latest_run = made.answer_run = None
        made.save()
        made.tags.set([Tag.objects.get_or_create(name=tag)[0] for tag in TAGS[number % 5 : number % 5 + number % 3]])
        if freshness != Freshness.NONE:
            _answered(made, like, number)
        Profile.objects.filter(pk=made.pk).update(created_at=at)
        Run.objects.filter(profile=made).update(queued_at=at, finished_at=at + timedelta(minutes=9))


def _answered(profile: Profile, like: Run, number: int) -> None:
    run = Run.objects.get(pk=like.pk)
    run.pk, run.profile, run.model_entry, run.last_seq = None, profile, profile.model_entry, 0
    run.limit_context, run.tokens_per_s = 1024 + 857 * number, 3.0 + 7.9 * (number % 7)
    run.fits = number % 5 != 0
    run.save(force_insert=True)
    profile.latest_run = profile.answer_run = run
    if number % 3 == 0:
        kept = {"context": run.limit_context - 128, "strategy": run.limit_strategy, "reason": "Room for tools."}
        profile.adoption = Adoption.objects.create(profile=profile, run=run, adopted_by=_somebody(), **kept)
    profile.save()


def compared() -> list[int]:
    """Six runs of the same question with ever less memory, of last month."""
    card, runs = demo.gpu("cuda:2", L4["name"], L4_BYTES), []
    asked = {"of": demo.hub_entry(), "on": card, "device": card.device, "strategies": strategies(*demo.ON_GPU)}
    for size in range(1000, 499, -100):
        runs.append(demo.begin(f"Summaries in {size} MiB", world=GpuWorld, capacity_bytes=size * MIB, **asked))
        demo.finish(runs[-1])
    at = timezone.now() - timedelta(days=33)
    Run.objects.filter(pk__in=runs).update(queued_at=at, started_at=at, finished_at=at + timedelta(minutes=12))
    Profile.objects.filter(runs__in=runs).update(created_at=at)
    return runs


def shared(run: int, superseded: int) -> dict[str, str]:
    """The addresses of a share that holds, of one that a later run has overtaken, and of a withdrawn kind."""
    user = _somebody()
    sentence = "We can buy the small card: the nightly batch fits beside the weights."
    _, token = share_make(run=Run.objects.get(pk=run), user=user, title="Nightly job fits on one L4", sentence=sentence)
    _, old = share_make(run=Run.objects.get(pk=superseded), user=user, title="Short chats, one card", expires_days=None)
    demo.later(superseded, limit_context=2048)
    return {"shared": f"/s/{token}/", "shared-superseded": f"/s/{old}/", "shared-gone": f"/s/{token[:-3]}abc/"}


def tokens() -> None:
    user = _somebody()
    for name, scope in ("nightly deployment check", TokenScope.READ), ("notebook", TokenScope.WRITE):
        api_token_make(user=user, name=name, scope=scope, by=user)


def invited() -> dict[str, str]:
    """The addresses of an invitation and of a link that sets a password anew."""
    user = User.objects.get(username=demo.administrator()["username"])
    token = invitation_make(user=user, role=Role.VIEWER, note="Mary, who buys the cards")
    somebody = _somebody()
    reset = f"{urlsafe_base64_encode(force_bytes(somebody.pk))}/{default_token_generator.make_token(somebody)}"
    return {"join": f"/join/{token}/", "reset": f"/reset/{reset}/"}


def rechecked(profile: int) -> int:
    """The run that a member's recheck of it makes, played to its end."""
    run = run_recheck(profile=Profile.objects.get(pk=profile), user=_somebody())
    return demo_recheck.play(int(run.pk))


def answered() -> int:
    """A run with an answer, of a profile that nothing else here touches."""
    return int(Run.objects.filter(answered=True, profile__name="Short chats").values_list("pk", flat=True)[0])


def told() -> None:
    """The end of the first profile's run was told by e-mail, and could not be told by webhook."""
    profile = Profile.objects.get(pk=1)
    notify_change(user=_somebody(), profile=profile, notify=Notify.CHANGED, webhook="https://hooks.example.org/in/9")
    run, now = profile.latest_run, timezone.now()
    sent = {"channel": Channel.EMAIL, "to": "ada@example.org", "state": NoticeState.SENT, "sent_at": now}
    lost = {"channel": Channel.WEBHOOK, "to": "https://hooks.example.org/in/9", "state": NoticeState.FAILED}
    Notice.objects.create(run=run, attempts=1, **sent)
    Notice.objects.create(run=run, attempts=5, error="The webhook answered 410: gone.", **lost)
