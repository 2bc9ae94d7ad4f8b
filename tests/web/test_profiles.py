from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from jobs.models import Adoption, Profile, Run, Tag
from tests.browser import demo
from tests.factories import make_entry, make_profile, make_run, make_user, make_worker

PROFILES = reverse("profiles")
LISTS = [reverse("home"), PROFILES]


def names(client: Client, at: str = PROFILES, **filters: Any) -> list[str]:
    return [row.name for row in client.get(at, filters).context["profiles"]]


def make_answer(name: str, *, context: int | None = 1000, speed: float = 5.0, **fields: Any) -> Profile:
    """A profile with an answer, and nothing that is run."""
    profile = make_profile(name=name, **fields)
    columns = {"answered": True, "limit_context": context, "limit_strategy": "default", "tokens_per_s": speed}
    run = make_run(profile=profile, state="done", finished_at=timezone.now(), **columns)
    Profile.objects.filter(pk=profile.pk).update(answer_run=run, latest_run=run, freshness="fresh")
    profile.refresh_from_db()
    return profile


@pytest.fixture
def team(db: None, member: User) -> dict[str, Profile]:
    """Three answers that differ in everything that a list is narrowed by."""
    worker = make_worker("cuda:0", device_name="NVIDIA L4")
    made = {
        "a": make_answer("alpha", context=3000, speed=2.0, owner=member, entry=make_entry("org/zed")),
        "b": make_answer("beta", context=9000, speed=9.0, owner=make_user("bob"), entry=make_entry("org/mid")),
        "c": make_answer("gamma", context=None, speed=4.0, worker=worker, entry=make_entry("org/abc")),
    }
    made["a"].tags.add(Tag.objects.create(name="night"))
    adoption = Adoption.objects.create(
        profile=made["a"], run=made["a"].answer_run, context=2500, strategy="quantized:hqq:4"
    )
    Profile.objects.filter(pk=made["a"].pk).update(adoption=adoption)
    changed = {"what": "torch", "was": "2.12.0", "now": "2.13.0", "weight": "doubt"}
    Profile.objects.filter(pk=made["b"].pk).update(freshness="stale", differences=[changed])
    return made


@pytest.mark.parametrize("address", LISTS)
@pytest.mark.parametrize(
    ("narrowed", "found"),
    [
        ({"q": "ALPH"}, "alpha"),
        ({"q": "org/mid"}, "beta"),
        ({"q": "nigh"}, "alpha"),
        ({"q": "bob"}, "beta"),
        ({"q": "%"}, ""),
        ({"freshness": "stale"}, "beta"),
        ({"freshness": "fresh"}, "alpha gamma"),
        ({"freshness": "none"}, ""),
        ({"adopted": "yes"}, "alpha"),
        ({"adopted": "no"}, "beta gamma"),
        ({"device": "NVIDIA L4"}, "gamma"),
        ({"tag": "night"}, "alpha"),
        ({"state": "done"}, "alpha beta gamma"),
        ({"state": "failed"}, ""),
        ({"whose": "mine"}, "alpha"),
        ({"whose": "mine", "freshness": "stale"}, ""),
        ({"archived": "yes"}, ""),
    ],
)
def test_the_address_narrows_the_list(
    signed_in: Client, team: dict[str, Profile], address: str, narrowed: dict[str, str], found: str
) -> None:
    assert sorted(names(signed_in, address, **narrowed)) == found.split()


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("", "gamma beta alpha"),
        ("date", "alpha beta gamma"),
        ("name", "alpha beta gamma"),
        ("model", "gamma beta alpha"),
        ("-context", "beta alpha gamma"),
        ("context", "alpha beta gamma"),
        ("-speed", "beta gamma alpha"),
    ],
)
def test_the_address_orders_the_list_and_what_has_no_figure_comes_last(
    signed_in: Client, team: dict[str, Profile], sort: str, order: str
) -> None:
    assert names(signed_in, sort=sort) == order.split()


def test_a_row_says_limit_adoption_tags_and_whether_it_holds(signed_in: Client, team: dict[str, Profile]) -> None:
    page = signed_in.get(PROFILES).content.decode()
    for words in (
        "9,000",
        "9.0 tokens/s",
        "nothing fits",
        "adopted 2,500, quantized 4 bits (hqq)",
        "?tag=night",
        "stale",
        "torch 2.12.0 → 2.13.0",
        "org/abc",
        "bob",
    ):
        assert words in page


