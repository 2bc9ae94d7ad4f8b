import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import watch
from tests.browser.portal import Portal
from tests.browser.screenshots import sideways


@pytest.fixture(scope="module")
def addresses(portal: Portal) -> dict[str, str]:
    """Every kind of page of a team's portal."""
    portal.ask("end_all")
    runs = portal.ask("team")
    pages = {
        "home": "/",
        "profiles": "/profiles/",
        "workers": "/workers/",
        "new": "/profiles/new/",
        "sign-in": "/sign-in/",
        "team": "/team/",
        "account": "/account/",
        "activity": "/activity/",
        "workloads": "/workloads/",
        "narrowed": "/?freshness=fresh&sort=-context&q=a",
        "edit": "/profiles/1/edit/",
        "adopt": f"/runs/{runs['saved']}/adopt/",
    }
    pages |= {"profile": "/profiles/1/", "clone": "/profiles/new/?from=1"}
    return pages | {f"run {name}": f"/runs/{pk}/" for name, pk in runs.items()}


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_no_page_scrolls_sideways_or_complains(
    chromium: Browser,
    session: dict[str, object],
    portal: Portal,
    addresses: dict[str, str],
    said: list[str],
    width: int,
    scheme: str,
) -> None:
    context = chromium.new_context(
        storage_state=session,  # type: ignore[arg-type]
        viewport={"width": width, "height": 844},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    page = context.new_page()
    watch(page, said)
    wide = []
    for name, address in addresses.items():
        page.goto(portal.url + address)
        if name == "run saved":
            expect(page.locator("[data-figure] .main-svg").first).to_be_visible()
        if sideways(page):
            wide.append(name)
    context.close()
    assert wide == []
    assert said == []


def test_the_first_tab_stop_skips_to_the_content(chromium: Browser, session: dict[str, object], portal: Portal) -> None:
    context = chromium.new_context(storage_state=session)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(portal.url)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    context.close()


def test_times_are_the_readers_own(
    chromium: Browser, session: dict[str, object], portal: Portal, addresses: object
) -> None:
    context = chromium.new_context(storage_state=session, timezone_id="Asia/Tokyo")  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{portal.url}/profiles/1/")
    expect(page.locator("time").first).to_contain_text("GMT+9")
    context.close()
