"""Who is told of a run that ended, when, by what, and how often it is tried."""

import smtplib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db.models import Q
from django.utils import timezone

from jobs.models import Notice, Notify, Profile, Run, RunState
from jobs.procedure.limit_change import Found, limit_changed
from jobs.services import notice, notice_sending
from jobs.services.notice import notices_sweep
from jobs.services.notice_sending import notice_deliver
from jobs.services.notify import notify_change
from jobs.services.run_state import run_move
from jobs.services.webhook import WebhookFailed
from jobs.sizing.refusal import Refusal
from tests.factories import make_profile, make_run, make_user
from tests.services.tls_server import TlsServer, tls_server

pytestmark = pytest.mark.django_db
HOOK = "https://hooks.example.org/services/se-cret"


@pytest.fixture(autouse=True)
def rung(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    settings.EMAIL_URL, settings.PUBLIC_URL, settings.WEBHOOK_URL = "smtp://x", "https://kv.example.org", ""
    asked: list[int] = []
    monkeypatch.setattr(notice, "notice_send", lambda notice_id, attempts: asked.append(notice_id))
    return asked


@pytest.fixture
def owner() -> User:
    return make_user("ada", email="ada@example.org")


def end(profile: Profile, state: RunState = RunState.DONE, **fields: Any) -> Run:
    """A run of the profile that ends now; 2,048 with the normal cache unless said otherwise."""
    usual = {"answered": True, "limit_context": 2048, "limit_strategy": "default", "fits": True}
    run = make_run(profile=profile, state=RunState.RUNNING, **((usual if state == RunState.DONE else {}) | fields))
    assert run_move(run_id=run.pk, to=state, when=Q(), message="Ended.")
    return Run.objects.get(pk=run.pk)


def told(run: Run) -> list[tuple[str, str]]:
    return list(run.notices.values_list("channel", "to"))


@pytest.mark.parametrize(
    ("notify", "expected"),
    [
        (Notify.ALWAYS, {RunState.DONE, RunState.FAILED, RunState.LOST, RunState.CANCELLED}),
        (Notify.FAILURE, {RunState.FAILED, RunState.LOST}),
        (Notify.CHANGED, {RunState.DONE}),
        (Notify.NEVER, set()),
    ],
)
def test_which_end_is_told_is_the_profile_s_choice(owner: User, notify: Notify, expected: set[RunState]) -> None:
    heard = set()
    for state in (RunState.DONE, RunState.FAILED, RunState.LOST, RunState.CANCELLED):
        if told(end(make_profile(owner=owner, notify=notify), state)):
            heard.add(state)
    assert heard == expected


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        ({}, False),
        ({"limit_context": 2048 + 64}, False),
        ({"limit_context": 2048 - 64}, False),
        ({"limit_context": 2048 + 68}, True),
        ({"limit_context": 1024}, True),
        ({"limit_context": None, "fits": False}, True),
        ({"limit_strategy": "offloaded"}, True),
        ({"fits": False}, True),
    ],
)
def test_a_changed_limit_is_one_beyond_a_step_or_another_strategy_or_fit(
    owner: User, change: dict[str, Any], changed: bool
) -> None:
    profile = make_profile(owner=owner, notify=Notify.CHANGED)
    assert told(end(profile)), "the first answer is news"
    assert bool(told(end(profile, **change))) is changed


def test_nothing_that_fits_and_again_nothing_is_no_change() -> None:
    nothing = Found(context=None, strategy="default", fits=False)
    assert not limit_changed(nothing, nothing)


def test_an_end_without_an_answer_is_no_changed_limit(owner: User) -> None:
    assert not told(end(make_profile(owner=owner, notify=Notify.CHANGED), answered=False))


def test_the_owner_and_whoever_asked_are_told_once_to_each_address(owner: User) -> None:
    bob, twin = make_user("bob", email="bob@example.org"), make_user("twin", email="ada@example.org")
    profile = make_profile(owner=owner, notify=Notify.ALWAYS)
    assert told(end(profile, submitted_by=bob)) == [("email", "ada@example.org"), ("email", "bob@example.org")]
    assert told(end(profile, submitted_by=twin)) == [("email", "ada@example.org")]
    assert told(end(profile, submitted_by=None)) == [("email", "ada@example.org")]