def test_the_archived_are_shown_where_they_are_asked_for(signed_in: Client, team: dict[str, Profile]) -> None:
    Profile.objects.filter(pk=team["b"].pk).update(archived_at=timezone.now())
    assert sorted(names(signed_in)) == ["alpha", "gamma"]
    assert names(signed_in, archived="yes") == ["beta"]
    assert names(signed_in, profile=[team["b"].pk]) == ["beta"]


def test_an_address_that_names_profiles_shows_them_alone_and_leads_on(
    signed_in: Client, team: dict[str, Profile]
) -> None:
    chosen = [team["a"].pk, team["c"].pk]
    shown = signed_in.get(PROFILES, {"profile": [*chosen, "x", "9" * 30, "0"]})
    assert {row.pk for row in shown.context["profiles"]} == set(chosen)
    page = shown.content.decode()
    assert f"{reverse('compare')}?profile={chosen[0]}&amp;profile={chosen[1]}" in page
    assert f'name="profile" value="{chosen[0]}"' in page


@pytest.mark.parametrize("name", ["freshness", "adopted", "device", "tag", "state", "whose", "archived", "sort"])
def test_a_value_that_is_none_is_passed_over_and_said(signed_in: Client, team: dict[str, Profile], name: str) -> None:
    answer = signed_in.get(PROFILES, {name: "'; drop <b>"})
    assert len(answer.context["profiles"]) == 3
    assert "“&#x27;; drop &lt;b&gt;” is none of the choices" in answer.content.decode()


@pytest.mark.parametrize(("name", "value"), [("q", "\0"), ("q", "alp\0ha"), ("state", "\0"), ("q", "  ")])
def test_a_nul_is_passed_over(signed_in: Client, team: dict[str, Profile], name: str, value: str) -> None:
    assert "alpha" in names(signed_in, **{name: value})


def test_an_empty_list_says_what_comes_here(signed_in: Client) -> None:
    assert "No answers yet" in signed_in.get(PROFILES).content.decode()


def test_the_state_is_of_the_latest_run(signed_in: Client) -> None:
    run = Run.objects.get(pk=demo.submit("Waits"))
    assert names(signed_in, state="queued") == ["Waits"]
    Profile.objects.filter(pk=run.profile_id).update(latest_run=make_run(profile=run.profile, state="failed"))
    assert names(signed_in, state="queued") == []
    page = signed_in.get(PROFILES, {"state": "failed"}).content.decode()
    assert "badge-failed" in page


def test_nothing_found_says_so_and_offers_all(signed_in: Client) -> None:
    make_profile()
    page = signed_in.get(PROFILES, {"q": "zzz"}).content.decode()
    assert "Nothing matches" in page
    assert "Show all profiles" in page


def test_pages_keep_what_the_address_asks_for(signed_in: Client) -> None:
    worker, entry = make_worker(), make_entry()
    for number in range(30):
        make_profile(worker, entry, name=f"a & b {number}")
    page = signed_in.get(PROFILES, {"q": "a & b", "sort": "name", "state": "nonsense"})
    assert len(page.context["profiles"]) == 25
    assert "?q=a+%26+b&amp;sort=name&amp;page=2" in page.content.decode()
    assert len(names(signed_in, q="a & b", page="2")) == 5


@pytest.mark.parametrize("page", ["0", "-1", "999", "x"])
def test_a_page_that_is_none_is_the_nearest(signed_in: Client, page: str) -> None:
    make_profile(name="only")
    assert names(signed_in, page=page) == ["only"]


@pytest.mark.parametrize("address", LISTS)
def test_a_list_makes_the_same_queries_however_long(signed_in: Client, address: str) -> None:
    counts = []
    for rows in (2, 20):
        for _ in range(rows):
            profile = make_answer("x", owner=make_user())
            profile.tags.add(Tag.objects.create(name=f"t{profile.pk}"))
            make_run(profile=profile)
        with CaptureQueriesContext(
            connection,
        ) as made:
            signed_in.get(address, {"q": "x", "sort": "model"})
        counts.append(len(made))
    assert counts[0] == counts[1]
    assert counts[0] <= 13


def test_lists_load_nothing_large(signed_in: Client) -> None:
    make_answer("x")
    for address in LISTS:
        with CaptureQueriesContext(connection) as made:
            signed_in.get(address)
        read = " ".join(query["sql"] for query in made if 'FROM "jobs_profile"' in query["sql"])
        for column in ('"stages"', '"environment"', '"record"', '"spec"', '"notes"'):
            assert f"{column}," not in read


@pytest.mark.django_db
def test_a_stranger_is_sent_to_sign_in(client: Client) -> None:
    assert client.get(PROFILES).status_code == 302


def test_nothing_is_posted_here(signed_in: Client) -> None:
    assert signed_in.post(PROFILES).status_code == 405
