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
    expect(page.locator("#id_model")).to_be_focused()
    page.get_by_role("alert").get_by_role("link", name="Answer").click()
    expect(page.locator("#id_answer_tokens")).to_be_focused()


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


def test_the_estimate_is_drawn_as_the_fields_are_filled_in(page: Page, portal: Portal) -> None:
    portal.ask("worker")
    portal.ask("know_model")
    page.goto(f"{portal.url}/profiles/new/")
    panel = page.locator("#outlook")
    expect(panel).to_contain_text("Name a model to see what it needs.")
    page.locator("#id_model").press_sequentially("SmolLM2-135M")
    expect(panel.locator(".budget-bar .part-working").first).to_be_visible()
    expect(panel).to_contain_text("Twice the context (8,704 tokens, more than the model reads): KV cache ×2.0")
    prompts = panel.locator("tr", has_text="KV cache of the prompt")
    expect(prompts).to_contain_text("90.0 MiB")
    width = panel.locator(".part-kv").first.get_attribute("width")
    page.fill("#id_prompt_tokens", "2048")
    expect(prompts).to_contain_text("45.0 MiB")
    assert panel.locator(".part-kv").first.get_attribute("width") != width
    said = (
        "Longest context: 8,192 tokens with the normal cache. This workload (2,304 tokens) should fit with the normal "
    )
    expect(panel.locator("[data-outlook-said]")).to_have_text(f"{said}cache.")
    expect(panel.locator(".outlook-basis")).to_contain_text("SmolLM2-135M · bfloat16 · 2,304 tokens · ")
    expect(panel.locator(".table-box[tabindex]")).to_have_count(0)


def test_a_fault_dims_the_last_figures_and_says_what_is_missing(page: Page, portal: Portal) -> None:
    portal.ask("worker")
    portal.ask("know_model")
    page.goto(f"{portal.url}/profiles/new/")
    panel = page.locator("#outlook")
    page.fill("#id_model", "SmolLM2-135M")
    expect(panel.locator(".outlook-verdict")).to_be_visible()
    page.fill("#id_prompt_tokens", "many")
    expect(panel.locator("[data-outlook-missing]")).to_contain_text("Longest prompt: Write a whole number")
    expect(panel.locator(".outlook-verdict")).to_be_visible()
    expect(panel.locator("[data-outlook]")).to_have_css("opacity", "0.7")
    expect(panel.get_by_role("status").filter(has_text="Not updated:")).to_be_visible()
    expect(panel.get_by_text("figures of the values before")).to_be_visible()
    expect(page.locator("#id_prompt_tokens_error")).to_contain_text("Write a whole number")
    expect(page.locator("#id_prompt_tokens")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#id_prompt_tokens")).to_have_attribute("aria-describedby", "id_prompt_tokens_error")
    page.fill("#id_prompt_tokens", "2048")
    expect(page.locator("#id_prompt_tokens_error")).to_have_count(0)
    assert page.locator("#id_prompt_tokens").get_attribute("aria-invalid") is None
    expect(panel.locator("[data-outlook-missing]")).to_be_hidden()
    expect(panel.get_by_text("figures of the values before")).to_be_hidden()
    page.fill("#id_model", "no such model")
    expect(panel).to_contain_text("no such model")
    expect(panel.locator(".outlook-verdict")).to_have_count(0)


def test_what_a_windowed_model_cannot_take_is_said_and_an_open_table_stays_open(page: Page, portal: Portal) -> None:
    portal.ask("worker")
    portal.ask("know_windowed_model")
    page.goto(f"{portal.url}/profiles/new/")
    panel = page.locator("#outlook")
    page.fill("#id_model", "Gemma-3-270m")
    expect(panel.locator("tr", has_text="quantized (hqq, quanto, fp8)")).to_contain_text("not possible for this model")
    page.get_by_text("Which device do I need?").click()
    page.get_by_text("All 17 devices").click()
    expect(panel.locator("#all-devices tr", has_text="GeForce RTX 4090")).to_contain_text("23.64 GiB")
    page.get_by_text("What takes the memory").click()
    page.get_by_text("Workload, prompts, revision and name").click()
    page.fill("#id_sequences", "150")
    smallest = panel.locator("#devices > .fold-body > .table-box tr.is-limit").last
    expect(smallest).to_contain_text("smallest that fits")
    expect(smallest).not_to_contain_text("RTX 3060")
    expect(panel.locator("details#devices")).to_have_attribute("open", "")
    expect(panel.locator("details#all-devices")).to_have_attribute("open", "")
    assert panel.locator("details#budgets").get_attribute("open") is None


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
    expect(page.locator("#outlook")).to_contain_text("Without JavaScript the estimate is shown after sending")
    page.fill("#id_model", "SmolLM2-135M")
    page.get_by_role("button", name="Estimate only").click()
    expect(page.locator("#outlook")).to_contain_text("Longest context: 8,192 tokens")
    page.get_by_role("button", name="Measure it").click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"))
    assert "load it again" in page.content()
    expect(page.locator(".stages")).to_be_visible()
    context.close()
    portal.ask("end_all")
