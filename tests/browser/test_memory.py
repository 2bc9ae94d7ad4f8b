import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.portal import Portal


@pytest.fixture(scope="module")
def kept(portal: Portal) -> str:
    """A profile's page, answered again and again."""
    portal.ask("end_all")
    portal.ask("worker")
    run = portal.ask("begin", name="Nightly letters")
    portal.ask("finish", run=run)
    return f"{portal.url}/profiles/{portal.ask('demo_memory.remembered', run=run)}/"


def test_the_course_over_the_runs_is_drawn_with_what_changed_beside_its_table(page: Page, kept: str) -> None:
    page.goto(kept)
    plot = page.locator("[data-figure=limit]")
    expect(plot.locator(".main-svg").first).to_be_visible()
    expect(plot).to_contain_text("transformers 5.22.0 → 5.23.0 and 1 more")
    expect(plot).to_contain_text("adopted 3,712")
    expect(page.locator("[data-figure=speed] .main-svg").first).to_be_visible()
    drawn = page.evaluate(
        "document.querySelector('[data-figure=limit]').data.filter((t) => t.meta.role === 'course')[0].y"
    )
    cells = page.locator("section:has(#runs) tbody td[data-label='Max context']").all_inner_texts()
    assert [f"{context:,}" for context in reversed(drawn)] == cells


def test_a_lower_limit_is_adopted_with_a_reason_and_withdrawn(page: Page, kept: str) -> None:
    page.goto(kept)
    page.get_by_text("Adopt another limit").click()
    page.fill("#adopt-context", "3,000")
    page.get_by_role("button", name="Adopt", exact=True).click()
    expect(page.locator("#adopt-reason_error")).to_contain_text("needs a reason")
    page.fill("#adopt-reason", "Room for tools.")
    page.get_by_role("button", name="Adopt", exact=True).click()
    card = page.locator(".adopted-card")
    expect(card).to_contain_text("3,000")
    expect(card).to_contain_text("Room for tools.")
    card.get_by_role("button", name="Withdraw").click()
    expect(page.locator(".adopted-card")).to_have_count(0)
    expect(page.locator("section:has(#adoptions)")).to_contain_text("Room for tools.")


def test_a_profile_is_edited_found_by_its_tag_archived_and_restored(page: Page, portal: Portal, kept: str) -> None:
    page.goto(kept)
    page.get_by_role("link", name="Edit", exact=True).click()
    page.fill("#id_name", "Letters at night")
    page.fill("#id_tags", "Of March")
    page.fill("#id_notes", "<b>not bold</b>")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Letters at night")
    expect(page.locator(".notes")).to_have_text("<b>not bold</b>")
    page.get_by_role("link", name="of march").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    page.goto(kept + "edit/")
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_text("nothing of it is run", exact=False).first).to_be_visible()
    expect(page.get_by_role("button", name="Run again")).to_have_count(0)
    page.goto(f"{portal.url}/?tag=of+march")
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    page.select_option("#id_archived", "yes")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_role("link", name="Letters at night").click()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("button", name="Run again")).to_be_visible()


def test_a_clone_asks_several_models_at_once_and_their_address_lists_them(
    page: Page, portal: Portal, kept: str
) -> None:
    portal.ask("know_windowed_model")
    page.goto(kept)
    page.get_by_role("link", name="Clone").click()
    expect(page.locator(".note").first).to_contain_text("Cloned from")
    expect(page.locator(".note").first).to_contain_text("Nothing is saved before you send it.")
    page.get_by_text("Add more models").click()
    told = page.locator("[data-more-checks] p")
    page.fill("#id_more_models", "Gemma-3-270m\norg/not-read-yet, /etc")
    expect(told).to_have_count(3)
    expect(told.nth(0)).to_have_text(re.compile(r"^Gemma-3-270m: .* parameters · reads up to "))
    expect(told.nth(1)).to_have_text(re.compile(r"^org/not-read-yet: Reading the config of org/not-read-yet"))
    expect(told.nth(2)).to_have_attribute("data-state", "refused")
    page.fill("#id_more_models", "Gemma-3-270m\nSmolLM2-135M")
    expect(told).to_have_count(1)
    expect(page.locator("[data-run-count]")).to_have_text("This makes 2 runs; the estimate is of the first.")
    page.fill("#id_capacity", "700MiB")
    page.get_by_role("button", name="Measure it").click()
    page.wait_for_url(re.compile(r"/profiles/\?profile=\d+&profile=\d+$"))
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="Gemma-3-270m · 4,096 + 256")).to_have_count(1)
    rows.get_by_role("link", name="Gemma").click()
    expect(page.locator("section:has(#question)")).to_contain_text("cloned from")
    portal.ask("end_all")


def test_without_javascript_the_list_is_narrowed_and_the_runs_are_counted(
    chromium: Browser, session: dict[str, object], portal: Portal, kept: str
) -> None:
    context = chromium.new_context(storage_state=session, java_script_enabled=False)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(portal.url)
    page.fill("#id_q", "letters")
    page.select_option("#id_sort", "-context")
    page.get_by_role("button", name="Show", exact=True).click()
    assert "q=letters" in page.url
    expect(page.locator("tbody tr").first).to_contain_text("3,968")
    page.goto(kept.replace(portal.url + "/profiles/", f"{portal.url}/profiles/new/?from=").rstrip("/"))
    page.get_by_text("Add more models").click()
    page.fill("#id_more_models", "Gemma-3-270m")
    page.get_by_role("button", name="Estimate only").click()
    expect(page.locator("[data-run-count]")).to_have_text("This makes 2 runs; the estimate is of the first.")
    context.close()
