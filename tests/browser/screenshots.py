"""`python -m tests.browser.screenshots`: every page, wide and narrow, light and dark, into build/screenshots/.

Says what a reader would trip over: console errors, sideways scroll.
"""

import sys
import tempfile
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, Page

from tests.browser.chromium import running_chromium
from tests.browser.portal import ROOT, Portal

OUT = ROOT / "build" / "screenshots"
WIDTHS = {"1280": (1280, 900), "390": (390, 844)}
SETTLE_MS = 700
TYPED = {
    "estimated": {"model": "SmolLM2-135M", "capacity": "600MiB"},
    "estimated-too-large": {"model": "SmolLM2-135M", "capacity": "300MiB", "sequences": "2"},
    "estimated-windowed": {"model": "Gemma-3-270m", "capacity": "2GiB", "prompt_tokens": "16384"},
    "estimated-fault": {"model": "SmolLM2-135M", "prompt_tokens": "many"},
}


def main() -> int:
    OUT.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[1:]
    faults: list[str] = []
    with (
        tempfile.TemporaryDirectory(prefix="kvp-") as folder,
        Portal(Path(folder)) as portal,
        running_chromium() as browser,
    ):
        for made, by in PARTS.items():
            pages = made(portal)
            chosen = {name: page for name, page in pages.items() if not wanted or name in wanted}
            faults += _shoot(browser, portal, chosen, by)
    for fault in dict.fromkeys(faults):
        print(fault)  # noqa: T201  (what this script is for)
    return int(bool(faults))


def _strangers(portal: Portal) -> dict[str, str]:
    return {"setup": f"/setup/{portal.ask('setup_token')}/", "setup-used": "/setup/unknown/", "sign-in": "/sign-in/"}


def _unused(_: Portal) -> dict[str, str]:
    return {
        "home-empty": "/",
        "profiles-empty": "/profiles/",
        "workers-empty": "/workers/",
        "new-empty": "/profiles/new/",
    }


def _used(portal: Portal) -> dict[str, str]:
    runs = portal.ask("team")
    portal.ask("know_windowed_model")
    pages = {"home": "/", "profiles": "/profiles/", "workers": "/workers/", "new": "/profiles/new/", "404": "/nowhere/"}
    pages |= dict.fromkeys(TYPED, "/profiles/new/")
    pages |= {"team": "/team/", "account": "/account/", "activity": "/activity/"}
    pages |= {f"run-{name}": f"/runs/{pk}/" for name, pk in runs.items()}
    answered = next(iter(runs.values()))
    pages |= {"what-if": f"/runs/{answered}/what-if/?capacity=400MiB&sequences=2"}
    if_quality = f"/runs/{runs['quality']}/what-if/"
    pages |= {"what-if-quality": if_quality, "what-if-fault": f"{if_quality}?capacity=24 GB&sequences=none"}
    pages |= {"what-if-no": f"/runs/{runs['running']}/what-if/", "prompts": "/prompts/"}
    pages |= {"clone-prompts": f"/profiles/new/?from={portal.ask('profile_of', run=runs['quality'])}"}
    pages |= _kept(portal, answered)
    return pages | {"profile": "/profiles/2/", "clone": "/profiles/new/?from=1", "refused": "/profiles/new/"}


def _kept(portal: Portal, answered: int) -> dict[str, str]:
    """What a team keeps: profiles with a past, comparisons, links, tokens."""
    recheck = portal.ask("demo_recheck.begin", username=portal.ask("member")["username"])
    portal.ask("demo_recheck.upgrade")
    rechecked = portal.ask("demo_recheck.profile_of", run=recheck)
    kept = portal.ask("demo_memory.remembered", run=answered)
    portal.ask("demo_gallery.full_list")
    six = "&".join(f"run={run}" for run in portal.ask("demo_gallery.compared"))
    portal.ask("demo_gallery.tokens")
    again = portal.ask("demo_gallery.rechecked", profile=rechecked)
    portal.ask("demo_recheck.upgrade", transformers="5.25.0")
    return {
        "home-narrowed": "/?freshness=stale&sort=-context&tag=production",
        "home-nothing": "/?q=nowhere",
        "profile-kept": f"/profiles/{kept}/",
        "profile-stale": f"/profiles/{rechecked}/",
        "profile-edit": f"/profiles/{kept}/edit/",
        "adopt": f"/runs/{answered}/adopt/",
        "run-recheck": f"/runs/{again}/",
        "compare-choose": "/compare/",
        "compare-chosen": f"/compare/?{six}&choose=1",
        "compare-2": f"/compare/?{six[: six.index('&', six.index('&') + 1)]}",
        "compare-6": f"/compare/?{six}",
        "share-form": f"/runs/{answered}/share/",
        "workloads": "/workloads/",
        "tokens": "/tokens/",
    }


