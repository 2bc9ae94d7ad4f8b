"""Links that show an answer without an account."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from jobs.models import Adoption, ModelEntry, Profile, Role, Run, Share, Worker
from jobs.services.share import share_make
from tests.answered_run import answered_run
from tests.factories import make_entry, make_user

NOWHERE = "A" * 43


@pytest.fixture
def run(db: None) -> Run:
    return answered_run()


@pytest.fixture
def sharer(db: None) -> User:
    return make_user("grace")


def made(run: Run, user: User | None = None, **given: Any) -> tuple[Share, str]:
    return share_make(run=run, user=user, **({"title": "For the board", "sentence": "It has to do."} | given))


def page(client: Client, token: str) -> HttpResponse:
    return client.get(reverse("share", args=[token]))  # type: ignore[return-value]


def text_of(client: Client, token: str) -> str:
    return page(client, token).content.decode()


def later_run(run: Run, **changes: Any) -> Run:
    """The same answer once more, but for these columns, as its profile's answer."""
    names = ("profile", "model_entry", "worker", "question", "stages", "device", "environment")
    copied = {name: getattr(run, name) for name in names}
    columns = {name: getattr(run, name) for name in ("limit_context", "limit_strategy", "fits")}
    fields = copied | columns | changes
    found = Run.objects.create(answered=True, state="done", finished_at=timezone.now(), **fields)
    Profile.objects.filter(pk=run.profile_id).update(answer_run=found, latest_run=found)
    return found


def test_whoever_has_the_link_reads_the_answer(client: Client, run: Run) -> None:
    text = text_of(client, made(run)[1])
    for told in ("For the board", "It has to do.", "3,968", "AMD EPYC 9454P", "transformers 5.24.0", "Provisional"):
        assert told in text
    assert "No: 4,352 tokens, as asked for, do not fit on this device." in text
    assert 'id="share-figures"' in text
    assert "Sign in" not in text
    assert 'href="/profiles/' not in text


def test_the_page_keeps_out_of_indexes_caches_and_other_sites_logs(client: Client, run: Run) -> None:
    answer = page(client, made(run)[1])
    assert answer.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert "Vary" not in answer.headers, answer.headers["Vary"]
    assert not answer.cookies


def test_a_members_own_look_changes_no_session(signed_in: Client, run: Run) -> None:
    token = made(run)[1]
    signed_in.get(reverse("shares"))
    before = signed_in.session["_auth_user_id"], dict(signed_in.session)
    answer = page(signed_in, token)
    assert not answer.cookies
    assert (signed_in.session["_auth_user_id"], dict(signed_in.session)) == before


@pytest.mark.parametrize("name", ["share", "share-card"])
def test_unknown_expired_revoked_and_malformed_links_are_one_answer(client: Client, run: Run, name: str) -> None:
    tokens = {why: made(run)[1] for why in ("expired", "revoked")}
    ended = timezone.now() - timedelta(seconds=1)
    Share.objects.filter(pk=Share.objects.order_by("pk")[0].pk).update(expires_at=ended)
    Share.objects.filter(pk=Share.objects.order_by("-pk")[0].pk).update(revoked_at=ended)
    tokens |= {"unknown": NOWHERE, "short": "x", "long": "x" * 3000, "odd": "\N{SNOWMAN}\0%'\"<>"}
    answers = [client.get(reverse(name, args=[token])) for token in tokens.values()]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    assert len({tuple(answer.headers.items()) for answer in answers}) == 1
    assert answers[0].content == page(client, NOWHERE).content
    assert "For the board" not in answers[0].content.decode()


def test_a_gone_link_asks_the_database_as_often_as_an_unknown_one(
    client: Client, run: Run, django_assert_num_queries: Any
) -> None:
    share, token = made(run)
    Share.objects.filter(pk=share.pk).update(revoked_at=timezone.now())
    for gone in (token, NOWHERE):
        with django_assert_num_queries(1):
            page(client, gone)


