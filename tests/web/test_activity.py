import pytest
from django.test import Client
from django.urls import reverse

from jobs.models import Deed, Profile
from jobs.selectors.deed import deeds_of
from jobs.services.deed import What, deed_record
from jobs.services.run import run_again, run_cancel
from tests.factories import make_profile, make_run, make_user

ACTIVITY = reverse("activity")


def seen(client: Client, **filters: str) -> list[str]:
    return [f"{deed.who} {deed.what} {deed.on}" for deed in client.get(ACTIVITY, filters).context["deeds"]]


@pytest.fixture
def deeds(db: None) -> Profile:
    profile, bob = make_profile(name="Chats"), make_user("bob")
    run_cancel(run=run_again(profile=profile, user=bob), user=bob)
    deed_record(user=None, what=What.RECHECKED, on="Letters", about="a driver changed")
    return profile


def test_it_says_who_did_what_to_what_the_latest_first(signed_in: Client, deeds: Profile) -> None:
    assert seen(signed_in) == ["the schedule rechecked Letters", "bob cancelled Chats", "bob submitted Chats"]
    page = signed_in.get(ACTIVITY).content.decode()
    assert reverse("run", args=[deeds.runs.get().pk]) in page and "a driver changed" in page


def test_who_what_and_words_filter_in_the_address(signed_in: Client, deeds: Profile) -> None:
    assert seen(signed_in, who="bob", what="cancelled") == ["bob cancelled Chats"]
    assert seen(signed_in, q="DRIVER") == ["the schedule rechecked Letters"]
    assert seen(signed_in, who="nobody") == seen(signed_in, q="%") == seen(signed_in, what="x") == []
    assert len(seen(signed_in, q="\0")) == 3
    assert "Nothing matches" in signed_in.get(ACTIVITY, {"q": "zzz"}).content.decode()


def test_a_deed_on_what_is_gone_is_kept_without_a_link(signed_in: Client, deeds: Profile) -> None:
    run = deeds.runs.get()
    Profile.objects.all().delete()
    page = signed_in.get(ACTIVITY).content.decode()
    assert "Chats" in page and reverse("run", args=[run.pk]) not in page


def test_pages_keep_the_filters(signed_in: Client) -> None:
    user = make_user("a & b")
    for number in range(60):
        deed_record(user=user, what=What.EDITED, on=f"p{number}")
    page = signed_in.get(ACTIVITY, {"who": "a & b"})
    assert "?who=a+%26+b&amp;page=2" in page.content.decode()
    assert len(seen(signed_in, who="a & b", page="2")) == 10
    assert len(seen(signed_in, page="x")) == 50


def test_the_list_makes_the_same_queries_however_long(signed_in: Client, django_assert_max_num_queries: object) -> None:
    for _ in range(40):
        run = make_run()
        deed_record(user=None, what=What.SUBMITTED, on="x", run=run)
    with django_assert_max_num_queries(6):  # type: ignore[operator]
        assert len(seen(signed_in)) == 40


def test_a_name_cannot_turn_the_page_around_it_about(signed_in: Client) -> None:
    deed_record(user=None, what=What.EDITED, on="\u202egnp.exe <b>", about="\u202e<i>")
    page = signed_in.get(ACTIVITY).content.decode()
    assert "\u202e" not in page and "<bdi>gnp.exe &lt;b&gt;</bdi>" in page


def test_a_profile_s_own_deeds_are_asked_for_apart(deeds: Profile) -> None:
    assert [deed.what for deed in deeds_of(deeds)] == ["cancelled", "submitted"]
    assert Deed.objects.count() == 3
