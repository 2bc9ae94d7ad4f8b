from playwright.sync_api import Browser, expect

from tests.browser.conftest import watch
from tests.browser.portal import Portal


def test_a_member_signs_in_by_keyboard_and_is_led_where_they_wanted(
    chromium: Browser, portal: Portal, said: list[str]
) -> None:
    account = portal.ask("member")
    context = chromium.new_context()
    page = context.new_page()
    watch(page, said)
    page.goto(f"{portal.url}/workers/")
    expect(page.locator("h1")).to_have_text("Sign in")
    page.focus("#id_username")
    page.keyboard.type(account["username"])
    page.keyboard.press("Tab")
    page.keyboard.type(account["password"])
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Workers")
    context.close()
    assert said == []
