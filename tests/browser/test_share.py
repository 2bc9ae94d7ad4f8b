"""The manager's phone: an answer is shared, read without an account, superseded, revoked."""

import re
import urllib.request
from urllib.error import HTTPError

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PATIENCE_MS, watch
from tests.browser.portal import Portal
from tests.browser.screenshots import sideways

PHONE = {"width": 390, "height": 844}
A4_PX = {"width": 703, "height": 1000}  # the printed width of a sheet with its margins, at 96 dots an inch


def shared(page: Page, portal: Portal, run: int) -> str:
    """Made by the form on the run's page; the address that it shows once."""
    page.goto(f"{portal.url}/runs/{run}/")
    page.get_by_role("link", name="Share", exact=True).click()
    expect(page.locator("#share-form")).to_be_visible()
    page.get_by_label("Title").fill("Nightly summaries fit on one L4")
    page.get_by_label("In a sentence").fill("We can buy the small card.")
    page.get_by_role("button", name="Make the link").click()
    expect(page.get_by_role("button", name="Copy")).to_be_visible()
    address = page.locator("#address").inner_text()
    assert re.fullmatch(r"http://[\w.:]+/s/[\w-]{43}/", address)
    return portal.url + "/s/" + address.split("/s/")[1]


def sent(address: str) -> tuple[int, bytes, dict[str, str]]:
    """Status, body and headers without the date."""
    try:
        with urllib.request.urlopen(address) as answer:  # noqa: S310  (our own address)
            return answer.status, answer.read(), dict(answer.headers)
    except HTTPError as gone:
        return gone.code, gone.read(), {name: told for name, told in gone.headers.items() if name != "date"}


def test_an_answer_is_read_on_a_phone_then_superseded_then_gone(
    chromium: Browser, page: Page, portal: Portal, said: list[str]
) -> None:
    portal.ask("end_all")
    run = portal.ask("offloading")
    address = shared(page, portal, run)

    context = chromium.new_context(viewport=PHONE, color_scheme="dark")  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    phone = context.new_page()
    watch(phone, said)
    phone.goto(address)
    expect(phone.get_by_role("heading", level=1)).to_have_text("Nightly summaries fit on one L4")
    expect(phone.locator(".verdict")).to_have_text(
        "Yes: 6,400 tokens, as asked for, fit on this device with the cache offloaded to CPU RAM. "
        "The normal cache ends at 3,136."
    )
    expect(phone.locator(".answer-number")).to_contain_text("6,400")
    for told in ("NVIDIA L4", "transformers 5.24.0", "CPU RAM needed", "A real run at 6,400 tokens"):
        expect(phone.locator(".shared-answer")).to_contain_text(told)
    for figure in ("memory", "speed", "ttft"):
        expect(phone.locator(f"[data-figure={figure}] .main-svg").first).to_be_visible()
    assert not sideways(phone)
    assert phone.locator("nav").count() == 0
    assert context.cookies() == []
    phone.locator("summary", has_text="Measurements").click()
    expect(phone.get_by_role("region", name="Memory figures")).to_be_visible()
    assert not sideways(phone)

    on_paper(phone)

    portal.ask("later", run=run, limit_context=4224, limit_strategy="quantized:hqq:4", fits=False)
    phone.reload()
    expect(phone.locator(".note-warn")).to_contain_text(re.compile(r"Superseded on \d+ \w+ \d{4}: a later measurement"))
    expect(phone.locator(".note-warn")).to_contain_text("4,224 tokens with the cache quantized to 4 bits (hqq)")
    assert phone.locator(".note-warn a").count() == 0
    expect(phone.locator(".answer-number")).to_contain_text("6,400")

    page.goto(f"{portal.url}/shares/")
    expect(page.locator("td[data-label=Views]").first).to_contain_text("2")
    page.locator("details.confirm summary").first.click()
    page.get_by_role("button", name="Yes, revoke it").first.click()
    expect(page.get_by_role("status")).to_contain_text("is revoked")
    unknown = f"{portal.url}/s/{'A' * 43}/"
    assert sent(address) == sent(unknown)
    assert sent(address)[0] == 404
    said[:] = [text for text in said if "404" not in text]
    context.close()


def on_paper(phone: Page) -> None:
    """Everything is open, and nothing is wider than the sheet; on the screen it is as it was."""
    before = phone.locator("details[open]").count()
    phone.set_viewport_size(A4_PX)  # type: ignore[arg-type]
    phone.emulate_media(media="print")
    phone.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert phone.locator("details:not([open])").count() == 0
    expect(phone.locator("[data-figure=memory] .main-svg").first).to_be_visible()
    assert not sideways(phone)
    phone.evaluate("dispatchEvent(new Event('afterprint'))")
    assert phone.locator("details[open]").count() == before
    phone.emulate_media(media="screen")
    phone.set_viewport_size(PHONE)  # type: ignore[arg-type]
