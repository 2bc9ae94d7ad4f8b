"""A browser and a portal for this folder alone: another folder's may run in the same session."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from tests.browser.chromium import running_chromium
from tests.browser.portal import Portal
from tests.browser.screenshots import sign_in

PATIENCE_MS = 15_000


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with running_chromium() as browser:
        yield browser


@pytest.fixture(scope="package")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    with Portal(tmp_path_factory.mktemp("browser")) as portal:
        yield portal


@pytest.fixture(scope="package")
def session(chromium: Browser, portal: Portal) -> dict[str, object]:
    """The cookies of a member who signed in by the form."""
    context = chromium.new_context()
    sign_in(context.new_page(), portal)
    state: dict[str, object] = dict(context.storage_state())
    context.close()
    return state


@pytest.fixture
def said() -> list[str]:
    """What the console complained of; every test with a page ends by finding nothing here."""
    return []


@pytest.fixture
def context(chromium: Browser, session: dict[str, object]) -> Iterator[BrowserContext]:
    made = chromium.new_context(storage_state=session, viewport={"width": 1280, "height": 900})  # type: ignore[arg-type]
    made.set_default_timeout(PATIENCE_MS)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, said: list[str]) -> Iterator[Page]:
    """A member's page, which fails its test if its console complained."""
    made = context.new_page()
    watch(made, said)
    yield made
    assert said == []


def watch(page: Page, said: list[str]) -> None:
    def hear(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            said.append(f"{page.url}: {message.text}")

    page.on("console", hear)
    page.on("pageerror", lambda error: said.append(f"{page.url}: {error}"))