@pytest.mark.parametrize("why", ["gone", "no address", "does not want it", "no mail server"])
def test_who_cannot_or_will_not_be_told_by_mail_is_not(owner: User, settings: Any, why: str) -> None:
    if why == "gone":
        User.objects.update(is_active=False)
    elif why == "no address":
        User.objects.update(email="")
    elif why == "does not want it":
        owner.membership.email_told = False  # type: ignore[attr-defined]
        owner.membership.save()  # type: ignore[attr-defined]
    else:
        settings.EMAIL_URL = ""
    assert told(end(make_profile(owner=owner, notify=Notify.ALWAYS))) == []


def test_a_profile_s_webhook_goes_before_the_team_s(settings: Any) -> None:
    settings.WEBHOOK_URL = "https://team.example.org/x"
    assert told(end(make_profile(notify=Notify.ALWAYS, webhook=HOOK))) == [("webhook", HOOK)]
    assert told(end(make_profile(notify=Notify.ALWAYS))) == [("webhook", "https://team.example.org/x")]


def test_it_is_asked_for_once_the_end_is_written(
    owner: User, rung: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    profile = make_profile(owner=owner, notify=Notify.ALWAYS)
    with django_capture_on_commit_callbacks(execute=True):
        run = end(profile)
        assert rung == []
    assert rung == [run.notices.get().pk]


def mailed(run: Run) -> tuple[str, str]:
    assert notice_deliver(notice_id=run.notices.get().pk, attempts=0)
    message = mail.outbox[-1]
    return message.subject, str(message.body)


def test_a_mail_says_the_limit_what_it_was_before_and_where_to_read_on(owner: User) -> None:
    profile = make_profile(owner=owner, notify=Notify.ALWAYS, name="Chats")
    end(profile, limit_context=4096, limit_strategy="quantized:hqq:4")
    run = end(profile, limit_context=8192, device={"name": "NVIDIA L4"})
    subject, body = mailed(run)
    assert subject == f"Max context 8,192 for {profile.model_entry.name} on NVIDIA L4"
    assert "Before: 4,096 with quantized 4 bits (hqq)" in body and "The whole workload fits." in body
    assert f"https://kv.example.org/runs/{run.pk}/" in body and "Profile: Chats" in body
    footer = body.partition("\n--\n")[2]
    assert f"https://kv.example.org/profiles/{run.profile_id}/#told\n" in footer
    assert "https://kv.example.org/account/\n" in footer
    assert Notice.objects.get(run=run).state == "sent"


@pytest.mark.parametrize(
    ("state", "fields", "subject"),
    [
        (RunState.FAILED, {"error": {"code": "x", "message": "No weights.", "hint": "Look."}}, "Failed: "),
        (RunState.CANCELLED, {}, "Cancelled: "),
        (RunState.LOST, {}, "Lost: "),
        (RunState.DONE, {"limit_context": None, "fits": False}, "Nothing fits: "),
        (RunState.DONE, {"answered": False}, "No answer: "),
    ],
)
def test_any_other_end_says_which(owner: User, state: RunState, fields: dict[str, Any], subject: str) -> None:
    found, body = mailed(end(make_profile(owner=owner, notify=Notify.ALWAYS), state, **fields))
    assert found.startswith(subject)
    assert ("No weights." in body) == ("error" in fields)


def test_a_name_cannot_add_a_header_or_call_a_channel(owner: User, tmp_path: Path) -> None:
    name = "Chats\r\nBcc: eve@example.org <!channel> & \u202eco"
    profile = make_profile(owner=owner, notify=Notify.ALWAYS, name=name)
    profile.model_entry.name = f"m\nSubject: {name}"
    profile.model_entry.save()
    run = end(profile)
    subject, body = mailed(run)
    assert "\n" not in subject and "\nBcc" not in body and "\u202e" not in subject + body
    text = notice_sending.webhook_message(notice_sending.told_of(run, None), run)["text"]
    assert "<!" not in text and "&lt;!channel&gt; &amp;" in text


@pytest.fixture
def server(tmp_path: Path) -> Iterator[TlsServer]:
    with tls_server(tmp_path) as server:
        yield server


def test_a_webhook_gets_a_text_for_people_and_fields_for_programs(server: TlsServer) -> None:
    run = end(make_profile(notify=Notify.ALWAYS, webhook=server.address, name="Chats"))
    assert notice_deliver(notice_id=run.notices.get().pk, attempts=0, reach=server.reach())
    (sent,) = server.bodies
    assert sent.pop("text").startswith("*Max context 2,048 for ")
    url = f"https://kv.example.org/runs/{run.pk}/"
    expected = {"run": run.pk, "profile": "Chats", "state": "done", "limit": 2048, "strategy": "default", "url": url}
    assert sent == expected


def test_asked_for_twice_or_late_it_is_sent_once(owner: User) -> None:
    pk = end(make_profile(owner=owner, notify=Notify.ALWAYS)).notices.get().pk
    assert [notice_deliver(notice_id=pk, attempts=0) for _ in range(2)] == [True, False]
    assert len(mail.outbox) == 1


@pytest.mark.parametrize("error", [smtplib.SMTPServerDisconnected("se-cret"), ConnectionRefusedError("se-cret")])
def test_it_is_tried_four_times_with_growing_waits_and_then_given_up(
    owner: User,
    rung: list[int],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    def fail(self: object) -> None:
        raise error

    monkeypatch.setattr(notice_sending.EmailMessage, "send", fail)
    row = end(make_profile(owner=owner, notify=Notify.ALWAYS)).notices.get()
    for attempts, wait_s in enumerate((60, 300, 1800)):
        assert not notice_deliver(notice_id=row.pk, attempts=attempts)
        row.refresh_from_db()
        assert (row.state, row.attempts) == ("waiting", attempts + 1)
        assert notices_sweep(now=timezone.now() + timedelta(seconds=wait_s - 2)) == 0
        assert notices_sweep(now=timezone.now() + timedelta(seconds=wait_s + 2)) == 1
    notice_deliver(notice_id=row.pk, attempts=3)
    row.refresh_from_db()
    assert (row.state, row.attempts) == ("failed", 4) and "mail server" in row.error
    assert notices_sweep(now=timezone.now() + timedelta(days=1)) == 0 and rung == [row.pk] * 3
    assert "se-cret" not in caplog.text + row.error


def test_a_failed_webhook_s_reason_keeps_its_secret(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(**_: Any) -> str:
        raise WebhookFailed("hooks.example.org answered 404 Not Found.")

    monkeypatch.setattr(notice_sending, "webhook_post", fail)
    row = end(make_profile(notify=Notify.ALWAYS, webhook=HOOK)).notices.get()
    assert not notice_deliver(notice_id=row.pk, attempts=0)
    row.refresh_from_db()
    assert row.error == "hooks.example.org answered 404 Not Found." and "se-cret" not in caplog.text


def test_a_team_s_webhook_that_is_none_is_no_crash(settings: Any) -> None:
    settings.WEBHOOK_URL = "http://10.0.0.1/x"
    row = end(make_profile(notify=Notify.ALWAYS)).notices.get()
    assert not notice_deliver(notice_id=row.pk, attempts=0)


def test_one_that_nobody_sent_is_asked_for_again_and_one_whose_last_attempt_is_silent_has_failed(
    owner: User, rung: list[int]
) -> None:
    forgotten, silent = (end(make_profile(owner=owner, notify=Notify.ALWAYS)).notices.get() for _ in range(2))
    Notice.objects.filter(pk=silent.pk).update(attempts=4, woken_at=timezone.now())
    assert notices_sweep(now=timezone.now() + timedelta(minutes=31)) == 1 and rung == [forgotten.pk]
    silent.refresh_from_db()
    assert silent.state == "failed" and silent.error


def test_a_profile_s_choice_is_kept_and_names_the_host_alone(owner: User) -> None:
    profile = make_profile(owner=owner)
    notify_change(user=owner, profile=profile, notify=Notify.CHANGED, webhook=HOOK)
    notify_change(user=owner, profile=profile, notify=Notify.ALWAYS)
    assert (profile.notify, profile.webhook) == ("always", HOOK)
    assert {deed.about for deed in profile.deeds.all()} == {
        "when the limit changed, by hooks.example.org",
        "always, by hooks.example.org",
    }
    with pytest.raises(Refusal):
        notify_change(user=owner, profile=profile, notify=Notify.ALWAYS, webhook="http://127.0.0.1/")
    notify_change(user=owner, profile=profile, notify=Notify.NEVER, webhook="")
    assert Profile.objects.get().webhook == ""


def test_an_administrator_made_by_hand_is_told_too() -> None:
    by_hand = User.objects.create_superuser("root", "root@example.org", "x")
    assert told(end(make_profile(owner=by_hand, notify=Notify.ALWAYS))) == [("email", "root@example.org")]
