import pytest
from django.test import Client
from django.urls import reverse

from tests.browser import demo
from tests.factories import make_entry, make_profile, make_run, make_worker

PROFILES = reverse("profiles")


def names(client: Client, **filters: str) -> list[str]:
    return [row.name for row in client.get(PROFILES, filters).context["profiles"]]


def test_an_empty_list_says_what_to_do(signed_in: Client) -> None:
    assert "No profiles yet" in signed_in.get(PROFILES).content.decode()


def test_words_are_looked_for_in_names_and_models(signed_in: Client) -> None:
    worker = make_worker()
    make_profile(worker, make_entry("org/Llama"), name="Chats")
    make_profile(worker, make_entry("org/gpt"), name="Summaries")
    assert names(signed_in, q="llama") == ["Chats"]
    assert names(signed_in, q="SUMM") == ["Summaries"]
    assert names(signed_in, q="%") == []


def test_the_state_is_of_the_latest_run(signed_in: Client) -> None:
    first = make_run(state="done").profile
    make_run(profile=first, state="failed")
    make_run(state="done")
    assert names(signed_in, state="failed") == [first.name]
    assert first.name not in names(signed_in, state="done")


def test_nothing_found_says_so_and_offers_all(signed_in: Client) -> None:
    make_profile()
    page = signed_in.get(PROFILES, {"q": "zzz"}).content.decode()
    assert "Nothing matches" in page
    assert "Show all profiles" in page


def test_pages_keep_the_filters(signed_in: Client) -> None:
    worker, entry = make_worker(), make_entry()
    for number in range(30):
        make_profile(worker, entry, name=f"a & b {number}")
    page = signed_in.get(PROFILES, {"q": "a & b"})
    assert len(page.context["profiles"]) == 25
    assert "?q=a+%26+b&amp;page=2" in page.content.decode()
    assert len(names(signed_in, q="a & b", page="2")) == 5


@pytest.mark.parametrize("page", ["0", "-1", "999", "x"])
def test_a_page_that_is_none_is_the_nearest(signed_in: Client, page: str) -> None:
    make_profile(name="only")
    assert names(signed_in, page=page) == ["only"]


@pytest.mark.parametrize(("name", "value"), [("q", "\0"), ("q", "on\0ly"), ("state", "\0")])
def test_a_nul_is_passed_over(signed_in: Client, name: str, value: str) -> None:
    make_profile(name="only")
    assert names(signed_in, **{name: value}) == ["only"]


def test_an_unknown_state_finds_nothing(signed_in: Client) -> None:
    make_run()
    assert names(signed_in, state="'; drop") == []


def test_the_list_makes_the_same_queries_however_long(signed_in: Client, django_assert_max_num_queries: object) -> None:
    worker, entry = make_worker(), make_entry()
    for _ in range(5):
        make_run(profile=make_profile(worker, entry), state="done")
    demo.finish(demo.begin())
    with django_assert_max_num_queries(6):  # type: ignore[operator]
        assert len(names(signed_in)) == 6


@pytest.mark.django_db
def test_a_stranger_is_sent_to_sign_in(client: Client) -> None:
    assert client.get(PROFILES).status_code == 302


def test_nothing_is_posted_here(signed_in: Client) -> None:
    assert signed_in.post(PROFILES).status_code == 405
