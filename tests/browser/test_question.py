import re

from playwright.sync_api import Browser, Page, expect

from tests.browser.portal import Portal


def test_an_empty_form_is_refused_beside_its_fields(page: Page, portal: Portal) -> None:
    portal.ask("worker")
    page.goto(f"{portal.url}/profiles/new/")
    page.fill("#id_prompt_tokens", "")
    page.fill("#id_answer_tokens", "0")
    page.get_by_role("button", name="Measure it").click()
    expect(page.locator("#id_model_error")).to_contain_text("Name a model.")
    expect(page.locator("#id_prompt_tokens_error")).to_contain_text("Say how many tokens")
    expect(page.locator("#id_answer_tokens_error")).to_contain_text("0 is outside of that")
    expect(page.locator("#id_answer_tokens")).to_have_value("0")


def test_a_model_is_checked_as_it_is_typed_and_the_length_is_told(page: Page, portal: Portal) -> None:
    portal.ask("worker")
    portal.ask("know_model")
    page.goto(f"{portal.url}/profiles/new/")
    page.locator("#id_model").press_sequentially("SmolLM2-135M")
    expect(page.locator("[data-model-check]")).to_contain_text("reads up to 8,192 tokens")
    expect(page.locator("[data-length=quick]")).to_have_text(re.compile("^about .* (s|min|h)$"))
    quick = page.locator("[data-length=quick]").inner_text()
    page.fill("#id_prompt_tokens", "7000")
    page.fill("#id_answer_tokens", "1000")
    expect(page.locator("[data-length=quick]")).not_to_have_text(quick)
    page.fill("#id_model", "no such model")
    expect(page.locator("[data-model-check][data-state=refused]")).to_contain_text("no such model")


def test_three_fields_and_a_button_start_a_run(page: Page, portal: Portal) -> None:
    portal.ask("worker")
    portal.ask("know_model")
    page.goto(f"{portal.url}/profiles/new/")
    page.fill("#id_model", "SmolLM2-135M")
    page.fill("#id_prompt_tokens", "2048")
    page.fill("#id_answer_tokens", "64")
    page.get_by_role("button", name="Measure it").click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"))
    expect(page.locator("h1")).to_have_text("SmolLM2-135M · 2,048 + 64")
    portal.ask("end_all")


def test_the_form_is_sent_without_javascript(chromium: Browser, session: dict[str, object], portal: Portal) -> None:
    portal.ask("worker")
    portal.ask("know_model")
    context = chromium.new_context(storage_state=session, java_script_enabled=False)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{portal.url}/profiles/new/")
    page.fill("#id_model", "SmolLM2-135M")
    page.get_by_role("button", name="Measure it").click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"))
    assert "load it again" in page.content()
    expect(page.locator(".stages")).to_be_visible()
    context.close()
    portal.ask("end_all")
