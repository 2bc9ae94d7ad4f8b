import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import watch
from tests.browser.portal import Portal

Visitor = Callable[[], Page]
PASSWORD = "correct horse battery"
TOO_FAR = "the server responded with a status of 403"


@pytest.fixture
def visitor(chromium: Browser, said: list[str]) -> Iterator[Visitor]:
    """A page in a browser without cookies, each time it is asked for."""
    with ExitStack() as stack:

        def come() -> Page:
            page = stack.enter_context(closing(chromium.new_context(viewport={"width": 390, "height": 844}))).new_page()
            watch(page, said)
            return page

        yield come


def sign_in(page: Page, portal: Portal, username: str) -> None:
    page.goto(f"{portal.url}/sign-in/")
    page.fill("#id_username", username)
    page.fill("#id_password", PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("details.menu")).to_be_visible()


def test_a_team_comes_together_and_a_session_ends_from_elsewhere(
    visitor: Visitor, portal: Portal, said: list[str]
) -> None:
    portal.ask("worker")
    portal.ask("know_model")
    office = visitor()
    sign_in(office, portal, portal.ask("administrator")["username"])
    menu = office.locator("details.menu")
    menu.locator("summary").focus()
    office.keyboard.press("Enter")
    office.keyboard.press("Escape")
    expect(menu.get_by_role("link", name="Team")).to_be_hidden()
    expect(menu.locator("summary")).to_be_focused()
    office.keyboard.press("Enter")
    menu.get_by_role("link", name="Team").click()
    office.fill("#id_note", "Bob of search")
    office.select_option("#id_role", "viewer")
    office.get_by_role("button", name="Make the link").click()
    expect(office.get_by_role("button", name="Copy")).to_be_visible()
    link = urlsplit(office.locator("#made-link").inner_text())
    assert re.fullmatch(r"/join/[\w-]{43}/", link.path)

    bob = visitor()
    bob.goto(portal.url + link.path)
    expect(bob.locator(".lede")).to_contain_text("as viewer")
    for name, value in {"username": "bob", "password": PASSWORD, "again": PASSWORD}.items():
        bob.fill(f"#id_{name}", value)
    bob.get_by_role("button", name="Make my account").click()
    expect(bob.locator("details.menu")).to_contain_text("bob")
    expect(bob.get_by_role("link", name="Ask a question")).to_have_count(0)
    bob.goto(f"{portal.url}/profiles/new/")
    expect(bob.locator("h1")).to_have_text("Not allowed")
    assert [TOO_FAR in one for one in said] == [True], "the console says so too"
    said.clear()

    office.goto(f"{portal.url}/team/")
    office.get_by_label("Role of bob").select_option("member")
    office.get_by_role("button", name="Set the role of bob").click()
    expect(office.get_by_role("status")).to_contain_text("bob is now member")
    bob.goto(portal.url)
    bob.get_by_role("link", name="Ask a question").first.click()
    bob.fill("#id_model", "SmolLM2-135M")
    bob.get_by_role("button", name="Measure it").click()
    bob.wait_for_url("**/runs/*/")
    expect(bob.locator("[data-connection][data-mode=live]")).to_be_visible()

    elsewhere = visitor()
    sign_in(elsewhere, portal, "bob")
    elsewhere.goto(f"{portal.url}/account/")
    elsewhere.get_by_role("button", name="End all others").click()
    expect(elsewhere.get_by_role("status")).to_contain_text("The other session is ended")
    expect(bob.locator("[data-connection]")).to_contain_text("signed out")
    bob.reload()
    expect(bob.locator("h1")).to_have_text("Sign in")

    office.goto(f"{portal.url}/activity/?who=bob")
    expect(office.locator("tbody tr")).to_have_count(2)
    expect(office.locator("tbody")).to_contain_text("invited by grace")
    office.locator("tbody a").first.click()
    office.get_by_text("Cancel", exact=True).click()
    office.get_by_role("button", name="Yes, cancel it").click()
    assert said == []
