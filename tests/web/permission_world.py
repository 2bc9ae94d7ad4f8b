"""One of everything that an address can be about, and everybody who can ask for it.

ada owns what is owned; eve is another member; the tokens are ada's unless they say otherwise.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from jobs.models import ApiToken, Invitation, Role, Run, SignedIn, TokenScope
from jobs.procedure.own_prompts import read_prompts
from jobs.services.adoption import adoption_adopt
from jobs.services.api_token import api_token_make
from jobs.services.invitation import invitation_make
from jobs.services.prompt_set import prompt_set_save
from jobs.services.share import share_make
from jobs.services.workload import workload_save
from tests.browser import demo
from tests.factories import make_user

LENGTHS = {"typical_prompt_tokens": 4, "answer_tokens": 2, "sequences": 1}
BACKEND = "django.contrib.auth.backends.ModelBackend"


@dataclass(frozen=True, kw_only=True)
class World:
    people: Mapping[str, Client]
    numbers: Mapping[str, int]
    join_token: str
    share_token: str

    def arguments(self, name: str, names: list[str]) -> dict[str, Any]:
        """Of an address: what it is about goes by the start of its name."""
        known: dict[str, Any] = {"uidb64": "MQ", "token": self._token(name)}
        about = name.removeprefix("api-")
        kinds = [kind for kind in self.numbers if about == kind or about.startswith(f"{kind}-")]
        known["pk"] = self.numbers[max(kinds, key=len)] if kinds else 0
        return {one: known[one] for one in names}

    def pages(self) -> dict[str, str]:
        """Those that everybody in the team reads, and that are about what ada owns."""
        names = (
            "home",
            "profiles",
            "prompts",
            "workloads",
            "workers",
            "team",
            "shares",
            "activity",
            "profile",
            "run",
            "run-what-if",
        )
        every = addresses()
        found = {name: reverse(name, kwargs=self.arguments(name, every[name])) for name in names}
        return found | {"waiting run": reverse("run", args=[self.numbers["run-cancel"]])}

    def _token(self, name: str) -> str:
        return {"join": self.join_token, "share": self.share_token, "share-card": self.share_token}.get(name, "unknown")


def addresses() -> dict[str, list[str]]:
    """Every named address of the portal with its arguments' names; Django's own administration apart."""
    return dict(_walked(get_resolver().url_patterns, []))


def _walked(patterns: list[Any], before: list[str]) -> Iterator[tuple[str, list[str]]]:
    for pattern in patterns:
        arguments = [*before, *re.findall(r"<(?:\w+:)?(\w+)>", str(pattern.pattern))]
        if isinstance(pattern, URLResolver):
            if pattern.app_name != "admin":
                yield from _walked(pattern.url_patterns, arguments)
        elif isinstance(pattern, URLPattern):
            yield str(pattern.name), arguments


def make_world() -> World:
    done = demo.begin()
    demo.finish(done)
    waiting = demo.submit("Waiting")
    run = Run.objects.get(pk=done)
    ada = User.objects.get(username=demo.USER)
    users = {
        "viewer": make_user("val", Role.VIEWER),
        "owner": ada,
        "other": make_user("eve"),
        "admin": make_user("root", Role.ADMIN, is_staff=True, is_superuser=True),
    }
    share, share_token = share_make(run=run, user=ada, title="Ours")
    join_token = invitation_make(user=users["admin"], role=Role.MEMBER)
    prompts = prompt_set_save(user=ada, name="ours", prompts=read_prompts(b"one\ntwo"))
    people = {"nobody": Client()} | {name: _browser(user) for name, user in users.items()} | {"share link": Client()}
    people["share link"].get(reverse("share", args=[share_token]))
    tokens = {
        "read token": (ada, TokenScope.READ),
        "write token": (ada, TokenScope.WRITE),
        "viewer's write token": (users["viewer"], TokenScope.WRITE),
        "other's write token": (users["other"], TokenScope.WRITE),
    }
    for name, (user, scope) in tokens.items():
        text = api_token_make(user=user, name=name, scope=scope, by=user)
        people[name] = Client(headers={"authorization": f"Token {text}"})
    elsewhere = _browser(ada)
    numbers = {
        "run": done,
        "run-cancel": waiting,
        "profile": run.profile_id,
        "recheck": run.profile_id,
        "run-again": run.profile_id,
        "adoption": adoption_adopt(run=run, user=ada, context=run.limit_context or 0).pk,
        "prompts": prompts.pk,
        "workload": workload_save(user=ada, name="Ours", prompt_tokens=8, **LENGTHS).pk,
        "share": share.pk,
        "team": make_user("vic").pk,
        "team-invitation": Invitation.objects.get().pk,
        "token": ApiToken.objects.filter(user=ada).order_by("pk").values_list("pk", flat=True)[0],
        "account-session": SignedIn.objects.get(session_key=elsewhere.session.session_key).pk,
    }
    return World(people=people, numbers=numbers, join_token=join_token, share_token=share_token)


def _browser(user: User) -> Client:
    browser = Client()
    browser.force_login(user, backend=BACKEND)
    return browser


def status(client: Client, method: str, address: str) -> str:
    """Of one request, after which everything is as it was before; “in” where it leads to the sign-in."""
    cache.clear()  # whose rates are counted in it
    kept = client.cookies.copy()
    posts_json = method == "post" and address.startswith("/api/")
    sent: dict[str, Any] = {"data": {}, "content_type": "application/json"} if posts_json else {}
    with transaction.atomic():
        answer = getattr(client, method)(address, **sent)
        transaction.set_rollback(True)
    client.cookies = kept
    is_sent = answer.status_code == 302 and answer.headers["Location"].startswith(f"{reverse('sign-in')}?next=")
    return "in" if is_sent else str(answer.status_code)