def test_a_view_takes_few_queries_and_leaves_heavy_columns_where_they_are(
    client: Client, run: Run, django_assert_num_queries: Any
) -> None:
    token = made(run)[1]
    with django_assert_num_queries(2) as asked:
        page(client, token)
    assert '"stages"' not in asked[0]["sql"]


@pytest.mark.parametrize("name", ["share", "share-card"])
def test_a_link_is_only_read(client: Client, run: Run, name: str) -> None:
    address = reverse(name, args=[made(run)[1]])
    for send in (client.post, client.put, client.patch, client.delete):
        assert send(address).status_code == 405


def test_only_looking_at_the_page_counts(client: Client, run: Run) -> None:
    share, token = made(run)
    client.head(reverse("share", args=[token]))
    client.get(reverse("share-card", args=[token]))
    page(client, NOWHERE)
    share.refresh_from_db()
    assert (share.views, share.viewed_at) == (0, None)
    page(client, token)
    page(client, token)
    share.refresh_from_db()
    assert share.views == 2


def test_markup_in_what_the_sharer_wrote_is_text(client: Client, run: Run) -> None:
    text = text_of(client, made(run, title="<b>x</b>", sentence='"><script>alert(1)</script>')[1])
    assert "<b>x</b>" not in text
    assert "<script>alert" not in text
    assert "&lt;b&gt;x" in text


def test_where_nothing_fits_the_page_and_its_picture_say_so(client: Client, run: Run) -> None:
    names = {"context": None, "ran_at": None, "strategy": "default", "limited_by": "memory"}
    run.stages["limit"] |= names
    run.measurements.all().delete()
    token = made(run)[1]
    text = text_of(client, token)
    assert "No: not even a short context fits on this device." in text
    assert '<p class="answer-number">none</p>' in text
    assert "Speed at that length" not in text
    assert client.get(reverse("share-card", args=[token])).status_code == 200


def test_of_several_sequences_the_speed_is_each_ones_and_all_of_them_together(client: Client, run: Run) -> None:
    run.question["sequences"] = 3
    run.stages["limit"]["ran_at"] |= {"decode_tokens_per_s": 4.4, "all_tokens_per_s": 13.2}
    text = text_of(client, made(run)[1])
    assert "4.4 tokens a second for each, 13.2 together" in text
    assert "tokens for each of 3" in text


def test_no_secret_of_any_row_is_served(client: Client, run: Run) -> None:
    planted = Planted()
    profile = run.profile
    Run.objects.filter(pk=run.pk).update(
        question=planted.inside(run.question, keep=ASKED),
        stages=planted.inside(run.stages, keep=MEASURED),
        environment=planted.inside(run.environment, keep=SHOWN) | planted.environment(),
        device=planted.inside(run.device, keep={"name", "kind"}),
        error={"message": planted.text("error")},
        queue=planted.text("queue")[:140],
        lease=planted.text("lease")[:40],
    )
    for row in run.measurements.all():
        row.data = planted.inside(row.data, keep=MEASURED)
        row.save()
    Profile.objects.filter(pk=profile.pk).update(
        name=planted.text("name"), notes=planted.text("notes"), webhook=planted.text("webhook")
    )
    profile.tags.create(name=planted.text("tag"))
    Worker.objects.update(
        name=planted.text("host"), device_name=planted.text("worker"), versions={"a": planted.text("v")}
    )
    folder = {"kind": "folder", "name": f"/srv/{planted.text('folder')}/llama", "revision": planted.text("rev")}
    ModelEntry.objects.filter(pk=profile.model_entry_id).update(**folder, spec={"path": planted.text("path")})
    user = make_user(planted.text("user"), email=f"{planted.text('mail')}@example.org")
    adopted = Adoption.objects.create(
        profile=profile, run=run, context=2000, strategy="default", reason=planted.text("reason"), adopted_by=user
    )
    Profile.objects.filter(pk=profile.pk).update(adoption=adopted, owner=user)
    token = made(Run.objects.get(pk=run.pk), user)[1]
    assert planted.count > 150
    for name in ("share", "share-card"):
        answer = client.get(reverse(name, args=[token]))
        assert answer.status_code == 200
        served = answer.content + repr(answer.headers).encode()
        assert Planted.MARK.encode() not in served
        assert b"/srv/" not in served
    text = text_of(client, token)
    assert "&quot;llama&quot;" in text
    assert "2,000 tokens with the normal cache" in text


