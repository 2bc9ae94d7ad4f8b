import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from jobs.services.account import setup_link_make
from tests.factories import make_user

pytestmark = pytest.mark.django_db
GOOD = {"username": "ada", "password": "correct horse", "again": "correct horse"}


@pytest.fixture
def address() -> str:
    return reverse("setup", args=[setup_link_make()])


def test_the_link_makes_the_first_account_and_signs_it_in(client: Client, address: str) -> None:
    assert client.post(address, GOOD).headers["Location"] == reverse("home")
    assert client.get(reverse("home")).status_code == 200
    assert User.objects.get().is_superuser


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"again": "another horse"}, "The two passwords differ."),
        ({"password": "12345", "again": "12345"}, "too short"),
        ({"username": "a b/c"}, "Enter a valid username"),
        ({"username": ""}, "This field is required."),
    ],
)
def test_an_unfit_account_is_refused_beside_its_field(
    client: Client, address: str, change: dict[str, str], sentence: str
) -> None:
    page = client.post(address, GOOD | change)
    assert page.status_code == 200
    assert sentence in page.content.decode()
    assert not User.objects.exists()


def test_a_used_link_an_unknown_one_and_one_too_late_look_alike(client: Client, address: str) -> None:
    unknown = client.get(reverse("setup", args=["unknown"]))
    client.post(address, GOOD)
    client.logout()
    used = client.get(address)
    late = client.get(reverse("setup", args=[setup_link_make()]))
    assert [answer.status_code for answer in (unknown, used, late)] == [404, 404, 404]
    assert unknown.content == used.content == late.content
    assert "This link does not work" in used.content.decode()


def test_no_account_is_made_once_there_is_one(client: Client, address: str) -> None:
    make_user()
    assert client.post(address, GOOD).status_code == 404
    assert User.objects.count() == 1


def test_nothing_is_deleted_here(client: Client, address: str) -> None:
    assert client.delete(address).status_code == 405
