"""The main job on a real model: asked in Chromium, measured by a real worker behind a real Valkey, read in the page."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect

from jobs.running.environment import measuring_environment
from jobs.sizing.units import MIB
from tests import real_model
from tests.browser.chromium import running_chromium
from tests.operations.portal_process import PortalProcess

USER, PASSWORD = "ada", "a long way round 7"
PROMPT_TOKENS, ANSWER_TOKENS = 512, 16
CAPACITY = "538MiB"  # float32 weights take 513.1: the normal cache needs 35 more at 528 tokens, a 4-bit one 20
RUN_PATIENCE_MS = 600_000
NEAR_BYTES = 4 * MIB  # of the same point in another process


@dataclass
class Visit:
    """A page, what its console said and which frames its websockets brought."""

    page: Page
    said: list[str] = field(default_factory=list)
    frames: list[dict[str, object]] = field(default_factory=list)

    @classmethod
    def of(cls, browser: Browser) -> "Visit":
        visit = cls(page=browser.new_context(viewport={"width": 1280, "height": 900}).new_page())
        visit.page.on("console", lambda message: visit.said.append(message.text) if message.type == "error" else None)
        visit.page.on("pageerror", lambda error: visit.said.append(str(error)))
        visit.page.on("websocket", visit._listen)
        return visit

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda text: self.frames.append(json.loads(text)))

    def kinds(self) -> set[str]:
        """Kinds of the events that came over the websocket."""
        return {event["kind"] for frame in self.frames for event in frame["events"]}  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_chromium() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PortalProcess]:
    if not real_model.is_ready():
        if os.environ.get("CI") == "true":
            pytest.fail("the real model is not there: python -m tests.real_model")
        pytest.skip("the real model is not there: python -m tests.real_model")
    data = tmp_path_factory.mktemp("portal")
    with PortalProcess(data, MODELS_DIR=str(real_model.FOLDER.parent)) as process:
        yield process


@pytest.mark.timeout(900)
def test_a_member_asks_about_a_real_model_and_reads_a_limit_that_really_ran(
    portal: PortalProcess, browser: Browser, tmp_path: Path
) -> None:
    first = Visit.of(browser)
    _make_account(first.page, portal.address())
    _ask(first.page)
    page = first.page
    expect(page.locator("[data-part=memory-table] tbody tr th").first).to_be_visible(timeout=120_000)
    rows_while_running = page.locator("[data-part=memory-table] tbody tr th").count()
    assert page.locator("[data-part=meta]").get_attribute("data-state") == "running"

    expect(page.locator("[data-part=meta][data-state=done]")).to_be_attached(timeout=RUN_PATIENCE_MS)
    rows = page.locator("[data-part=memory-table] tbody tr")
    assert rows.count() > rows_while_running
    assert {"measurement", "stage_started", "stage_finished"} <= first.kinds()
    assert rows.filter(has_text="out of memory").count() >= 1
    context = _number(page.locator(".answer-number").inner_text())
    assert context == PROMPT_TOKENS + ANSWER_TOKENS
    assert "quantized" in page.locator("[data-part=answer]").inner_text()
    ran_there = rows.filter(has_text="max context").first.inner_text()
    assert f"{context:,}" in ran_there
    expect(page.locator("[data-figure=memory] .main-svg").first).to_be_visible()

    late = Visit.of(browser)
    _sign_in(late.page, f"http://127.0.0.1:{portal.port}")
    late.page.goto(page.url)
    assert _history(late.page) == _history(page)
    assert first.said == []
    assert late.said == []
    _settings_hold(page, tmp_path)


def _settings_hold(page: Page, folder: Path) -> None:
    """What the run's page gives away answers at the max context, with the cache it names, within the capacity."""
    run = page.request.get(f"{page.url}run.json").json()
    limit = run["stages"]["limit"]
    (folder / "generation_config.json").write_bytes(page.request.get(f"{page.url}generation_config.json").body())
    command = ["-m", "tests.end_to_end.answer_with_settings", str(real_model.FOLDER), str(folder), str(limit["prompt"])]
    answered = subprocess.run(
        [sys.executable, *command, run["question"]["dtype"]],
        cwd=real_model.ROOT,
        env=measuring_environment(os.environ, python=sys.executable) | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert answered.returncode == 0, answered.stderr[-2000:]
    told = json.loads(answered.stdout)
    assert limit["strategy"].startswith("quantized:")
    assert told["cache"] == "QuantizedCache"
    assert told["settings"].items() >= limit["settings"].items()
    assert 0 < told["new_tokens"] <= ANSWER_TOKENS
    assert told["peak_bytes"] <= run["stages"]["budgets"]["capacity_bytes"]
    assert abs(told["peak_bytes"] - limit["ran_at"]["peak_bytes"]) < NEAR_BYTES


def _make_account(page: Page, link: str) -> None:
    page.goto(link)
    page.fill("[name=username]", USER)
    page.fill("[name=password]", PASSWORD)
    page.fill("[name=again]", PASSWORD)
    page.click("main button")
    expect(page.locator("h1")).not_to_have_text("Make the first account")


def _sign_in(page: Page, address: str) -> None:
    page.goto(f"{address}/sign-in/")
    page.fill("[name=username]", USER)
    page.fill("[name=password]", PASSWORD)
    page.click("main button")
    expect(page.locator("h1")).not_to_have_text("Sign in")


def _ask(page: Page) -> None:
    page.goto(f"{page.url.split('/', 3)[0]}//{page.url.split('/', 3)[2]}/profiles/new/")
    page.fill("[name=model]", real_model.FOLDER.name)
    page.fill("[name=prompt_tokens]", str(PROMPT_TOKENS))
    page.fill("[name=answer_tokens]", str(ANSWER_TOKENS))
    page.locator("details#more summary").click()
    page.fill("[name=capacity]", CAPACITY)
    page.fill("[name=headroom_percent]", "0")
    page.select_option("[name=dtype]", "float32")  # not every processor computes bfloat16 fast
    for box in page.locator("[name=strategies]").all():
        box.set_checked(box.get_attribute("value") in {"quantized:hqq:4", "quantized:quanto:4"})
    expect(page.locator("[data-model-check][data-state=ready]")).to_be_attached(timeout=180_000)
    page.get_by_role("button", name="Measure it").click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"), timeout=60_000)


def _number(text: str) -> int:
    found = re.match(r"[\d,]+", text)
    assert found, text
    return int(found[0].replace(",", ""))


def _history(page: Page) -> tuple[list[str], list[str]]:
    """The log and the table as a reader sees them."""
    log = page.locator("[data-log] li").all_inner_texts()
    table = page.locator("[data-part=memory-table] tbody tr").all_inner_texts()
    return log, table
