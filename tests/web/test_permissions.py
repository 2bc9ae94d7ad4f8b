"""The permission matrix: every address of the portal × everybody who can ask for it.

A new address without a line here fails the first test. A line has the answers to GET and to the one unsafe method
(POST, or DELETE where DELETED says so), each in the order of PEOPLE or, under api-, of PROGRAMS. “in” leads to the
sign-in.
"""

import re

import pytest
from django.test import Client
from django.urls import resolve, reverse

from tests.web.permission_world import addresses, make_world, status

PEOPLE = ("nobody", "viewer", "owner", "other", "admin")
LIKE_NOBODY = ("share link", "write token")  # on pages: a share's reader, and a program, are strangers
PROGRAMS = (*PEOPLE, "share link", "read token", "write token", "viewer's write token", "other's write token")
DELETED = {"api-share"}
SLOW = {"share-card": ("nobody", "share link")}  # a picture is drawn each time

READ = "in 200 200 200 200"
ONLY_READ = "in 405 405 405 405"
ONLY_POSTED = ONLY_READ
ASKED = "in 403 200 200 200"
OPEN = "200 200 200 200 200"
NONE = "404 404 404 404 404"
SAFE_ALONE = "405 405 405 405 405"
ALL_DO = "in 302 302 302 302"
ASK_DOES = "in 403 302 302 302"
OWNER_DOES = "in 403 302 403 302"
ADMIN_DOES = "in 403 403 403 302"

PAGES = {
    "home": (READ, ONLY_READ),
    "workers": (READ, ONLY_READ),
    "activity": (READ, ONLY_READ),
    "favicon": ("302 302 302 302 302", SAFE_ALONE),
    "healthz": (OPEN, SAFE_ALONE),
    "readyz": (OPEN, SAFE_ALONE),
    "metrics": (OPEN, SAFE_ALONE),  # to this machine; a stranger's answer is tested with the page
    # accounts
    "sign-in": ("200 302 302 302 302", "200 302 302 302 302"),
    "sign-out": (ONLY_POSTED, ALL_DO),
    "setup": (NONE, NONE),
    "join": (OPEN, OPEN),
    "reset-ask": (NONE, NONE),  # without a mail server
    "reset": (OPEN, OPEN),
    "account": (READ, ONLY_READ),
    "account-contact": (ONLY_POSTED, ALL_DO),
    "account-password": (ONLY_POSTED, READ),
    "account-session-end": (ONLY_POSTED, "in 403 302 403 403"),
    "account-sessions-end-others": (ONLY_POSTED, ALL_DO),
    "tokens": (READ, READ),
    "token-revoke": (ONLY_POSTED, OWNER_DOES),
    # the team
    "team": (READ, ONLY_READ),
    "team-invite": (ONLY_POSTED, "in 403 403 403 200"),
    "team-invitation-revoke": (ONLY_POSTED, ADMIN_DOES),
    "team-role": (ONLY_POSTED, ADMIN_DOES),
    "team-end": (ONLY_POSTED, ADMIN_DOES),
    "team-restore": (ONLY_POSTED, ADMIN_DOES),
    "team-password-link": (ONLY_POSTED, "in 403 403 403 200"),
    # profiles
    "profiles": (READ, ONLY_READ),
    "profile": (READ, ONLY_READ),
    "profile-new": (ASKED, ASKED),
    "model-check": (ASKED, ONLY_READ),
    "duration": (ASKED, ONLY_READ),
    "estimate": (ASKED, ONLY_READ),
    "profile-edit": ("in 403 200 403 200", "in 403 200 403 200"),
    "profile-archive": (ONLY_POSTED, OWNER_DOES),
    "workloads": (READ, ONLY_READ),
    "workload-edit": ("in 403 200 403 200", "in 403 200 403 200"),
    "workload-archive": (ONLY_POSTED, OWNER_DOES),
    "workload-restore": (ONLY_POSTED, OWNER_DOES),
    "profile-restore": (ONLY_POSTED, OWNER_DOES),
    "run-adopt": (ASKED, ASKED),
    "adoption-withdraw": (ONLY_POSTED, ASK_DOES),
    "profile-notify": (ONLY_POSTED, OWNER_DOES),
    "profile-notify-test": (ONLY_POSTED, OWNER_DOES),
    "run-again": (ONLY_POSTED, ASK_DOES),
    "recheck": (ONLY_POSTED, ASK_DOES),
    "prompts": (READ, ONLY_READ),
    "prompts-delete": (ONLY_POSTED, OWNER_DOES),
    # runs
    "run": (READ, ONLY_READ),
    "run-fragment": (READ, ONLY_READ),
    "run-events": (READ, ONLY_READ),
    "run-figures": (READ, ONLY_READ),
    "run-cancel": (ONLY_POSTED, OWNER_DOES),
    "run-what-if": (READ, ONLY_READ),
    "run-what-if-grid": (READ, ONLY_READ),
    "run-measurements-csv": (READ, ONLY_READ),
    "run-measurements-json": (READ, ONLY_READ),
    "run-json": (READ, ONLY_READ),
    "run-generation-config": (READ, ONLY_READ),
    "compare": (READ, ONLY_READ),
    "compare-figures": (READ, ONLY_READ),
    "compare-csv": (READ, ONLY_READ),
    # shares
    "run-share": (ASKED, ASKED),
    "shares": (READ, ONLY_READ),
    "share-revoke": (ONLY_POSTED, OWNER_DOES),
    "share": (OPEN, SAFE_ALONE),
    "share-card": ("200 200", "405 405"),
}

