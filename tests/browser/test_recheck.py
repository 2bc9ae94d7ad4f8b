import re

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.demo import USER
from tests.browser.portal import Portal


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_story_four_in_a_browser(context: BrowserContext, page: Page, portal: Portal) -> None:
    first = portal.ask("demo_recheck.begin", username=USER)
    profile = portal.ask("demo_recheck.profile_of", run=first)
    page.goto(f"{portal.url}/profiles/{profile}/")
    mark = page.get_by_label("Whether this answer still holds")
    expect(mark).to_contain_text("fresh")

    portal.ask("demo_recheck.upgrade")
    page.goto(portal.url)
    row = page.get_by_role("row", name="Reasoning, eight at once")
    expect(row).to_contain_text("stale")
    expect(row).to_contain_text("transformers 5.23.0 → 5.24.0")
    row.get_by_role("link", name="Reasoning, eight at once").click()
    expect(mark).to_contain_text("stale")
    expect(mark.get_by_role("listitem")).to_have_text("transformers 5.23.0 → 5.24.0")
    mark.get_by_role("button", name="Recheck").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/runs/\d+/$"))
    expect(page.locator("[data-part=recheck]")).to_contain_text(f"of run {first}")
    second = int(page.url.rstrip("/").rpartition("/")[2])
    expect(page.locator("[data-connection]")).to_have_text("live")

    page.evaluate("window.still = 'the same page'")
    portal.ask("demo_recheck.play", run=second)
    told = page.locator("[data-part=recheck]")
    expect(told).to_contain_text("The workload fits now: the max context rose from 20,132 to 33,792 tokens after")
    row = told.get_by_role("row", name="Max context")
    expect(row.get_by_role("cell")).to_have_text(["20,132 tokens", "33,792 tokens", "+13,660", re.compile("^yes")])
    expect(page.locator("[data-part=freshness]")).to_contain_text("fresh")
    assert page.evaluate("window.still") == "the same page"

    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    assert fits(page)
    page.get_by_role("link", name=f"run {first}").click()
    expect(page.locator(".answer-number")).to_contain_text("20,132")
    expect(page.locator("[data-part=freshness]")).to_be_empty()

    page.goto(f"{portal.url}/profiles/{profile}/")
    expect(mark).to_contain_text("fresh")
    assert fits(page)
    mark.get_by_role("button", name="Recheck").click()
    third = portal.ask("demo_recheck.latest", profile=profile)
    portal.ask("demo_recheck.play", run=third)
    expect(told).to_contain_text("No difference beyond noise.")
    assert context.pages == [page]