ASKED = {"strategies", "dtype", "attention", "device", "depth", "weights"}
MEASURED = {"strategy", "outcome", "stage", "limited_by", "phase", "what"}
SHOWN = {"attention", "torch", "transformers", "hqq", "optimum-quanto"}


class Planted:
    """Words that nobody may be served, in place of every text but those that are kept, and beside every field."""

    MARK = "qz7planted"

    def __init__(self) -> None:
        self.count = 0

    def text(self, where: str) -> str:
        self.count += 1
        return f"{self.MARK}-{where}-{self.count}"

    def environment(self) -> dict[str, str]:
        names = (
            "thread_settings",
            "kernel",
            "platform",
            "host",
            "user",
            "gpu_uuid",
            "path",
            "model_revision",
            "driver",
        )
        return {name: f"/srv/{self.text(name)}" for name in names}

    def inside(self, data: Any, *, keep: set[str], name: str = "") -> Any:
        if isinstance(data, dict):
            spread = {key: self.inside(value, keep=keep, name=key) for key, value in data.items()}
            return spread | {"planted": self.text(name), "prompts": {"name": self.text(name)}}
        if isinstance(data, list):
            return [self.inside(value, keep=keep, name=name) for value in data]
        return self.text(name) if (isinstance(data, str) or data is None) and name not in keep else data


def test_later_edits_change_nothing_on_the_page(client: Client, run: Run) -> None:
    token = made(run)[1]
    before = text_of(client, token)
    Profile.objects.filter(pk=run.profile_id).update(name="renamed", notes="new", archived_at=timezone.now())
    Run.objects.filter(pk=run.pk).update(stages={}, environment={}, device={})
    run.measurements.all().delete()
    ModelEntry.objects.update(name="another/name")
    assert text_of(client, token) == before


def test_a_later_measurement_that_says_otherwise_supersedes(client: Client, run: Run) -> None:
    token = made(run)[1]
    later_run(run, limit_context=1872, limit_strategy="offloaded")
    text = text_of(client, token)
    assert "Superseded on " in text
    assert (
        "a later measurement says 1,872 tokens with the cache offloaded to CPU RAM, in place of 3,968 tokens with the "
        "cache quantized to 4 bits (hqq)." in text
    )
    assert not re.search(r'<a [^>]*href="/(runs|profiles)', text)
    assert "3,968 <small>tokens" in text


@pytest.mark.parametrize(("context", "told"), [(3968, False), (3904, False), (3900, True), (4036, True), (None, True)])
def test_a_later_limit_within_a_step_confirms(client: Client, run: Run, context: int | None, told: bool) -> None:
    token = made(run)[1]
    later_run(run, limit_context=context)
    text = text_of(client, token)
    assert ("Superseded on" in text) is told
    assert ("Confirmed again on" in text) is not told


def test_another_model_s_measurement_and_adoption_supersede_nothing(client: Client, run: Run) -> None:
    token = made(run)[1]
    other = later_run(run, model_entry=make_entry("org/secret-model"), limit_context=77)
    adoption = Adoption.objects.create(profile=run.profile, run=other, context=77, strategy="default")
    Profile.objects.filter(pk=run.profile_id).update(adoption=adoption)
    text = text_of(client, token)
    assert "Superseded" not in text
    assert "says 77" not in text
    assert "secret-model" not in text


