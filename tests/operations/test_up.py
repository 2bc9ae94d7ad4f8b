"""The portal from one command: its address, its end, its refusals."""

import re
import signal
import socket
import urllib.request
from pathlib import Path

import pytest

from tests.operations.portal_process import PortalProcess, free_port, wait_until


def get(address: str) -> int:
    with urllib.request.urlopen(address, timeout=10) as answer:  # noqa: S310  (the portal's own address)
        return int(answer.status)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_its_address_serves_the_page_and_stops_whole(tmp_path: Path, number: signal.Signals) -> None:
    with PortalProcess(tmp_path) as portal:
        address = portal.address()
        assert re.fullmatch(rf"http://127\.0\.0\.1:{portal.port}/setup/[\w-]+/", address)
        assert get(address) == 200
        assert len(portal.left()) >= 6
        portal.stop(number)
        assert portal.process.returncode == 0
        assert portal.left() == {}
        assert "Stopped." in portal.words()


def test_a_killed_portal_leaves_no_process(tmp_path: Path) -> None:
    with PortalProcess(tmp_path) as portal:
        portal.address()
        wait_until(lambda: any("jobs.measuring" in command for command in portal.tree().values()))
        before = portal.tree()
        portal.process.kill()
        portal.process.wait()
        wait_until(lambda: portal.left() == {} and not any(Path(f"/proc/{pid}").exists() for pid in before))


def test_a_second_portal_over_the_same_folder_is_refused(tmp_path: Path) -> None:
    with PortalProcess(tmp_path) as first:
        first.address()
        with PortalProcess(tmp_path) as second:
            words = second.words()
            assert second.process.returncode == 2
        assert f"A portal already runs over {tmp_path} (process {first.process.pid}" in words
        assert "Traceback" not in words
        assert get(f"http://127.0.0.1:{first.port}/healthz") == 200


def test_a_taken_port_is_named_with_its_holder_and_another(tmp_path: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", free_port()))
        holder.listen()
        port = holder.getsockname()[1]
        with PortalProcess(tmp_path, port=port) as portal:
            words = portal.words()
            assert portal.process.returncode == 2
    assert f"Port {port} on 127.0.0.1 is taken by" in words
    assert re.search(r"PORT=\d+ make run", words)
    assert len(words.splitlines()) == 1


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"PORT": "eighty"}, "PORT=eighty is not a whole number."),
        ({"PORT": "70000"}, "70000 is not a port."),
        ({"DEVICES": "cpu,tpu"}, "DEVICES=tpu is not a device."),
        ({"DATABASE_URL": "nonsense"}, "DATABASE_URL is not the address of a database."),
        ({"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}, "The database cannot be reached"),
        ({"REDIS_URL": "redis://127.0.0.1:1/0"}, "The Redis or Valkey that carries the wake-ups cannot be reached"),
        ({"REDIS_URL": "nonsense"}, "REDIS_URL"),
        ({"HOST": "no.such.host.invalid"}, "is no address of this machine"),
        ({"DATA": "/proc/nowhere"}, "The data folder /proc/nowhere cannot be used"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_sentence(tmp_path: Path, setting: dict[str, str], sentence: str) -> None:
    with PortalProcess(tmp_path, **setting) as portal:
        words = portal.words()
        assert portal.process.returncode == 2
    assert sentence in words
    assert len(words.splitlines()) == 1
