"""What tests in several folders share. Data tests (models, services, selectors, live) also run on PostgreSQL:
tests/README.md says how."""

from collections.abc import Iterator

import pytest

from tests.valkey import running_valkey


@pytest.fixture(scope="session")
def valkey_url() -> Iterator[str]:
    """A real Valkey for the session, as REDIS_URL takes it."""
    with running_valkey() as url:
        yield url