def test_an_earlier_run_supersedes_nothing(client: Client, run: Run) -> None:
    early = later_run(run, limit_context=100)
    Run.objects.filter(pk=early.pk).update(queued_at=run.queued_at - timedelta(days=1))
    assert "Superseded" not in text_of(client, made(run)[1])


def test_a_question_changed_since_is_told(client: Client, run: Run) -> None:
    token = made(run)[1]
    changed = run.question | {"prompt_tokens": 2048}
    Profile.objects.filter(pk=run.profile_id).update(question=changed)
    assert "Asked otherwise since" in text_of(client, token)
    later_run(run, question=changed, limit_context=2304, fits=True)
    text = text_of(client, token)
    assert "a later measurement, of a changed question, says 2,304 tokens" in text
    assert "Asked otherwise since" not in text


def test_another_adoption_and_its_withdrawal_are_told_without_who_and_why(client: Client, run: Run) -> None:
    profile, ada = run.profile, make_user("someone-special")
    given: dict[str, Any] = {"profile": profile, "run": run, "strategy": run.limit_strategy, "adopted_by": ada}
    Profile.objects.filter(pk=profile.pk).update(adoption=Adoption.objects.create(context=3000, **given))
    token = made(Run.objects.get(pk=run.pk))[1]
    assert "Adopted by the team" in text_of(client, token)
    Profile.objects.update(adoption=Adoption.objects.create(context=2500, reason="a margin", **given))
    text = text_of(client, token)
    assert "the team decided for 2,500 tokens" in text
    assert "in place of 3,000 tokens" in text
    assert "a margin" not in text
    assert "someone-special" not in text
    Adoption.objects.update(withdrawn_at=timezone.now())
    Profile.objects.update(adoption=None)
    assert "Withdrawn on" in text_of(client, token)


def test_the_preview_of_a_link_has_absolute_addresses(client: Client, run: Run, settings: Any) -> None:
    settings.PUBLIC_URL = "https://kv.example.org"
    token = made(run)[1]
    text = text_of(client, token)
    meta = dict(re.findall(r'<meta (?:property|name)="([\w:]+)" content="([^"]*)"', text))
    assert meta["og:title"] == "For the board (provisional)"
    assert meta["og:description"].startswith("It has to do. No: 4,352 tokens")
    assert meta["og:image"] == f"https://kv.example.org/s/{token}/card.png"
    assert meta["twitter:card"] == "summary_large_image"


def test_a_provisional_yes_and_a_lower_adoption_are_told_in_the_headline(client: Client, run: Run) -> None:
    run.stages["limit"] |= {"fits_workload": True}
    adopted = Adoption.objects.create(profile=run.profile, run=run, context=1000, strategy=run.limit_strategy)
    run.profile.adoption = adopted
    told = "The team deploys at most 1,000 tokens; 3,968 were measured. Provisionally yes: 3,968 tokens, as asked for, "
    text = text_of(client, made(run, sentence="")[1])
    assert f'name="description" content="{told}' in text
    assert f'<p class="verdict warn">{told}' in text
    assert "; its quality was not measured." in text
    assert '<h2 class="eyebrow eyebrow-warn" id="answer">The team deploys at most</h2>' in text
    assert "Speed at 3,968 tokens" in text and "Speed at that length" not in text
    assert '1,000 <small>tokens</small> <small class="warn">provisional</small>' in text


def test_the_picture_is_the_same_at_every_look(client: Client, run: Run) -> None:
    address = reverse("share-card", args=[made(run)[1]])
    one, two = client.get(address), client.get(address)
    assert one.headers["Content-Type"] == "image/png"
    assert one.headers["Cache-Control"] == "no-store"
    assert one.content == two.content
    assert len(one.content) < 100 * 1024


