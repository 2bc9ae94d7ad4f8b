"""By scope and by role: a token can do no more than its user, and one that reads changes nothing."""

import pytest

from jobs.models import Role, Run, Share
from jobs.services.share import share_make
from tests.api.conftest import Program
from tests.factories import make_profile, make_run, make_user

READS = (
    "profiles/",
    "profiles/{profile}/",
    "profiles/{profile}/limit/",
    "runs/{run}/",
    "runs/{run}/events/",
    "workers/",
)
ASKS = ("profiles/", "profiles/{profile}/runs/", "runs/{run}/shares/", "runs/{run}/cancel/", "size/")


def address(template: str, run: int) -> str:
    return template.format(run=run, profile=Run.objects.get(pk=run).profile_id)


@pytest.mark.parametrize("template", READS)
def test_every_token_reads(reader: Program, viewer: Program, answered: int, template: str) -> None:
    assert reader.get(address(template, answered)).status_code == 200
    assert viewer.get(address(template, answered)).status_code == 200


@pytest.mark.parametrize("template", ASKS)
def test_a_token_that_reads_asks_for_nothing(reader: Program, answered: int, template: str) -> None:
    answer = reader.post(address(template, answered), {})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "scope_forbids")


@pytest.mark.parametrize("template", ASKS)
def test_a_viewers_token_asks_for_nothing_whatever_its_scope(viewer: Program, answered: int, template: str) -> None:
    answer = viewer.post(address(template, answered), {})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "role_forbids")
    assert Run.objects.count() == 1


def test_a_check_changes_nothing_and_takes_a_token_that_reads(reader: Program, answered: int) -> None:
    profile = Run.objects.get(pk=answered).profile_id
    answer = reader.post(f"profiles/{profile}/check/", {"model": "SmolLM2-135M", "max_context": 8})
    assert answer.status_code == 200


def test_only_whose_run_it_is_cancels_it(program: Program) -> None:
    foreign, asked, owned = make_run(), make_run(submitted_by=program.user), make_run()
    foreign.profile.owner = make_user()
    foreign.profile.save()
    owned.profile.owner = program.user
    owned.profile.save()
    assert program.post(f"runs/{foreign.pk}/cancel/").json()["error"]["code"] == "role_forbids"
    assert program.post(f"runs/{asked.pk}/cancel/").status_code == 200
    assert program.post(f"runs/{owned.pk}/cancel/").status_code == 200
    admin = Program(make_user(role=Role.ADMIN))
    assert admin.post(f"runs/{foreign.pk}/cancel/").status_code == 200


def test_only_its_sharer_or_an_administrator_revokes_a_share(program: Program, reader: Program, answered: int) -> None:
    share, _ = share_make(run=Run.objects.get(pk=answered), user=make_user(), title="x")
    assert reader.delete(f"shares/{share.pk}/").status_code == 403
    assert program.delete(f"shares/{share.pk}/").status_code == 403
    assert Program(make_user(role=Role.ADMIN)).delete(f"shares/{share.pk}/").status_code == 204
    assert Share.objects.get().revoked_at is not None


def test_a_role_that_is_taken_away_takes_it_from_the_token_too(program: Program) -> None:
    profile = make_profile()
    assert program.post(f"profiles/{profile.pk}/runs/").status_code == 201
    program.user.membership.role = Role.VIEWER  # type: ignore[attr-defined]
    program.user.membership.save()  # type: ignore[attr-defined]
    assert program.post(f"profiles/{profile.pk}/runs/").status_code == 403


def test_tokens_work_on_the_interface_alone(program: Program) -> None:
    assert program.client.get("/profiles/").status_code == 302
    assert program.client.get("/tokens/").status_code == 302
