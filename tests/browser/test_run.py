import re
from statistics import median
from time import monotonic

import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from tests.browser.portal import Portal

ROWS = "[data-part=memory-table] tbody tr th"
ALLOWED_S = 5 * 0.25  # a measurement is to reach the browser within 250 ms; a busy machine is allowed five times that


@pytest.fixture(autouse=True)
def _nothing_else_runs(portal: Portal) -> None:
    portal.ask("end_all")


def watch_run(page: Page, portal: Portal, run: int) -> None:
    page.goto(f"{portal.url}/runs/{run}/")
    expect(page.locator("[data-connection]")).to_have_text("live")


def test_a_measurement_appears_without_loading_the_page_again(page: Page, portal: Portal) -> None:
    run = portal.ask("begin")
    watch_run(page, portal, run)
    page.evaluate("window.still = 'the same page'")
    expect(page.locator(ROWS)).to_have_count(0)
    portal.ask("tell", run=run, until="measurement")
    expect(page.locator(ROWS)).to_have_count(1)
    expect(page.locator("[data-figure=memory] .main-svg").first).to_be_visible()
    expect(page.locator("[data-log]")).to_contain_text("peak 276.95 MiB")
    assert page.evaluate("window.still") == "the same page"


def test_a_measurement_appears_at_once(page: Page, portal: Portal) -> None:
    run = portal.ask("begin")
    watch_run(page, portal, run)
    waits = []
    for count in range(1, 6):
        portal.ask("tell", run=run, until="measurement")
        began = monotonic()
        page.wait_for_function("([rows, count]) => document.querySelectorAll(rows).length >= count", arg=[ROWS, count])
        waits.append(monotonic() - began)
    assert median(waits) < ALLOWED_S


def test_the_end_changes_title_icon_badge_and_answer(page: Page, portal: Portal) -> None:
    run = portal.ask("begin")
    watch_run(page, portal, run)
    expect(page).to_have_title("Running · Nightly summaries")
    portal.ask("finish", run=run)
    expect(page).to_have_title("3,968 tokens · Nightly summaries")
    expect(page.locator(".answer-number")).to_contain_text("3,968")
    expect(page.locator("[data-part=announcement]")).to_contain_text("Done. Nothing fits")
    assert "favicon-done" in str(page.locator("link[rel=icon]").get_attribute("href"))
    expect(page.locator("[data-connection]")).to_have_text("complete")
    expect(page.get_by_role("button", name="Run again")).to_be_visible()


def test_a_burst_of_a_thousand_lines_arrives_whole_and_in_order(page: Page, portal: Portal) -> None:
    run = portal.ask("begin")
    watch_run(page, portal, run)
    before = page.locator("[data-log] > li").count()
    portal.ask("say", run=run, lines=[f"line {number}" for number in range(1000)])
    expect(page.locator("[data-log] > li")).to_have_count(before + 1000)
    texts = page.locator("[data-log] > li > span").all_inner_texts()[before:]
    assert texts == [f"line {number}" for number in range(1000)]


def test_the_log_stays_where_the_reader_scrolled_to(page: Page, portal: Portal) -> None:
    run = portal.ask("begin")
    portal.ask("say", run=run, lines=[f"line {number}" for number in range(60)])
    watch_run(page, portal, run)
    log = page.locator("[data-log]")
    log.evaluate("(box) => { box.scrollTop = 0; }")
    portal.ask("say", run=run, lines=["the newest"])
    expect(log).to_contain_text("the newest")
    assert log.evaluate("(box) => box.scrollTop") == 0
    page.get_by_role("button", name="Newest lines").click()
    assert log.evaluate("(box) => box.scrollHeight - box.scrollTop - box.clientHeight < 2")
    portal.ask("say", run=run, lines=["and one more"])
    expect(log).to_contain_text("and one more")
    assert log.evaluate("(box) => box.scrollHeight - box.scrollTop - box.clientHeight < 2")