def test_a_member_makes_a_link_and_sees_its_address_once(signed_in: Client, run: Run, settings: Any) -> None:
    settings.PUBLIC_URL = "https://kv.example.org"
    address = reverse("run-share", args=[run.pk])
    assert "SmolLM2-135M · AMD EPYC 9454P · 3,968 tokens (provisional)" in signed_in.get(address).content.decode()
    sent = signed_in.post(address, {"title": "Mine", "sentence": "", "expires": "never"})
    (link,) = re.findall(r'id="address">https://kv\.example\.org(/s/[\w-]{43}/)<', sent.content.decode())
    assert "no-store" in sent.headers["Cache-Control"]
    assert Client().get(link).status_code == 200
    share = Share.objects.get()
    assert (share.title, share.expires_at, str(share.shared_by)) == ("Mine", None, "ada")
    for name, arguments in (("run", [run.pk]), ("run-share", [run.pk]), ("shares", [])):
        listed = signed_in.get(reverse(name, args=arguments)).content.decode()
        assert "Mine" in listed, name
        assert link not in listed


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"title": ""}, "Write a title"),
        ({"title": "x" * 121}, "at most 120"),
        ({"sentence": "x" * 301}, "at most 300"),
        ({"expires": "8"}, "Select a valid choice"),
    ],
)
def test_a_form_that_cannot_be_used_says_why(signed_in: Client, run: Run, given: dict[str, str], told: str) -> None:
    data = {"title": "t", "sentence": "", "expires": "30"} | given
    assert told in signed_in.post(reverse("run-share", args=[run.pk]), data).content.decode()
    assert not Share.objects.exists()


def test_a_run_without_an_answer_offers_no_form(signed_in: Client, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(answered=False)
    address = reverse("run-share", args=[run.pk])
    assert "has no answer to share" in signed_in.get(address).content.decode()
    assert "has no answer to share" in signed_in.post(address, {"title": "t", "expires": "7"}).content.decode()
    assert "share-form" not in signed_in.get(reverse("run", args=[run.pk])).content.decode()
    assert signed_in.get(reverse("run-share", args=[10**6])).status_code == 404


def test_a_viewer_shares_and_revokes_nothing(client: Client, run: Run, sharer: User) -> None:
    share, _ = made(run, sharer)
    client.force_login(make_user(role=Role.VIEWER), backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(reverse("run-share", args=[run.pk])).status_code == 403
    assert client.post(reverse("run-share", args=[run.pk]), {"title": "t", "expires": "7"}).status_code == 403
    assert client.post(reverse("share-revoke", args=[share.pk])).status_code == 403
    assert "Revoke" not in client.get(reverse("shares")).content.decode().replace(">Revoke</span></th>", "")
    assert "share-form" not in client.get(reverse("run", args=[run.pk])).content.decode()


@pytest.mark.parametrize(("who", "status"), [("sharer", 302), ("admin", 302), ("other", 403)])
def test_the_sharer_or_an_administrator_revokes(client: Client, run: Run, sharer: User, who: str, status: int) -> None:
    share, token = made(run, sharer)
    user = sharer if who == "sharer" else make_user(role=Role.ADMIN if who == "admin" else Role.MEMBER)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(reverse("share-revoke", args=[share.pk])).status_code == 405
    assert client.post(reverse("share-revoke", args=[share.pk])).status_code == status
    assert page(Client(), token).status_code == (404 if status == 302 else 200)
    assert client.post(reverse("share-revoke", args=[10**6])).status_code == 404


def test_the_list_asks_as_often_for_thirty_links_as_for_three(signed_in: Client, run: Run) -> None:
    counts = []
    for number in (3, 27):
        Share.objects.bulk_create(
            Share(run=run, token_sha256=f"{number}-{place}", title="t", snapshot={}, shared_by=make_user())
            for place in range(number)
        )
        with CaptureQueriesContext(connection) as asked:
            signed_in.get(reverse("shares"))
        counts.append(len(asked))
    assert counts[0] == counts[1]
