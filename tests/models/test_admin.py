import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from jobs.models import Event, Profile, PromptSet, SetupLink, Workload
from jobs.services.claim import run_claim
from jobs.services.record import measurement_keep
from tests.factories import make_measurement, make_run, make_user, make_worker

pytestmark = pytest.mark.django_db
OURS = [model for model in admin.site._registry if model._meta.app_label == "jobs"]


@pytest.fixture
def row(client: Client) -> None:
    """One row of each, and a signed-in administrator."""
    client.force_login(make_user(is_staff=True, is_superuser=True))
    worker = make_worker()
    run = make_run(worker)
    run_claim(worker=worker)
    measurement_keep(run_id=run.pk, data=make_measurement().as_json())
    SetupLink.objects.create(token_sha256="f" * 64)
    PromptSet.objects.create(name="ours", sha256="0" * 64, texts=["f" * 64], count=1, file_bytes=64)
    Workload.objects.create(name="chat", prompt_tokens=8, typical_prompt_tokens=8, answer_tokens=8)
    assert Event.objects.exists()


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_every_list_and_every_row_can_be_looked_at(client: Client, row: None, model: type) -> None:
    name = f"admin:jobs_{model._meta.model_name}"
    one = model._default_manager.first()
    listed = client.get(reverse(f"{name}_changelist"))
    shown = client.get(reverse(f"{name}_change", args=[one.pk]))
    assert (listed.status_code, shown.status_code) == (200, 200)
    assert "f" * 64 not in shown.content.decode()
    assert getattr(one, "lease", None) in (None, "") or one.lease not in shown.content.decode()


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_nothing_is_made_changed_or_deleted_by_hand(client: Client, row: None, model: type) -> None:
    name = f"admin:jobs_{model._meta.model_name}"
    one = model._default_manager.first()
    assert client.get(reverse(f"{name}_add")).status_code == 403
    assert client.post(reverse(f"{name}_change", args=[one.pk]), {}).status_code == 403
    assert client.post(reverse(f"{name}_delete", args=[one.pk]), {"post": "yes"}).status_code == 403
    assert model._default_manager.filter(pk=one.pk).exists()


def test_accounts_are_looked_at_and_changed_elsewhere(client: Client, row: None) -> None:
    pk = make_user("bob").pk
    page = client.get(reverse("admin:auth_user_change", args=[pk]))
    assert page.status_code == 200 and "md5$" not in page.content.decode()
    assert client.post(reverse("admin:auth_user_change", args=[pk]), {"is_superuser": "on"}).status_code == 403
    assert client.post(reverse("admin:auth_user_delete", args=[pk]), {"post": "yes"}).status_code == 403


def test_a_webhook_s_address_is_shown_nowhere(client: Client, row: None) -> None:
    Profile.objects.update(webhook="https://hooks.example.org/se-cret")
    page = client.get(reverse("admin:jobs_profile_change", args=[Profile.objects.get().pk]))
    assert page.status_code == 200 and "se-cret" not in page.content.decode()
