"""The image and the composition: their rules, and every command run as a container would run it."""

import re
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from kvportal.supervisor.broker import server_binary
from tests.operations.portal_process import ROOT, PortalProcess, free_port, wait_until
from tests.postgres import postgres_url

DOCKERFILE = (ROOT / "Dockerfile").read_text()
INSTRUCTIONS = [line.split(maxsplit=1) for line in DOCKERFILE.splitlines() if re.match(r"[A-Z]+ ", line)]
OURS = {"web", "worker", "worker-cpu", "inspect", "sweep"}


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"])


def values(name: str) -> list[str]:
    return [rest for instruction, rest in INSTRUCTIONS if instruction == name]


def test_the_composition_has_every_part(services: dict[str, Any]) -> None:
    assert set(services) == OURS | {"postgres", "valkey"}


def test_every_service_comes_back_and_says_how_it_is(services: dict[str, Any]) -> None:
    for name, service in services.items():
        assert service["restart"] == "unless-stopped", name
        assert name == "sweep" or "test" in service["healthcheck"], name


def test_no_secret_has_a_default(services: dict[str, Any]) -> None:
    assert re.match(r"\$\{SECRET_KEY:\?.+\}", services["web"]["environment"]["SECRET_KEY"])
    assert re.search(r":\$\{POSTGRES_PASSWORD:\?.+\}@", services["web"]["environment"]["DATABASE_URL"])
    assert re.match(r"\$\{POSTGRES_PASSWORD:\?.+\}", services["postgres"]["environment"]["POSTGRES_PASSWORD"])


def test_the_web_server_waits_for_the_database_and_the_rest_for_the_web_server(services: dict[str, Any]) -> None:
    assert services["web"]["depends_on"] == {name: {"condition": "service_healthy"} for name in ("postgres", "valkey")}
    for name in OURS - {"web"}:
        assert services[name]["depends_on"] == {"web": {"condition": "service_healthy"}}, name


def test_the_gpu_worker_asks_for_gpus_and_the_cpu_worker_for_a_profile(services: dict[str, Any]) -> None:
    (device,) = services["worker"]["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}
    assert services["worker-cpu"]["profiles"] == ["cpu"]
    assert services["worker-cpu"]["environment"]["DEVICES"] == "cpu"
    assert set(services["worker-cpu"]["environment"]) > set(services["worker"]["environment"])


def test_a_container_stops_before_it_is_killed(services: dict[str, Any]) -> None:
    for name in OURS:
        assert int(services[name]["stop_grace_period"].removesuffix("s")) > 6, name


def test_the_image_starts_from_a_pinned_python_and_runs_as_nobody_special() -> None:
    assert values("FROM") == ["python:3.11-slim"]
    assert values("USER") == ["10001"]
    assert values("ENTRYPOINT") == ['["python", "manage.py"]']
    assert DOCKERFILE.index("USER 10001") > DOCKERFILE.rindex("RUN ")


def test_the_image_installs_torch_on_a_layer_of_its_own_and_names_no_index() -> None:
    installs = [line for line in values("RUN") if "pip install" in line]
    assert "requirements/torch.txt" in installs[0]
    assert all("-c requirements/torch.txt" in line for line in installs[1:])
    assert "://" not in DOCKERFILE


def test_the_image_holds_all_that_is_copied_and_no_secret() -> None:
    for copied in values("COPY"):
        for source in copied.split()[:-1]:
            assert (ROOT / source).exists(), source
    assert not re.search(r"ENV .*(SECRET|PASSWORD|TOKEN)", DOCKERFILE)
    assert ".git" in (ROOT / ".dockerignore").read_text().splitlines()


@contextmanager
def valkey(command: list[str]) -> Iterator[str]:
    """The composition's own command, on a port of its own."""
    port = free_port()
    process = subprocess.Popen(
        [server_binary(), *command[1:], "--port", str(port), "--bind", "127.0.0.1"], stdout=subprocess.DEVNULL
    )
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait()


def options(service: dict[str, Any]) -> tuple[str, ...]:
    """What follows the image's `manage.py up`; the address is this machine's, not a container's."""
    up, *rest = service["command"]
    assert up == "up"
    return tuple("127.0.0.1" if word == "0.0.0.0" else word for word in rest)


def test_the_parts_make_a_portal_over_postgres_and_valkey(services: dict[str, Any], tmp_path: Path) -> None:
    with ExitStack() as stack:
        shared = {
            "SECRET_KEY": "x" * 50,
            "DATABASE_URL": postgres_url(),
            "REDIS_URL": stack.enter_context(valkey(services["valkey"]["command"])),
            "MODELS_DIR": str(tmp_path),
        }
        assert set(shared) <= set(services["web"]["environment"])
        web = stack.enter_context(PortalProcess(tmp_path / "web", options=options(services["web"]), **shared))
        address = web.address()
        parts = [
            stack.enter_context(PortalProcess(tmp_path / name, options=options(services[name]), **shared))
            for name in ("worker-cpu", "inspect", "sweep")
        ]
        for part in parts:
            part.ready()
        assert "/setup/" in address
        wait_until(lambda: status(f"http://127.0.0.1:{web.port}/readyz") == 200)
        for part in [*parts, web]:
            part.stop(signal.SIGTERM)
            assert part.process.returncode == 0, part.words()
            assert part.left() == {}


def status(address: str) -> int:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:  # noqa: S310  (the portal's own address)
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