# A browser that is signed in may look by REST, and do nothing there; what a token of a role may do, its page may do.
API_READ = "401 200 200 200 200 401 200 200 200 200"
API_ONLY_POSTED = "401 405 405 405 405 401 405 405 405 405"
API_ONLY_READ = "401 401 401 401 401 401 403 405 405 405"
API_ASKED = "401 401 401 401 401 401 403 201 403 201"
API_ASKED_BADLY = "401 401 401 401 401 401 403 400 403 400"
API = {
    "api-profiles": (API_READ, API_ASKED_BADLY),
    "api-profile": (API_READ, API_ONLY_READ),
    "api-profile-runs": (API_ONLY_POSTED, API_ASKED),
    "api-profile-limit": (API_READ, API_ONLY_READ),
    "api-profile-check": (API_ONLY_POSTED, "401 401 401 401 401 401 400 400 400 400"),  # it changes nothing
    "api-run": (API_READ, API_ONLY_READ),
    "api-run-events": (API_READ, API_ONLY_READ),
    "api-run-cancel": (API_ONLY_POSTED, "401 401 401 401 401 401 403 200 403 403"),
    "api-run-shares": (API_ONLY_POSTED, API_ASKED),
    "api-share": (API_ONLY_POSTED, "401 401 401 401 401 401 403 204 403 403"),
    "api-workers": (API_READ, API_ONLY_READ),
    "api-size": (API_ONLY_POSTED, API_ASKED_BADLY),
    "api-schema": (API_READ, API_ONLY_READ),
    "api-nowhere": ("401 404 404 404 404 401 404 404 404 404", "401 401 401 401 401 401 404 404 404 404"),
}
TABLE = PAGES | API


def expected(name: str, line: str) -> dict[str, str]:
    if name in API:
        return dict(zip(PROGRAMS, line.split(), strict=True))
    if name in SLOW:
        return dict(zip(SLOW[name], line.split(), strict=True))
    found = dict(zip(PEOPLE, line.split(), strict=True))
    return found | dict.fromkeys(LIKE_NOBODY, found["nobody"])


def test_every_address_has_its_line_and_every_line_its_address() -> None:
    assert set(addresses()) == set(TABLE)


@pytest.mark.django_db
def test_every_address_answers_everybody_as_its_line_says() -> None:
    world = make_world()
    wrong: list[str] = []
    for name, arguments in addresses().items():
        address = reverse(name, kwargs=world.arguments(name, arguments))
        unsafe = "delete" if name in DELETED else "post"
        for method, line in zip(("get", unsafe), TABLE.get(name, ()), strict=False):
            for who, answer in expected(name, line).items():
                found = status(world.people[who], method, address)
                if found != answer:
                    wrong.append(f"{method} {name} by {who}: {found}, not {answer}")
    assert wrong == []


@pytest.mark.django_db
@pytest.mark.parametrize("who", ["viewer", "other"])
def test_no_page_offers_what_it_would_refuse(who: str) -> None:
    """By the same lines: everything in this world is somebody else's."""
    place = PEOPLE.index(who)
    world = make_world()
    offered: list[str] = []
    for page, address in world.pages().items():
        html = world.people[who].get(address).content.decode()
        links = re.findall(r"<a\b[^>]*\bhref=\"([^\"#?]+)", html)
        forms = re.findall(r"\b(?:form)?action=\"([^\"#?]+)", html)
        for line, found in ((0, links), (1, forms)):
            names = {
                resolve(one).url_name for one in set(found) if one.startswith("/") and not one.startswith("/static/")
            }
            refused = {str(name) for name in names if name in PAGES and PAGES[name][line].split()[place] == "403"}
            offered += [f"{page}: {name}" for name in refused]
    assert offered == []


@pytest.mark.django_db
def test_no_page_does_anything_for_a_form_without_its_token() -> None:
    strict = Client(enforce_csrf_checks=True)
    world = {"pk": 1, "token": "unknown", "uidb64": "MQ"}
    for name in PAGES:
        given = {one: world[one] for one in addresses()[name]}
        assert strict.post(reverse(name, kwargs=given)).status_code == 403, name
