import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.exports.share_headline import answer_text
from jobs.models import Deed, Run, Share
from jobs.selectors.share import share_is_open, share_open, shares_list
from jobs.services.share import share_make, share_revoke, share_viewed, title_proposed
from jobs.sizing.refusal import Refusal
from tests.answered_run import answered_run
from tests.factories import make_run, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return answered_run()


@pytest.fixture
def member() -> User:
    return make_user("grace")


def test_only_the_hash_of_a_links_token_is_kept(run: Run, member: User) -> None:
    share, token = share_make(run=run, user=member, title="  A  title ", sentence="One\nsentence.")
    assert len(token) == 43
    assert token not in "".join(str(value) for value in vars(share).values())
    assert (share.title, share.sentence) == ("A title", "One sentence.")
    opened = share_open(token)
    assert opened is not None
    assert opened.pk == share.pk
    assert share_open(token[:-1]) is None


@pytest.mark.parametrize(("days", "after"), [(7, 7), (30, 30), (90, 90)])
def test_a_link_expires_after_its_days(run: Run, member: User, days: int, after: int) -> None:
    share, token = share_make(run=run, user=member, title="t", expires_days=days)
    assert share.expires_at is not None
    assert timedelta(minutes=-1) < share.expires_at - timezone.now() - timedelta(days=after) < timedelta(minutes=1)
    Share.objects.filter(pk=share.pk).update(expires_at=timezone.now())
    assert not share_is_open(token)


def test_a_link_without_end_stays_until_it_is_revoked(run: Run, member: User) -> None:
    share, token = share_make(run=run, user=member, title="t", expires_days=None)
    assert share_is_open(token)
    assert share_revoke(share=share, user=member)
    assert not share_is_open(token)
    assert not share_revoke(share=share, user=member)


def test_sharing_and_revoking_are_deeds(run: Run, member: User) -> None:
    share, token = share_make(run=run, user=member, title="For the board", expires_days=None)
    share_revoke(share=share, user=member)
    share_revoke(share=share, user=member)
    told = list(Deed.objects.filter(user=member).order_by("pk").values_list("what", "on", "about", "run"))
    assert told == [
        ("shared", run.profile.name, "“For the board”, until it is revoked", run.pk),
        ("revoked", run.profile.name, "“For the board”", run.pk),
    ]
    assert token not in str(told)


def test_until_when_a_link_is_open_is_written_as_every_other_date(run: Run, member: User) -> None:
    share, _ = share_make(run=run, user=member, title="t", expires_days=30)
    assert share.expires_at is not None
    day = f"{share.expires_at.day:02d} {share.expires_at:%b} {share.expires_at.year}"
    assert Deed.objects.get(user=member).about == f"“t”, until {day}"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"title": " "}, "bad_title"),
        ({"title": "x" * 121}, "bad_title"),
        ({"sentence": "x" * 301}, "bad_sentence"),
        ({"expires_days": 8}, "bad_expiry"),
        ({"expires_days": 0}, "bad_expiry"),
    ],
)
def test_what_cannot_be_shared_so_is_refused(run: Run, member: User, given: dict[str, object], code: str) -> None:
    with pytest.raises(Refusal) as refused:
        share_make(run=run, user=member, **({"title": "t"} | given))  # type: ignore[arg-type]
    assert refused.value.code == code
    assert not Share.objects.exists()


def test_a_run_without_an_answer_is_not_shared(member: User) -> None:
    for run in (make_run(), make_run(state="failed"), make_run(state="running", answered=True)):
        with pytest.raises(Refusal, match="no answer"):
            share_make(run=run, user=member, title="t")


def test_a_provisional_answer_is_shared_and_says_so(run: Run, member: User) -> None:
    share, _ = share_make(run=run, user=member, title="t")
    assert share.snapshot["limit"]["provisional"] is True


def test_the_proposed_title_names_model_device_and_limit(run: Run) -> None:
    assert title_proposed(run) == "SmolLM2-135M · AMD EPYC 9454P · 3,968 tokens (provisional)"
    run.limit_context = None
    assert title_proposed(run).endswith("· nothing fits")


def test_the_verdict_is_written_from_figures(run: Run, member: User) -> None:
    share, _ = share_make(run=run, user=member, title="t")
    assert answer_text(share.snapshot) == (
        "No: 4,352 tokens, as asked for, do not fit on this device. The closest that does, provisionally, is 3,968 "
        "tokens with the cache quantized to 4 bits (hqq); its quality was not measured. A longer one "
        "needs more memory than the device has to give."
    )


def test_every_look_counts_once(run: Run, member: User) -> None:
    share, _ = share_make(run=run, user=member, title="t")
    with CaptureQueriesContext(
        connection,
    ) as asked:
        share_viewed(share_id=share.pk)
    assert len(asked) == 1
    assert re.search(r'"views" = \(?"jobs_share"."views" \+ 1', asked[0]["sql"])
    share_viewed(share_id=share.pk)
    share.refresh_from_db()
    assert share.views == 2
    assert share.viewed_at is not None


def test_a_list_of_links_is_one_query_without_the_snapshots(run: Run, member: User, django_assert_num_queries) -> None:
    Share.objects.bulk_create(
        Share(run=run, token_sha256=str(place), title="t", snapshot={}, shared_by=make_user()) for place in range(30)
    )
    with django_assert_num_queries(1):
        rows = [(share.title, str(share.shared_by), share.run.profile.name) for share in shares_list()]
    assert len(rows) == 30
    assert "snapshot" in shares_list()[0].get_deferred_fields()
