"""Runs compared, taken away and asked what if, in a browser of another member's."""

import csv
import json
import re
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import watch
from tests.browser.portal import Portal
from tests.browser.screenshots import sideways, sign_in

PNG_SIZE = (2000, 1280)


def test_a_comparison_opens_for_whoever_has_its_address(
    page: Page, portal: Portal, chromium: Browser, said: list[str]
) -> None:
    first = portal.ask("begin", name="Roomy")
    portal.ask("finish", run=first)
    second = portal.ask("begin", name="Tight", capacity_bytes=300 * 2**20)
    portal.ask("finish", run=second)

    page.goto(f"{portal.url}/compare/?q=Roomy")
    page.locator(f"input[name=run][value='{first}']").check()
    page.fill("#q", "Tight")
    page.get_by_role("button", name="Search").click()
    page.locator(f"input[name=run][value='{second}']").check()
    page.get_by_role("button", name="Compare", exact=True).click()
    address = page.url
    assert f"run={first}" in address

    context = chromium.new_context(viewport={"width": 390, "height": 844})
    other = context.new_page()
    watch(other, said)
    sign_in(other, portal)
    other.goto(address)
    expect(other.locator("[data-figure=memory] .main-svg").first).to_be_visible()
    expect(other.locator("[data-figure=speed] .main-svg").first).to_be_visible()
    expect(other.locator("[aria-label='Settings that differ'] tbody tr")).to_have_count(1)
    assert not sideways(other)
    other.locator("input[name=strategy][value='chunked:512']").check()
    other.get_by_role("button", name="Show these").click()
    expect(other.locator("#measurements")).to_contain_text("chunked prefill (512)")
    with other.expect_download() as download:
        other.get_by_role("link", name="CSV").click()
    with Path(download.value.path()).open(newline="") as file:
        rows = list(csv.DictReader(file))
    shown = other.locator("#measurements tbody tr")
    assert len(rows) == shown.count()
    for row, place in ((row, shown.nth(place)) for place, row in enumerate(rows)):
        assert f"{int(row['context']):,}" in place.locator("th").inner_text()
        for cell, run in enumerate((first, second)):
            assert (place.locator("td").nth(cell).inner_text() == "–") == (row[f"run {run} outcome"] == "")
    context.close()


def test_what_is_taken_away_is_what_the_page_shows(page: Page, portal: Portal) -> None:
    run = portal.ask("begin")
    portal.ask("finish", run=run)
    page.goto(f"{portal.url}/runs/{run}/")
    table = [_cells(row) for row in page.locator("[data-part=memory-table] tbody tr").all()]
    away = page.locator("[data-part=take-away]")
    told = json.loads(_saved(page, away.get_by_role("link", name="JSON").first))
    read = list(csv.DictReader(_saved(page, away.get_by_role("link", name="CSV")).decode().splitlines()))
    assert [(row["strategy"], row["context"], row["peak_bytes"]) for row in told] == [
        (row["strategy"], int(row["context"]), int(row["peak_bytes"]) if row["peak_bytes"] else None) for row in read
    ]
    assert [(row[1], row[2]) for row in table] == [
        (f"{row['context']:,}", f"{row['peak_bytes'] / 2**20:,.2f} MiB" if row["peak_bytes"] else "–") for row in told
    ]
    for name in ("memory", "speed", "ttft"):
        with page.expect_download() as download:
            page.locator(f"[data-png={name}]").click()
        assert download.value.suggested_filename == f"run-{run}-{name}.png"
        picture = Image.open(BytesIO(Path(download.value.path()).read_bytes()))
        assert (picture.format, picture.size) == ("PNG", PNG_SIZE)
        above = picture.convert("L").crop((0, 0, PNG_SIZE[0], 160))
        assert above.getextrema()[1] - above.getextrema()[0] > 128  # its title and what it is of


def test_a_slider_changes_what_fits(page: Page, portal: Portal) -> None:
    run = portal.ask("begin")
    portal.ask("finish", run=run)
    page.goto(f"{portal.url}/runs/{run}/what-if/")
    expect(page.locator("[data-figure=fits] .barlayer .point").first).to_be_visible()
    summary, capacity = page.locator("[data-summary]"), page.get_by_role("slider", name="Capacity, MiB")
    before = _fitting(summary)
    capacity.focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#id_capacity")).to_have_value(re.compile(r"^3[5-9]\d MiB$"))
    expect(summary).to_contain_text(f"of {page.input_value('#id_capacity')}")
    after = _fitting(summary)
    assert after > before
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    expect(page.locator("#id_capacity")).to_have_value("")
    expect(capacity).to_have_attribute("aria-valuetext", page.get_attribute("#id_capacity", "placeholder") or "")
    expect(summary).to_contain_text(f" {before} of the map")
    capacity.fill("376")
    expect(capacity).to_have_attribute("aria-valuetext", page.input_value("#id_capacity"))
    page.get_by_role("slider", name="Headroom, percent").fill("12")
    expect(page.locator("#id_headroom_percent")).to_have_value("12")
    expect(summary).not_to_contain_text(f" {after} of the map")
    assert _fitting(summary) < after
    page.locator("#map-table summary").click()
    expect(page.get_by_role("region", name="The map as a table")).to_contain_text("close")
    page.select_option("#id_strategy", "default")
    expect(summary).to_contain_text("With normal cache")
    expect(page.locator("#map-table")).to_have_attribute("open", "")
    shown = summary.inner_text()
    page.reload()
    assert summary.inner_text() == shown


def _saved(page: Page, link: Locator) -> bytes:
    with page.expect_download() as download:
        link.click()
    return Path(download.value.path()).read_bytes()


def _cells(row: Locator) -> list[str]:
    return [text.strip() for text in row.locator("th, td").all_inner_texts()]


def _fitting(summary: Locator) -> int:
    found = re.search(r"(\d+) of the map", summary.inner_text())
    assert found
    return int(found[1])