def _sent(portal: Portal) -> dict[str, str]:
    """What is read by people without an account, and by those who lost their password."""
    portal.ask("end_all")
    done = portal.ask("offloading")
    shares = portal.ask("demo_gallery.shared", run=done, superseded=portal.ask("demo_gallery.answered"))
    return shares | portal.ask("demo_gallery.invited") | {"reset-ask": "/reset/", "join-void": "/join/unknown/"}


def _led(portal: Portal) -> dict[str, str]:
    """What administrators see more of, and the links that are out."""
    portal.ask("administrator")
    portal.ask("demo_gallery.told")
    return {"team-admin": "/team/", "profile-admin": "/profiles/1/", "shares": "/shares/"}


PARTS = {_strangers: "", _unused: "member", _used: "member", _sent: "", _led: "administrator"}
"""The pages of each part of a portal's life, and who looks at them: nobody who is signed in, where that is empty."""


def _shoot(browser: Browser, portal: Portal, pages: dict[str, str], by: str) -> list[str]:
    faults: list[str] = []
    for width, (across, down) in WIDTHS.items():
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": across, "height": down}, color_scheme=scheme)
            page = context.new_page()
            page.on("console", partial(_hear, faults))
            if by and pages:
                sign_in(page, portal, by)
            for name, address in pages.items():
                _shoot_one(page, portal.url + address, name)
                page.screenshot(path=OUT / f"{name}-{width}-{scheme}.png", full_page=True)
                if sideways(page):
                    faults.append(f"{name} at {width}: scrolls sideways")
            context.close()
    return faults


def _shoot_one(page: Page, address: str, name: str) -> None:
    page.goto(address)
    if name == "refused":
        refuse(page)
    if name in TYPED:
        fill(page, TYPED[name])
    page.wait_for_timeout(SETTLE_MS)


def _hear(faults: list[str], message: ConsoleMessage) -> None:
    """A missing page answers 404, which the console says: that one is meant."""
    if message.type in {"error", "warning"} and "404" not in message.text:
        faults.append(f"{message.location.get('url')}: {message.text}")


def sign_in(page: Page, portal: Portal, by: str = "member") -> None:
    account = portal.ask(by)
    page.goto(portal.url + "/sign-in/")
    page.fill("#id_username", account["username"])
    page.fill("#id_password", account["password"])
    page.click("main button")
    page.wait_for_url(portal.url + "/")


def fill(page: Page, values: dict[str, str]) -> None:
    """The form as somebody fills it in, with every part of it open."""
    page.evaluate("document.querySelectorAll('details.fold').forEach((fold) => { fold.open = true; })")
    page.fill("#id_model", values["model"])
    page.wait_for_selector("[data-outlook=ready]")
    for name, value in values.items():
        page.fill(f"#id_{name}", value)
    page.wait_for_timeout(SETTLE_MS)
    page.evaluate("document.getElementById('devices').open = true")


def refuse(page: Page) -> None:
    page.fill("#id_model", "/etc")
    page.fill("#id_prompt_tokens", "0")
    page.fill("#id_answer_tokens", "1000000000000")
    page.evaluate("document.querySelectorAll('details.fold').forEach((fold) => { fold.open = true; })")
    page.fill("#id_capacity", "24 GB")
    page.fill("#id_headroom_percent", "95")
    page.click("main .submit-bar button")
    page.wait_for_load_state()


def sideways(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


if __name__ == "__main__":
    sys.exit(main())