def test_without_a_websocket_the_page_asks(context: BrowserContext, page: Page, portal: Portal) -> None:
    context.route_web_socket(re.compile("/ws/runs/"), lambda route: route.close())
    run = portal.ask("begin")
    page.goto(f"{portal.url}/runs/{run}/")
    expect(page.locator("[data-connection]")).to_have_text("asking every 2 seconds")
    portal.ask("tell", run=run, until="measurement")
    expect(page.locator(ROWS)).to_have_count(1)
    portal.ask("finish", run=run)
    expect(page.locator("[data-connection]")).to_have_text("complete")
    expect(page.locator(".answer-number")).to_contain_text("3,968")


def test_a_line_that_breaks_is_made_again_and_nothing_is_lost(
    context: BrowserContext, page: Page, portal: Portal
) -> None:
    lines: list[WebSocketRoute] = []

    def through(route: WebSocketRoute) -> None:
        route.connect_to_server()
        lines.append(route)

    context.route_web_socket(re.compile("/ws/runs/"), through)
    run = portal.ask("begin")
    watch_run(page, portal, run)
    lines[0].close()
    portal.ask("say", run=run, lines=["told meanwhile"])
    expect(page.locator("[data-log]")).to_contain_text("told meanwhile")
    expect(page.locator("[data-connection]")).to_have_text("live")
    assert len(lines) == 2
    assert "after=" in lines[1].url
    texts = page.locator("[data-log] > li > span").all_inner_texts()
    assert texts.count("told meanwhile") == 1


def test_who_connects_late_reads_the_same_history(context: BrowserContext, page: Page, portal: Portal) -> None:
    run = portal.ask("begin")
    watch_run(page, portal, run)
    portal.ask("finish", run=run)
    expect(page.locator("[data-connection]")).to_have_text("complete")
    late = context.new_page()
    late.goto(page.url)
    for place in ("[data-log] > li", "[data-part=memory-table] tbody tr", "[data-part=changes] tbody tr"):
        assert late.locator(place).all_inner_texts() == page.locator(place).all_inner_texts()


def test_cancelling_asks_first_and_shows_cancelling_then_cancelled(page: Page, portal: Portal) -> None:
    run = portal.ask("begin")
    watch_run(page, portal, run)
    page.locator("#cancel summary").click()
    page.get_by_role("button", name="Keep it going").click()
    expect(page.get_by_role("button", name="Yes, cancel it")).to_be_hidden()
    page.locator("#cancel summary").click()
    portal.ask("say", run=run, lines=["a line while the question is open"])
    expect(page.locator("[data-log]")).to_contain_text("a line while the question is open")
    page.get_by_role("button", name="Yes, cancel it").click()
    expect(page.locator("[data-part=badge]")).to_have_text("cancelling")
    portal.ask("finish", run=run, state="cancelled", message="Cancelled.")
    expect(page.locator("[data-part=badge]")).to_have_text("cancelled")
    expect(page).to_have_title(re.compile("^Cancelled"))


def test_a_waiting_run_moves_up_and_starts(page: Page, portal: Portal) -> None:
    first = portal.ask("begin")
    second = portal.ask("submit", name="Waits")
    page.goto(f"{portal.url}/runs/{second}/")
    expect(page.locator("[data-part=queue]")).to_contain_text("Number 2 in the queue")
    portal.ask("finish", run=first)
    expect(page.locator("[data-part=queue]")).to_contain_text("Number 1 in the queue")


def test_the_settings_are_copied(context: BrowserContext, page: Page, portal: Portal) -> None:
    run = portal.ask("begin")
    portal.ask("finish", run=run)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{portal.url}/runs/{run}/")
    page.locator("[data-copy=snippet]").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert "model.generate(" in page.evaluate("navigator.clipboard.readText()")


def test_a_run_that_waits_draws_no_empty_axes(page: Page, portal: Portal) -> None:
    portal.ask("begin")
    run = portal.ask("submit", name="Waits")
    watch_run(page, portal, run)
    expect(page.locator("[data-figure=memory] .plot-empty")).to_be_visible()
    expect(page.locator("[data-figure] .main-svg")).to_have_count(0)
