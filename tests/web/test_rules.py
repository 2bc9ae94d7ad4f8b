"""What holds for every page."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

TEMPLATES = sorted((settings.BASE_DIR / "templates").rglob("*.html"))
SCRIPTS = sorted((settings.BASE_DIR / "static" / "js").glob("*.js"))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(settings.BASE_DIR)))
def test_no_template_has_a_script_or_a_style_of_its_own(template: Path) -> None:
    text = template.read_text()
    assert not re.search(r"<style\b", text)
    assert not re.search(r"\sstyle\s*=", text)
    assert not re.search(r"\son[a-z]+\s*=", text)
    assert all("src=" in tag for tag in re.findall(r"<script\b[^>]*>", text))
    assert "javascript:" not in text


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_no_script_writes_markup_from_text(script: Path) -> None:
    text = script.read_text()
    assert not re.search(r"(inner|outer)HTML\s*=[^=]", text)
    for risky in ("insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert risky not in text


@pytest.mark.django_db
def test_the_content_security_policy_allows_nothing_inline(client: Client) -> None:
    policy = client.get(reverse("sign-in")).headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.django_db
def test_a_browser_that_asks_for_an_icon_gets_one(client: Client) -> None:
    assert client.get(reverse("favicon")).headers["Location"] == "/static/img/favicon-idle.svg"
    assert client.post(reverse("favicon")).status_code == 405


@pytest.mark.django_db
def test_an_unknown_address_is_a_page_of_ours(client: Client) -> None:
    answer = client.get("/nowhere/")
    assert answer.status_code == 404
    assert "There is no such page" in answer.content.decode()


@pytest.mark.django_db
def test_a_form_without_its_token_is_refused_with_a_page_of_ours() -> None:
    strict = Client(enforce_csrf_checks=True)
    answer = strict.post(reverse("sign-in"), {"username": "a", "password": "b"})
    assert answer.status_code == 403
    assert "Go back, load it again" in answer.content.decode()


def test_a_fault_of_ours_is_a_page_without_a_traceback(signed_in: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("a secret inside")

    monkeypatch.setattr("jobs.web.views.home.workers_list", broken)
    signed_in.raise_request_exception = False
    answer = signed_in.get(reverse("home"))
    assert answer.status_code == 500
    assert "Something broke here" in answer.content.decode()
    assert "secret" not in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/", "/healthz", "/s/unknown/", "/api/v1/profiles/"])
def test_a_host_that_is_not_ours_is_a_bad_request_everywhere(client: Client, address: str) -> None:
    assert client.get(address, headers={"host": "evil.example"}).status_code == 400
