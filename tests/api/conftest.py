"""Programs that ask the interface, with tokens of every kind."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from jobs.asking import waiting
from jobs.models import Role, TokenScope
from jobs.services.api_token import api_token_make
from tests.answered_run import answered_run
from tests.browser import demo
from tests.factories import make_user

Asker = Callable[..., Any]


class Program:
    """Sends JSON with its token, to addresses below /api/v1/."""

    def __init__(self, user: User, scope: TokenScope = TokenScope.WRITE) -> None:
        self.user = user
        self.token = api_token_make(user=user, name="test", scope=scope, by=user)
        self.client = Client(headers={"Authorization": f"Token {self.token}"})

    def get(self, address: str, **query: Any) -> Any:
        return self.client.get(f"/api/v1/{address}", query)

    def post(self, address: str, body: Any = None, **options: Any) -> Any:
        return self.client.post(f"/api/v1/{address}", body, content_type="application/json", **options)

    def delete(self, address: str) -> Any:
        return self.client.delete(f"/api/v1/{address}")


@pytest.fixture
def program(db: None) -> Program:
    return Program(make_user("ada"))


@pytest.fixture
def reader(db: None) -> Program:
    """A member's token that reads only."""
    return Program(make_user("rita"), TokenScope.READ)


@pytest.fixture
def viewer(db: None) -> Program:
    """A viewer's token that may write, which its user may not."""
    return Program(make_user("vera", Role.VIEWER))


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch, db: None) -> int:
    """A worker lives and the model is inspected; what is not inspected is not waited for. The worker's id."""
    demo.entry()
    monkeypatch.setattr(waiting, "PATIENCE_S", 0.0)
    return demo.worker()


@pytest.fixture
def answered(db: None) -> int:
    """A run that is done, told by the procedure over a scripted bench."""
    return int(answered_run().pk)
