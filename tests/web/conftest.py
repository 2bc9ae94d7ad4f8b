import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.browser import demo
from tests.factories import make_user


@pytest.fixture
def member(db: None) -> User:
    return make_user("ada")


@pytest.fixture
def signed_in(client: Client, member: User) -> Client:
    client.force_login(member, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def answered(db: None) -> int:
    """A run that is done, told by the procedure over a scripted bench: nothing fits, the closest is named."""
    pk = demo.begin()
    demo.finish(pk)
    return pk
