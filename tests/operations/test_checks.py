"""The settings of a deployment are checked, and a good one is clean."""

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.checks import CheckMessage

from kvportal import checks
from tests.operations.portal_process import ROOT

PRODUCTION = {
    "HTTPS": "true",
    "HOST": "0.0.0.0",
    "ALLOWED_HOSTS": "kv.example.org",
    "PUBLIC_URL": "https://kv.example.org/",
    "EMAIL_URL": "smtp+tls://kv:p%40ss@mail.example.org:587",
    "WEBHOOK_URL": "https://hooks.example.org/services/T0/B0/x",
    "CSRF_TRUSTED_ORIGINS": "https://kv.example.org",
    "DATABASE_URL": "postgres://kvportal:secret@db.example.org:5432/kvportal",
    "REDIS_URL": "redis://valkey.example.org:6379/0",
}


def test_a_production_environment_passes_the_deployment_check(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "DATA": str(tmp_path), "SECRET_KEY": secrets.token_urlsafe(50), **PRODUCTION},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


def ids(found: list[CheckMessage]) -> list[str]:
    for message in found:
        assert message.hint
    return [str(message.id) for message in found]


@pytest.mark.parametrize("url", ["http://host:1/", "redis://", "unix://", "localhost:6379"])
def test_a_malformed_redis_url_is_an_error(settings, url: str) -> None:
    settings.REDIS_URL = url
    assert ids(checks.redis_url()) == ["kvportal.E001"]


@pytest.mark.parametrize("url", ["", "redis://host:6379/0", "rediss://host:6379/0", "unix:///run/valkey.sock?db=0"])
def test_a_redis_url_of_each_kind_is_accepted(settings, url: str) -> None:
    settings.REDIS_URL = url
    assert checks.redis_url() == []


def test_a_data_folder_that_cannot_be_written_is_an_error(settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    assert checks.data_folder() == []
    settings.DATA_DIR = Path("/proc/nowhere")
    assert ids(checks.data_folder()) == ["kvportal.E002"]


@pytest.mark.parametrize(
    ("named", "wrong"), [(["cpu", "cuda:0"], 0), (["gpu"], 1), (["cuda"], 1), (["cuda:0", "x"], 1)]
)
def test_a_device_is_cpu_or_a_numbered_gpu(settings, named: list[str], wrong: int) -> None:
    settings.DEVICES = named
    assert ids(checks.devices()) == ["kvportal.E003"] * wrong


@pytest.mark.parametrize(("https", "key", "found"), [(True, "short", 1), (True, "x" * 50, 0), (False, "short", 0)])
def test_a_short_secret_key_is_an_error_once_there_is_https(settings, https: bool, key: str, found: int) -> None:
    settings.HTTPS, settings.SECRET_KEY = https, key
    assert ids(checks.secret_key()) == ["kvportal.E004"] * found


@pytest.mark.parametrize(("name", "found"), [("prefork", 0), ("solo", 1), ("threads", 1)])
def test_a_pool_that_cannot_end_a_run_is_an_error(settings, name: str, found: int) -> None:
    settings.CELERY_WORKER_POOL = name
    assert ids(checks.pool()) == ["kvportal.E005"] * found


@pytest.mark.parametrize(
    ("host", "allowed", "found"),
    [("0.0.0.0", ["localhost"], 1), ("0.0.0.0", ["kv.example.org"], 0), ("127.0.0.1", ["localhost"], 0)],
)
def test_listening_for_others_needs_a_name_to_answer_to(settings, host: str, allowed: list[str], found: int) -> None:
    settings.HOST, settings.ALLOWED_HOSTS = host, allowed
    assert ids(checks.hosts()) == ["kvportal.W001"] * found


@pytest.mark.parametrize(
    ("host", "url", "found"),
    [
        ("0.0.0.0", "http://127.0.0.1:8000", 1),
        ("0.0.0.0", "https://kv.example.org", 0),
        ("127.0.0.1", "http://127.0.0.1:8000", 0),
    ],
)
def test_links_name_what_others_can_reach(settings, host: str, url: str, found: int) -> None:
    settings.HOST, settings.PUBLIC_URL = host, url
    assert ids(checks.public_url()) == ["kvportal.W002"] * found


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://kv.example.org:8443", 0),
        ("http://127.0.0.1:8000", 0),
        ("http://[::1]:8000", 0),
        ("https://elsewhere.example.org", 1),
    ],
)
def test_links_lead_where_the_portal_answers(settings, url: str, found: int) -> None:
    settings.ALLOWED_HOSTS, settings.PUBLIC_URL = ["kv.example.org"], url
    assert ids(checks.public_host()) == ["kvportal.W003"] * found
